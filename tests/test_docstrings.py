"""Docstrings of public functions: they begin with a verb, and name arguments and results."""

import ast
import re
from pathlib import Path

import pytest

import latentry
from latentry.models import MODELS

PACKAGE = Path(latentry.__file__).parent
ROOMS = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists())

# Words that open a description of a thing, not of what a function does.
NO_VERBS = {
    "The", "A", "An", "What", "Which", "How", "Its", "One", "Whether", "Where", "When", "Who", "Why", "It",
    "This", "That", "These", "Those", "Every", "Each", "All", "Any", "Both", "No", "None", "Not", "If", "Of",
    "In", "On", "At", "By", "For", "From", "To", "With", "Two", "Three", "True", "False",
}  # fmt: skip
VERBS_IN_S = {
    "Access", "Address", "Assess", "Compress", "Discuss", "Express", "Focus", "Guess", "Pass", "Press",
    "Process",
}  # fmt: skip
SILENT = ("None", "NoReturn", "Never")
# Options that several commands take; like those that are annotated in place, each has its own help.
OPTIONS = (
    "AsJson", "Categories", "Device", "DomainName", "Drop", "Engine", "Factors", "Groups", "Ids", "MaxGb", "Modality", "Quiet",
    "Require", "RolesFile", "Settings", "Time", "Workers",
)  # fmt: skip


def exported(tree):
    """Return the names in a module's `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return set(ast.literal_eval(node.value))
    return set()


def public_functions(node, prefix=""):
    """Yield the public functions and methods of a module or class, with their qualified names."""
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and not child.name.startswith("_"):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from public_functions(child, f"{prefix}{child.name}.")


def is_overload(function):
    return any(ast.unparse(decorator).split(".")[-1] == "overload" for decorator in function.decorator_list)


def begins_with_a_verb(text):
    first = text.split()[0].rstrip(",.:;") if text.split() else ""
    looks_like_a_word = first.isalpha() and first[0].isupper() and first[1:].islower()
    return looks_like_a_word and first not in NO_VERBS and (not first.endswith("s") or first in VERBS_IN_S)


def arguments(function):
    signature = function.args
    named = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs]
    return [
        a.arg for a in [*named, signature.vararg, signature.kwarg] if a is not None and a.arg not in ("self", "cls")
    ]


def is_command(function):
    """Return whether every argument is an option with help: --help describes them, and its text is the docstring."""
    annotations = [ast.unparse(a.annotation) for a in function.args.args if a.annotation is not None]
    return bool(annotations) and all(a in OPTIONS or ("typer." in a and "help=" in a) for a in annotations)


def missing_sections(function):
    text = ast.get_docstring(function) or ""
    answers = function.returns is not None and ast.unparse(function.returns) not in SILENT
    wanted = {"Args:": bool(arguments(function)) and not is_command(function), "Returns:": answers}
    lines = {line.strip() for line in text.splitlines()}
    return [name for name, needed in wanted.items() if needed and name not in lines]


def modules(room):
    for path in sorted((PACKAGE / room).rglob("*.py")):
        yield path.relative_to(PACKAGE), ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("room", ROOMS)
def test_public_functions_begin_with_a_verb(room):
    wrong = [
        f"{path}:{function.lineno} {name}: {(ast.get_docstring(function) or 'no docstring').splitlines()[0]}"
        for path, tree in modules(room)
        for name, function in public_functions(tree)
        if not is_overload(function) and not begins_with_a_verb(ast.get_docstring(function) or "")
    ]
    assert not wrong, "\n".join(["begin with a verb, such as Return, Compute or Check:", *wrong])


@pytest.mark.parametrize("room", ROOMS)
def test_exported_functions_name_arguments_and_results(room):
    wrong = [
        f"{path}:{function.lineno} {function.name}: {', '.join(missing_sections(function))}"
        for path, tree in modules(room)
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and function.name in exported(tree) and not is_overload(function)
        if missing_sections(function)
    ]
    assert not wrong, "\n".join(["sections that are missing:", *wrong])


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Return the mean.", True),
        ("Pass rows on.", True),
        ("The mean of the rows.", False),
        ("Returns the mean.", False),
        ("H(X) = −Σ p ln p.", False),
        ("K of the channel.", False),
        ("whether it is so", False),
        ("", False),
    ],
)
def test_what_counts_as_a_verb(text, right):
    assert begins_with_a_verb(text) is right


# What a caller may hand a million rows to says how it grows.
GROWING = (
    "certificate", "datasets", "discovery", "generators", "graphs", "identifiability", "information", "models", "natural", "sweeps",
)  # fmt: skip
GROWTH = re.compile(r"Cost:|O\(|grow", re.IGNORECASE)


@pytest.mark.parametrize("room", GROWING)
def test_functions_of_a_door_say_how_they_grow(room):
    names = exported(ast.parse((PACKAGE / room / "__init__.py").read_text()))
    silent = set()
    for path in (PACKAGE / room).rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name in names and not is_overload(node):
                words = ast.get_docstring(node) or ""
                silent |= set() if GROWTH.search(words) else {f"{path.name}: {node.name}"}
    assert silent == set()


@pytest.mark.parametrize("kind", [latentry.Dataset, *MODELS.values()])
def test_classes_that_hold_or_fit_rows_say_how_they_grow(kind):
    assert GROWTH.search(kind.__doc__)
