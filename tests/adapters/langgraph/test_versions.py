"""Frameworks the adapter does not know are refused before anything is replaced."""

import gc

import pytest
from langchain_core.tools import BaseTool
from langgraph.pregel import Pregel, _runner

from callsheet import UnsupportedFrameworkError, _supported
from callsheet.adapters import PatchSet
from callsheet_langgraph import _patches


class Holder:
    pass


@pytest.fixture(autouse=True)
def nothing_replaced():
    gc.collect()


@pytest.mark.parametrize("old", ["langgraph", "langchain-core"])
def test_an_older_framework_is_refused(monkeypatch, old):
    monkeypatch.setattr(_supported, "installed", lambda name: "0.6.9" if name == old else "1.4.0")
    with pytest.raises(UnsupportedFrameworkError, match=f"or later and found .*: {old} is older than that"):
        PatchSet(_patches.patches).hold(Holder())


@pytest.mark.parametrize(
    ("owner", "name"),
    [(BaseTool, "arun"), (Pregel, "astream"), (_runner, "run_with_retry")],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_a_missing_part_is_named_and_nothing_stays_replaced(monkeypatch, owner, name):
    monkeypatch.delattr(owner, name)
    before = vars(BaseTool)["run"], vars(Pregel)["invoke"]
    with pytest.raises(UnsupportedFrameworkError, match=rf"{owner.__name__}\.{name} is not there"):
        PatchSet(_patches.patches).hold(Holder())
    assert (vars(BaseTool)["run"], vars(Pregel)["invoke"]) == before
