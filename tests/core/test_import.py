import ast
import importlib
import json
import pickle
import pydoc
import subprocess
import sys
import typing
from importlib.resources import files
from pathlib import Path

import pytest

import callsheet

REPORT_NEW_MODULES = """
import sys, json
before = set(sys.modules)
{statements}
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def new_modules(statements):
    """What the statements import in a Python of their own."""
    source = REPORT_NEW_MODULES.format(statements=statements)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def foreign(modules):
    known = sys.stdlib_module_names | {"callsheet"}
    return [name for name in modules if name.partition(".")[0] not in known]


def test_the_import_loads_one_module_of_callsheet_and_nothing_foreign():
    modules = new_modules("import callsheet")
    assert [name for name in modules if name.startswith("callsheet")] == ["callsheet"]
    assert foreign(modules) == []


def test_every_public_name_loads_the_standard_library_only():
    modules = new_modules("import callsheet\nfor name in callsheet.__all__: getattr(callsheet, name)")
    assert foreign(modules) == []


def test_a_star_import_gives_the_public_names():
    assert foreign(new_modules("from callsheet import *\nassert AgentResult and ToolCall")) == []


def test_type_checkers_and_python_see_the_same_names():
    tree = ast.parse(files(callsheet).joinpath("__init__.py").read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.asname: node.module.removeprefix("callsheet.")
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module.startswith("callsheet.")
        for alias in node.names
    }
    assert seen == callsheet._EXPORTS
    assert list(callsheet._EXPORTS) == sorted(callsheet._EXPORTS)


@pytest.mark.parametrize("name", callsheet.__all__)
def test_a_public_name_is_its_modules_and_stays(name):
    module = importlib.import_module(f"callsheet.{callsheet._EXPORTS[name]}")
    vars(callsheet).pop(name, None)
    assert getattr(callsheet, name) is getattr(module, name)
    assert vars(callsheet)[name] is getattr(module, name)


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="module 'callsheet' has no attribute 'ToolCal'"):
        _ = callsheet.ToolCal


def test_dir_lists_the_public_names_once():
    listed = dir(callsheet)
    assert set(callsheet.__all__) <= set(listed)
    assert len(listed) == len(set(listed))


def test_the_types_are_marked_as_usable():
    assert files(callsheet).joinpath("py.typed").is_file()


@pytest.mark.parametrize(
    "path",
    sorted(Path(callsheet.__file__).parent.rglob("*.py")),
    ids=lambda path: str(Path(*path.parts[-2:])),
)
def test_no_module_is_longer_than_a_reader_can_hold(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


PUBLIC_MODULES = ["callsheet", "callsheet.match", "callsheet.order", "callsheet.testing"]
PUBLIC_CLASSES = [
    (module, name)
    for module in PUBLIC_MODULES
    for name in importlib.import_module(module).__all__
    if isinstance(getattr(importlib.import_module(module), name), type)
]


@pytest.mark.parametrize(("module", "name"), PUBLIC_CLASSES)
def test_a_public_class_says_it_is_from_where_users_import_it(module, name):
    public = getattr(importlib.import_module(module), name)
    assert (public.__module__, public.__qualname__) == (module, name)
    assert pickle.loads(pickle.dumps(public)) is public
    assert pydoc.render_doc(public).startswith("Python Library Documentation")


@pytest.mark.parametrize(("module", "name"), PUBLIC_CLASSES)
def test_the_fields_of_a_public_class_can_be_resolved(module, name):
    typing.get_type_hints(getattr(importlib.import_module(module), name))


def test_a_traceback_names_an_error_by_its_public_name():
    raising = "import callsheet\nraise callsheet.UnmockedToolError('no mock')"
    done = subprocess.run([sys.executable, "-c", raising], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "callsheet.UnmockedToolError: no mock"
