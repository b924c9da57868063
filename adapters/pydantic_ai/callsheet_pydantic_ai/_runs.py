"""Runs: `Agent.iter`, which every way of running an agent goes through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import Any

from pydantic_ai.tools import DeferredToolRequests

from callsheet.adapters import Session, TraceEntry, active_scope, described
from callsheet_pydantic_ai import _mcp
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._framework import FRAMEWORK
from callsheet_pydantic_ai._messages import latest_request_parts, opening
from callsheet_pydantic_ai._models import configured, instrumented, model_name, replacement
from callsheet_pydantic_ai._session_capability import in_the_place_of
from callsheet_pydantic_ai._told import note_told

# The run that is being prepared, with its agent: its tools are about to be put together.
_preparing: ContextVar[tuple[Any, ActiveRun] | None] = ContextVar("callsheet_preparing", default=None)


def recorded_iter(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Agent.iter`."""

    @wraps(original)
    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None:
            return original(self, *args, **kwargs)
        return _recorded(original, scope.session, self, args, kwargs)

    return recorded


def judged_toolset(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Agent._get_toolset`, which a run calls once its capabilities are known."""

    @wraps(original)
    def get_toolset(self: Any, *args: Any, **kwargs: Any) -> Any:
        agent, active = _preparing.get() or (None, None)
        own = kwargs.get("run_capability")
        if active is None or own is None or agent is not self:
            return original(self, *args, **kwargs)
        active.capability = in_the_place_of(own, active)
        return original(self, *args, **{**kwargs, "run_capability": active.capability})

    return get_toolset


@asynccontextmanager
async def _recorded(
    original: Callable[..., Any], session: Session, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> AsyncIterator[Any]:
    session.require_open(f"A run of agent {agent.name!r}")
    _mcp.watch(session)
    prompt = args[0] if args else kwargs.get("user_prompt")
    record = session.open_run(agent=agent.name, opening=opening(prompt, kwargs.get("message_history")))
    own_model = configured(agent, kwargs.get("model"))
    active = ActiveRun(session, record, configured_model=model_name(own_model))
    active.model = replacement(session, active, own_model)
    stand_in = instrumented(active.model, own_model)
    if own_model is None:
        # Version 2.0 wants a model beside the override.
        kwargs["model"] = stand_in
    try:
        async with AsyncExitStack() as stack:
            # Only until the run has chosen its model: code of the run sees the agent as it is.
            with nullcontext() if stand_in is None else agent.override(model=stand_in):
                run = await _begun(stack, original(agent, *args, **kwargs), agent, active)
            try:
                yield run
            finally:
                note_told(active, latest_request_parts(run.all_messages()))
        # A stream that was left early, and one whose output was taken before its end, have no result here.
        if run.result is not None:
            _note_interrupts(active, run.result.output)
            active.finish(run.result.output)
    except GeneratorExit:
        raise
    except BaseException as error:
        record.error = described(error)
        raise


async def _begun(
    stack: AsyncExitStack, entering: AbstractAsyncContextManager[Any], agent: Any, active: ActiveRun
) -> Any:
    """Begin a run of the framework's, with the session at the root of its capabilities."""
    token = _preparing.set((agent, active))
    try:
        active.graph_run = run = await stack.enter_async_context(entering)
    finally:
        _preparing.reset(token)
    if active.capability is None:
        raise FRAMEWORK.unsupported("a run puts its tools together in another way")
    deps = run.ctx.deps
    deps.root_capability = deps.tool_manager.root_capability = active.capability
    return run


def _note_interrupts(active: ActiveRun, output: Any) -> None:
    if not isinstance(output, DeferredToolRequests):
        return
    for part in [*output.calls, *output.approvals]:
        call = active.find_call(part.tool_call_id)
        if call is not None:
            call.outcome = "interrupted"
            active.record.add(TraceEntry("interrupt", call.name, agent=call.agent))
