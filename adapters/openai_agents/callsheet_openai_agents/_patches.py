"""What of the SDK is replaced while a session is alive, and whether the SDK is one we know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, wraps
from importlib import import_module
from typing import Any

import agents
from agents import FunctionTool, ModelSettings, run, tool
from agents.agent import AgentBase
from agents.mcp import server
from agents.run import AgentRunner
from agents.tracing import processors

from callsheet.adapters import Patch, PatchSet, SupportedFramework, active_scope
from callsheet_openai_agents._computers import computer_patches
from callsheet_openai_agents._guardrails import guardrail_patches
from callsheet_openai_agents._local_tools import local_tool_patches
from callsheet_openai_agents._mcp import declared_tools, unstarted
from callsheet_openai_agents._models import chosen_model, noted_settings
from callsheet_openai_agents._offered import noted_tools
from callsheet_openai_agents._runs import recorded_run, recorded_run_streamed, recorded_streaming
from callsheet_openai_agents._slots import slot_patch
from callsheet_openai_agents._tools import Invoker

FRAMEWORK = SupportedFramework("callsheet-openai-agents", {"openai-agents": "0.10.4"})


def patches() -> Iterable[Patch]:
    """Give every replacement.

    Raises:
        UnsupportedFrameworkError: The installed SDK is older than the floor, or built differently.
    """
    _check_version()
    run_loop, actions, executions = (
        _module(f"run_internal.{name}") for name in ("run_loop", "tool_actions", "tool_execution")
    )
    try:
        replaced = replaced_in(run_loop, actions, executions)
        for patch in replaced:
            _check_there(patch)
    except AttributeError as error:
        raise FRAMEWORK.unsupported(str(error)) from error
    return replaced


@cache
def replaced_in(run_loop: Any, actions: Any, executions: Any) -> tuple[Patch, ...]:
    """Give every replacement; the SDK is searched once."""
    return tuple(_patches(run_loop, actions, executions))


def _patches(run_loop: Any, actions: Any, executions: Any) -> Iterator[Patch]:
    yield slot_patch(FunctionTool, "on_invoke_tool", Invoker)
    yield from local_tool_patches(actions)
    yield from computer_patches(actions, executions)
    yield from guardrail_patches()
    # Every server that has a process or a connection to start is one of these.
    yield Patch(server._MCPServerWithClientSession, "connect", unstarted)
    yield Patch(server._MCPServerWithClientSession, "list_tools", declared_tools)
    yield Patch(AgentBase, "get_all_tools", noted_tools)
    yield Patch(AgentRunner, "run", recorded_run)
    yield Patch(AgentRunner, "run_streamed", recorded_run_streamed)
    yield Patch(run, "start_streaming", recorded_streaming)
    yield Patch(run_loop, "get_model", chosen_model)
    yield Patch(ModelSettings, "resolve", noted_settings)
    for name in ("on_trace_start", "on_span_end"):
        yield Patch(processors.BatchTraceProcessor, name, _unexported)


def _check_there(patch: Patch) -> None:
    if patch.name not in vars(patch.owner) and patch.name not in getattr(
        patch.owner, "__dataclass_fields__", ()
    ):
        owner = getattr(patch.owner, "__qualname__", patch.owner.__name__)
        raise FRAMEWORK.unsupported(f"{owner}.{patch.name} is not there")


def _unexported(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace a method of the batch processor: nothing a test does is sent to the SDK's trace backend."""

    @wraps(original)
    def notice(self: Any, item: Any) -> Any:
        sends = isinstance(self._exporter, processors.BackendSpanExporter)
        return None if sends and active_scope() is not None else original(self, item)

    return notice


def _module(path: str) -> Any:
    try:
        return import_module(f"{agents.__name__}.{path}")
    except ImportError as error:
        raise FRAMEWORK.unsupported(str(error)) from error


def _check_version() -> None:
    FRAMEWORK.check_versions()
    if not hasattr(tool, "_FailureHandlingFunctionToolInvoker"):
        raise FRAMEWORK.unsupported("agents.tool has no failure handling invoker")


PATCHES = PatchSet(patches)
