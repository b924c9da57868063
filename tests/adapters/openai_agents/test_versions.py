"""An SDK that is not what the adapter understands is refused, and nothing is left half replaced."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from agents import Agent, FunctionTool, Runner
from agents.run import AgentRunner
from agents.run_internal import tool_actions

from callsheet import FakeModel, UnsupportedFrameworkError, _supported
from callsheet_openai_agents import OpenAIAgentsAdapter, _patches


@pytest.fixture(autouse=True)
def nothing_installed() -> None:
    # Patches stay while an earlier session is alive, and the SDK is only searched when they first go in.
    gc.collect()
    _patches.replaced_in.cache_clear()
    assert not _patches.PATCHES.installed


def refused() -> Any:
    return pytest.raises(
        UnsupportedFrameworkError, match=r"supports openai-agents 0\.10\.4 or later and found"
    )


def invoke() -> None:
    OpenAIAgentsAdapter(Agent(name="Desk"), model=FakeModel(["done"])).sync_invoke("go")


def test_version_older_than_the_floor_is_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr(_supported, "installed", lambda _: "0.10.3")
    with refused():
        invoke()


@pytest.mark.parametrize("version", ["0.10.4", "0.100.0", "1.0.0rc1"])
def test_versions_from_the_floor_on_are_tried(monkeypatch: Any, version: str) -> None:
    monkeypatch.setattr(_supported, "installed", lambda _: version)
    invoke()


@pytest.mark.parametrize(
    ("owner", "name"),
    [(tool_actions, "ShellAction"), (tool_actions.ComputerAction, "_execute_action_and_capture")],
)
def test_part_that_is_not_there_is_named_and_nothing_stays_replaced(
    monkeypatch: Any, owner: Any, name: str
) -> None:
    monkeypatch.delattr(owner, name)
    run = Runner.run, AgentRunner.run, vars(FunctionTool).get("on_invoke_tool")
    with refused() as caught:
        invoke()
    assert name in str(caught.value)
    assert (Runner.run, AgentRunner.run, vars(FunctionTool).get("on_invoke_tool")) == run


def test_module_that_moved_is_named(monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "agents.run_internal.run_loop", None)
    with refused() as caught:
        invoke()
    assert "run_loop" in str(caught.value)
