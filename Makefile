# Each target makes .venv when it is missing; Python 3.11+, make, git and a C compiler are all it needs.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
OUT ?= latentry-demo

.PHONY: demo test test-long test-bounds lint lint-ruff lint-format lint-types lint-imports bench docs clean

demo: $(READY)
	$(BIN)/latentry demo --out $(OUT)

# Compiled sources are kept, also where the environment says otherwise: each worker and each process that a test starts would
# compile all of them again.
test test-long: export PYTHONDONTWRITEBYTECODE :=
test: $(READY)
	@$(BIN)/python docs/browser.py
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not long" $(ARGS)

# What trains models at length, which takes as long as all the rest. Pages and examples of models are among it.
test-long: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m long $(ARGS)

# With the lowest and the newest dependencies that pyproject.toml allows; ONLY=lowest or ONLY=newest for one of them.
test-bounds:
	$(PYTHON) tools/dependency_bounds.py $(or $(ONLY),both) $(ARGS)

lint: lint-ruff lint-format lint-types lint-imports

lint-ruff: $(READY)
	$(BIN)/ruff check src tests benchmarks tools

lint-format: $(READY)
	$(BIN)/ruff format --check src tests benchmarks docs tools

lint-types: $(READY)
	$(BIN)/mypy

lint-imports: $(READY)
	$(BIN)/lint-imports

bench: $(READY)
	for script in $(or $(ONLY),$(wildcard benchmarks/*.py)); do $(BIN)/python $$script || exit 1; done

docs: $(READY)
	$(BIN)/python docs/pictures.py

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,lint]"
	touch $(READY)

clean:
	rm -rf .venv .venv-lowest .venv-newest latentry-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
