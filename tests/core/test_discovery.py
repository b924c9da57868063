"""Adapters are found where they are installed, and said how to install where they are not."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, EntryPoints
from types import ModuleType

import pytest

import callsheet.adapters
from callsheet import AdapterNotInstalledError, FakeModel, MockConfigError, _discovery, wrap
from callsheet._discovery import KNOWN, KnownAdapter, adapter_names, load_known
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent, ToyTool

TOY = EntryPoint("toy", "tests.core.toy_adapter:ToyAdapter", _discovery.GROUP)


@pytest.fixture
def installed(monkeypatch):
    def install(*points):
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: EntryPoints(points))

    install()
    return install


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_missing_adapter_says_how_to_install_it(name):
    extra = KNOWN[name].extra
    with pytest.raises(
        AdapterNotInstalledError, match=rf'{name} is not installed. Run: pip install "callsheet\[{extra}\]"'
    ):
        getattr(callsheet.adapters, name)


def test_what_an_installed_adapter_lacks_is_its_own_error(monkeypatch, tmp_path):
    package = tmp_path / "half_installed_adapter.py"
    package.write_text("import a_module_nobody_has\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(KNOWN, "HalfAdapter", KnownAdapter("half_installed_adapter", "half", ("half",)))
    with pytest.raises(ModuleNotFoundError, match="a_module_nobody_has") as raised:
        load_known("HalfAdapter")
    assert not isinstance(raised.value, AdapterNotInstalledError)


def test_an_unknown_name_is_no_adapter():
    with pytest.raises(AttributeError, match="has no attribute 'NopeAdapter'"):
        _ = callsheet.adapters.NopeAdapter


def test_every_public_name_of_the_module_is_there():
    names: dict[str, object] = {}
    exec("from callsheet.adapters import *", names)
    assert set(callsheet.adapters.__all__) <= set(names)


def test_installed_adapters_are_named(installed):
    installed(TOY, EntryPoint("another", "x:Y", _discovery.GROUP))
    assert adapter_names() == ("another", "toy")


def test_wrap_finds_a_third_partys_adapter_by_its_entry_point(installed):
    installed(TOY)
    adapter = wrap(ToyAgent("Desk"), model=FakeModel(["hi"]))
    assert isinstance(adapter, ToyAdapter)
    assert adapter.sync_invoke("x").response == "hi"


def test_wrap_knows_our_adapters_by_the_objects_module(installed, monkeypatch):
    module = ModuleType("toy_package")
    module.ToyPackageAdapter = ToyAdapter
    monkeypatch.setitem(sys.modules, "toy_package", module)
    monkeypatch.setitem(KNOWN, "ToyPackageAdapter", KnownAdapter("toy_package", "toy", ("tests",)))
    assert isinstance(wrap(ToyAgent("Desk")), ToyAdapter)


def test_wrap_of_a_framework_without_its_adapter_says_how_to_install_it(installed):
    agent = type("Agent", (), {"__module__": "langgraph.graph.state"})()
    with pytest.raises(AdapterNotInstalledError, match=r"callsheet\[langgraph\]"):
        wrap(agent)


def test_wrap_of_anything_else_names_what_is_installed(installed):
    installed(TOY)
    with pytest.raises(MockConfigError, match=r"No adapter wraps builtins.object. Installed adapters: 'toy'"):
        wrap(object())


def test_wrap_of_another_object_of_a_known_framework_is_refused(installed, monkeypatch):
    module = ModuleType("toy_package")
    module.ToyPackageAdapter = ToyAdapter
    monkeypatch.setitem(sys.modules, "toy_package", module)
    monkeypatch.setitem(KNOWN, "ToyPackageAdapter", KnownAdapter("toy_package", "toy", ("somewhere",)))
    tool = type("Tool", (), {"__module__": "somewhere.tools"})()
    with pytest.raises(
        MockConfigError, match=r"No adapter wraps somewhere\.tools\.Tool.*ToyAdapter wraps a ToyAgent\."
    ):
        wrap(tool)


def test_wrap_of_a_function_offers_the_adapter_for_functions_and_does_not_guess(installed):
    with pytest.raises(MockConfigError, match=r"CallableAdapter\(it\) for a function fn\(message, tools\)"):
        wrap(lambda message, tools: "hi")


def test_wrap_of_a_class_asks_for_the_object(installed):
    with pytest.raises(MockConfigError, match="ToyTool is a class. Give the agent object itself"):
        wrap(ToyTool)
