"""A framework built in another way is refused by name before anything runs, never half supported."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, direct
from pydantic_ai.agent import Agent as AgentClass
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.run import AgentRun

from callsheet import FakeModel, MockTool, UnsupportedFrameworkError, _supported
from callsheet.adapters import PatchSet
from callsheet_pydantic_ai import PydanticAIAdapter, _framework, _patches
from tests.adapters.pydantic_ai.support import agent, hits, refund


@pytest.fixture(autouse=True)
def looked_at_anew() -> Iterator[None]:
    hits.clear()
    _framework.check_framework.cache_clear()
    yield
    _framework.check_framework.cache_clear()


def test_installed_framework_is_supported() -> None:
    _framework.check_framework()
    names = [patch.name for patch in _patches.patches()]
    assert names[:4] == ["iter", "_get_toolset", "call_tool", "_prepare_model"]


def test_older_framework_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_supported, "installed", lambda name: "1.99.0")
    message = r"2\.0\.0 or later and found 1\.99\.0: pydantic-ai-slim is older"
    with pytest.raises(UnsupportedFrameworkError, match=message):
        list(_patches.patches())


GONE: dict[str, tuple[Any, str]] = {
    "_prepare_model is not there": (direct, "_prepare_model"),
    r"Agent\._get_toolset is not there": (Agent, "_get_toolset"),
    r"AgentRun\.ctx is not there": (AgentRun, "ctx"),
    **{
        rf"AbstractCapability\.{hook} is not there": (AbstractCapability, hook)
        for hook in (
            "get_wrapper_toolset",
            "before_model_request",
            "wrap_model_request",
            "wrap_tool_execute",
            "wrap_output_process",
            "handle_deferred_tool_calls",
        )
    },
    "GraphAgentDeps.root_capability is not there": (
        sys.modules["pydantic_ai._agent_graph"],
        "GraphAgentDeps",
    ),
    "ToolManager.root_capability is not there": (sys.modules["pydantic_ai.tool_manager"], "ToolManager"),
}


@pytest.mark.parametrize("message", GONE)
def test_missing_part_is_named(monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    monkeypatch.delattr(*GONE[message])
    with pytest.raises(UnsupportedFrameworkError, match=message):
        _framework.check_framework()


def test_part_that_only_instances_have_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    init = AgentClass.__init__

    def without(name: str) -> Callable[..., None]:
        def build(self: Any, *args: Any, **options: Any) -> None:
            init(self, *args, **options)
            delattr(self, name)

        return build

    for name, message in (
        ("_override_model", r"Agent\._override_model"),
        ("_output_toolset", r"OutputToolset\.processors"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(Agent, "__init__", without(name))
            with pytest.raises(UnsupportedFrameworkError, match=f"{message} is not there"):
                _framework.check_framework()


def test_dynamic_toolset_without_its_inside_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    dynamic = type(_dynamic())
    init = dynamic.__init__

    def build(self: Any, *args: Any, **options: Any) -> None:
        init(self, *args, **options)
        del self._toolset

    monkeypatch.setattr(dynamic, "__init__", build)
    with pytest.raises(UnsupportedFrameworkError, match=r"DynamicToolset\._toolset is not there"):
        _framework.check_framework()


def _dynamic() -> Any:
    clerk = agent()
    clerk.toolset(lambda _: None)
    return clerk.toolsets[-1]


def test_tools_put_together_without_capabilities_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Agent, "_get_toolset", lambda self: None)
    with pytest.raises(UnsupportedFrameworkError, match="_get_toolset takes no run_capability"):
        _framework.check_framework()


def test_run_that_puts_its_tools_together_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a check at the door can not see is seen when the run begins."""
    original = inspect.unwrap(Agent._get_toolset)

    def get_toolset(self: Any, output_toolset: Any = None, run_capability: Any = None, **options: Any) -> Any:
        return original(self, output_toolset, run_capability=run_capability, **options)

    clerk = agent(tools=[refund], output_type=[str, DeferredToolRequests])
    given = PydanticAIAdapter(clerk, tools=[MockTool("refund")], model=FakeModel(["done"]), strict=False)
    session = given.session()
    with session:
        # As if the framework called something else.
        monkeypatch.setattr(Agent, "_get_toolset", get_toolset)
        with pytest.raises(UnsupportedFrameworkError, match="puts its tools together in another way"):
            asyncio.run(clerk.run("x"))
    assert not hits


def test_module_that_moved_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai._agent_graph", ModuleType("pydantic_ai._agent_graph"))
    with pytest.raises(UnsupportedFrameworkError, match="GraphAgentDeps"):
        _framework.check_framework()


def test_refusal_leaves_the_framework_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    before = vars(Agent)["iter"]
    monkeypatch.setattr(_supported, "installed", lambda name: "1.99.0")
    holder = agent()
    with pytest.raises(UnsupportedFrameworkError):
        PatchSet(_patches.patches).hold(holder)
    assert vars(Agent)["iter"] is before
