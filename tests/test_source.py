"""What must hold for the source as a whole."""

import ast
import re
from pathlib import Path

import pytest

import latentry as lt

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__"}


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node, (node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", ""))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_can_make_us_run_code(path):
    """No pickle, no eval, no import by a name that was read from somewhere."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & UNSAFE_MODULES
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in UNSAFE_MODULES
    for node, name in calls(tree):
        if isinstance(node.func, ast.Name):
            assert name not in UNSAFE_CALLS, f"{path.name}:{node.lineno} calls {name}"
        if name == "import_module":  # rooms of our own, loaded on first use, and nothing else
            head = node.args[0].values[0].value if isinstance(node.args[0], ast.JoinedStr) else ""
            assert head == "latentry.", f"{path.name}:{node.lineno}"
        for keyword in node.keywords:
            if keyword.arg == "allow_pickle":
                assert keyword.value.value is False


def test_every_public_name_exists():
    for name in lt.__all__:
        assert hasattr(lt, name)


def test_the_readme_names_the_two_commands():
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text
    for target in re.findall(r"make (\w+)", text):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target
