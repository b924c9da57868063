import ast
import re

import pytest

from tests.packaging.projects import ADAPTERS, ROOT

TEST_COMMAND = "python -m pip install nox uv && python -m nox"


def imported_names(source):
    """Every dotted name a module's source imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def outside_names(package, source):
    """What an adapter imports of callsheet that is not public, or of another adapter."""
    for name in imported_names(source):
        top, *rest = name.split(".")
        private = top == "callsheet" and any(part.startswith("_") for part in rest)
        other = top.startswith("callsheet_") and top != package
        if private or other:
            yield name


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from callsheet import ToolCall", []),
        ("from callsheet._values import ToolCall", ["callsheet._values.ToolCall"]),
        ("from callsheet import _values", ["callsheet._values"]),
        ("def late():\n    import callsheet_b.x", ["callsheet_b.x"]),
        ("from callsheet_a._patch import install", []),
        ("from . import _patch", []),
    ],
)
def test_what_an_adapter_must_not_import_is_found(line, found):
    assert list(outside_names("callsheet_a", line)) == found


@pytest.mark.parametrize("project", ADAPTERS, ids=str)
def test_an_adapter_imports_public_core_and_no_other_adapter(project):
    found = {
        f"{path.name}: {name}"
        for path in project.package.rglob("*.py")
        for name in outside_names(project.package.name, path.read_text(encoding="utf-8"))
    }
    assert found == set()


@pytest.mark.parametrize("path", ["README.md", "CONTRIBUTING.md", ".ci/run"])
def test_everyone_is_told_the_same_test_command(path):
    assert TEST_COMMAND in (ROOT / path).read_text(encoding="utf-8").splitlines()


def test_constraints_hold_names_and_versions_only():
    files = sorted(ROOT.glob("constraints/*.txt"))
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.!+-]+", line)] == []
