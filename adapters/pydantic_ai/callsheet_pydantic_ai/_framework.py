"""Whether the installed Pydantic AI is one this adapter knows."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from pydantic_ai import Agent, direct
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.run import AgentRun
from pydantic_ai.toolsets import FunctionToolset

from callsheet.adapters import SupportedFramework

FRAMEWORK = SupportedFramework("callsheet-pydantic-ai", {"pydantic-ai-slim": "2.0.0"})
_HOOKS = (
    "get_wrapper_toolset",
    "before_model_request",
    "wrap_model_request",
    "wrap_tool_execute",
    "wrap_output_process",
    "handle_deferred_tool_calls",
)
_RUN_FIELDS = {
    "pydantic_ai._agent_graph.GraphAgentDeps": ("root_capability", "tool_manager"),
    "pydantic_ai.tool_manager.ToolManager": ("root_capability", "toolset"),
}


@lru_cache
def check_framework() -> None:
    """Look for everything of the framework's that it does not promise and the adapter builds on.

    Only once: it takes long, and sessions are opened often.

    Raises:
        UnsupportedFrameworkError: The framework is older than the floor, or built differently.
    """
    FRAMEWORK.check_versions()
    for missing in _missing():
        raise FRAMEWORK.unsupported(missing)


def _missing() -> Iterator[str]:
    patched = (
        (Agent, "iter"),
        (Agent, "_get_toolset"),
        (FunctionToolset, "call_tool"),
        (direct, "_prepare_model"),
    )
    for owner, name in patched:
        if not callable(vars(owner).get(name)):
            yield f"{getattr(owner, '__qualname__', owner.__name__)}.{name} is not there"
    for name in _HOOKS:
        if not callable(vars(AbstractCapability).get(name)):
            yield f"AbstractCapability.{name} is not there"
    if "run_capability" not in inspect.signature(Agent._get_toolset).parameters:
        yield "Agent._get_toolset takes no run_capability"
    if not isinstance(vars(AgentRun).get("ctx"), property):
        yield "AgentRun.ctx is not there"
    for path, names in _RUN_FIELDS.items():
        module, _, name = path.rpartition(".")
        known = _fields(module, name)
        yield from (f"{name}.{field} is not there" for field in names if field not in known)
    yield from (f"{attribute} is not there" for attribute, there in _probed() if not there)


def _fields(module: str, name: str) -> set[str]:
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError):
        return set()
    return {field.name for field in fields(found)} if is_dataclass(found) else set()


def _probed() -> Iterator[tuple[str, bool]]:
    """Look at what only instances have."""
    agent: Any = Agent(output_type=int)
    yield "Agent._override_model", hasattr(agent, "_override_model")
    outputs = getattr(agent, "_output_toolset", None)
    yield "OutputToolset.processors", bool(getattr(outputs, "processors", None))
    dynamic = agent.toolset(lambda _: None) and agent.toolsets[-1]
    yield "DynamicToolset._toolset", hasattr(dynamic, "_toolset")
