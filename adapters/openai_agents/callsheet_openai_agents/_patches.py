"""What of the SDK is replaced while a session is alive, and whether the SDK is one we know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import agents
from agents import FunctionTool, ModelSettings, run, tool
from agents.agent import AgentBase
from agents.run import AgentRunner
from agents.tracing import processors
from agents.version import __version__

from callsheet.adapters import Patch, PatchSet, UnmockedToolError, UnsupportedFrameworkError, active_scope
from callsheet_openai_agents._inventory import handoff_name, is_unsupported, names_of
from callsheet_openai_agents._models import chosen_model, noted_settings
from callsheet_openai_agents._runs import recorded_run, recorded_run_streamed, recorded_streaming
from callsheet_openai_agents._tools import ToolSlot

FLOOR = (0, 10, 4)


def patches() -> Iterator[Patch]:
    """Give every replacement.

    Raises:
        UnsupportedFrameworkError: The installed SDK is older than the floor, or built differently.
    """
    _check_version()
    run_loop = _found(agents, "run_internal.run_loop")
    yield Patch(FunctionTool, "on_invoke_tool", lambda _: ToolSlot())
    yield _patch(AgentBase, "get_all_tools", _noted_tools)
    yield _patch(AgentRunner, "run", recorded_run)
    yield _patch(AgentRunner, "run_streamed", recorded_run_streamed)
    yield _patch(run, "start_streaming", recorded_streaming)
    yield _patch(run_loop, "get_model", chosen_model)
    yield _patch(ModelSettings, "resolve", noted_settings)
    for name in ("on_trace_start", "on_span_end"):
        yield _patch(processors.BatchTraceProcessor, name, _unexported)


def _noted_tools(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `AgentBase.get_all_tools`: notes what tools an agent turned out to have."""

    @wraps(original)
    async def get_all_tools(self: Any, run_context: Any) -> Any:
        tools = await original(self, run_context)
        scope = active_scope()
        if scope is not None:
            names = {name for offered in tools for name in names_of(offered)}
            scope.session.note_tools(self.name, names)
            if scope.run is not None:
                scope.run.offered = frozenset(names.union(map(handoff_name, self.handoffs)))
            for offered in tools:
                if is_unsupported(offered):
                    _refuse(scope.session, offered, self.name)
        return tools

    return get_all_tools


def _refuse(session: Any, offered: Any, agent: str) -> None:
    violation = UnmockedToolError(
        f"Agent {agent!r} has a {type(offered).__name__}, which runs on this machine and has no mock yet. "
        "Leave it out of the agent under test."
    )
    session.poison(violation)
    raise violation


def _unexported(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace a method of the batch processor: nothing a test does is sent to the SDK's trace backend."""

    @wraps(original)
    def notice(self: Any, item: Any) -> Any:
        sends = isinstance(self._exporter, processors.BackendSpanExporter)
        return None if sends and active_scope() is not None else original(self, item)

    return notice


def _patch(owner: Any, name: str, replace: Callable[[Any], Any]) -> Patch:
    if not callable(vars(owner).get(name)):
        raise _unsupported(f"{getattr(owner, '__qualname__', owner.__name__)}.{name} is not there")
    return Patch(owner, name, replace)


def _found(module: Any, path: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"{module.__name__}.{path}")
    except ImportError as error:
        raise _unsupported(str(error)) from error


def _check_version() -> None:
    numbers = tuple(int(part) for part in __version__.split(".")[:3] if part.isdigit())
    if numbers < FLOOR:
        raise _unsupported("it is older than that")
    if not hasattr(tool, "_FailureHandlingFunctionToolInvoker"):
        raise _unsupported("agents.tool has no failure handling invoker")


def _unsupported(why: str) -> UnsupportedFrameworkError:
    floor = ".".join(map(str, FLOOR))
    return UnsupportedFrameworkError(
        f"callsheet-openai-agents supports openai-agents {floor} or later and found {__version__}: {why}. "
        f'Run: pip install -U "openai-agents>={floor}" callsheet-openai-agents'
    )


PATCHES = PatchSet(patches)
