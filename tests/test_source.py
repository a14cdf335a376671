"""What must hold for the source as a whole."""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import latentry as lt

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__"}


@cache
def nodes(path):
    """All nodes of the syntax tree of a file."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def calls(path):
    for node in nodes(path):
        if isinstance(node, ast.Call):
            yield node, (node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", ""))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_can_make_us_run_code(path):
    """No pickle, no eval, no import by a name that was read from somewhere."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & UNSAFE_MODULES
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in UNSAFE_MODULES
    for node, name in calls(path):
        if isinstance(node.func, ast.Name):
            assert name not in UNSAFE_CALLS, f"{path.name}:{node.lineno} calls {name}"
        if name == "import_module":  # rooms of our own, loaded on first use, and nothing else
            head = node.args[0].values[0].value if isinstance(node.args[0], ast.JoinedStr) else ""
            assert head in ("latentry.", "latentry.cli."), f"{path.name}:{node.lineno}"
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


ROOMS = sorted(path.parent.name for path in (ROOT / "src" / "latentry").glob("*/__init__.py"))


@cache
def door(room):
    """The names that a room shows to the others."""
    tree = ast.parse((ROOT / "src" / "latentry" / room / "__init__.py").read_text())
    (names,) = (n.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__")
    return set(ast.literal_eval(names))


def imports(path):
    """Every import of a file: the module, and the name taken from it (None for a whole module)."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_are_entered_by_their_doors(path):
    """No file imports an inner module of another room, or a name that the room does not show."""
    own = path.relative_to(ROOT / "src" / "latentry").parts[0]
    for module, name in imports(path):
        parts = module.split(".")
        if parts[0] != "latentry" or len(parts) == 1 or parts[1] == own or parts[1] not in ROOMS:
            continue
        assert len(parts) == 2, f"{path.name}: import from latentry.{parts[1]}, not from {module}"
        assert name is None or name in door(parts[1]), f"{path.name}: latentry.{parts[1]} does not export {name}"


@pytest.mark.parametrize("room", ROOMS)
def test_every_door_shows_what_it_names(room):
    shown = import_module(f"latentry.{room}")
    assert all(hasattr(shown, name) for name in door(room))


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_test_changes_where_modules_are_looked_for(path):
    changed = [n for n in nodes(path) if isinstance(n, ast.Attribute) and n.attr == "path"]
    assert not [n for n in changed if isinstance(n.value, ast.Name) and n.value.id == "sys"]


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_test_imports_a_private_name(path):
    """What is worth a test of its own deserves a name; the rest is tested through what calls it."""
    private = [
        (module, name)
        for module, name in imports(path)
        if module.startswith("latentry") and (name or "").startswith("_")
    ]
    assert not private
