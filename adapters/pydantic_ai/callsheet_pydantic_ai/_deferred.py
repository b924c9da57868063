"""External tools: calls whose answers come from outside the run, or from a capability that resolves them."""

from __future__ import annotations

from typing import Any, NoReturn

from pydantic_ai import ModelRetry
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from callsheet.adapters import ToolError, ToolRequest, parse_arguments
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._messages import raw_arguments


async def answered_externals(
    active: ActiveRun, ctx: Any, requests: DeferredToolRequests, own: type[AbstractCapability[Any]]
) -> DeferredToolResults | None:
    """Answer calls of external tools from their mocks; one without a mock stays deferred, as it would.

    Where a capability of the agent resolves deferred calls, it is the tool, and the session judges it.
    """
    answers: dict[str, Any] = {}
    for call in requests.calls:
        definition = active.externals.get(call.tool_name)
        if definition is None:
            continue
        request = ToolRequest(
            name=call.tool_name,
            args=parse_arguments(raw_arguments(call)),
            call_id=active.id_for_running(call.tool_call_id),
            agent=active.record.agent,
            raw_args=raw_arguments(call),
            schema=definition.parameters_json_schema,
        )
        mock = active.session.tools.find(request.names, request.args)
        left_alone = active.session.lets_real_run or not _is_resolved(ctx, own)
        if (mock is None and left_alone) or (mock is not None and mock.is_spy):
            continue
        with active.session.inside(active.record):
            try:
                answers[call.tool_call_id] = await active.session.answer_tool_async(request, _nobody)
            except ToolError as error:
                answers[call.tool_call_id] = ModelRetry(str(error))
    return DeferredToolResults(calls=answers) if answers else None


def _is_resolved(ctx: Any, own: type[AbstractCapability[Any]]) -> bool:
    """Say whether a capability of the agent resolves deferred calls."""
    leaves: list[Any] = []
    ctx.tool_manager.root_capability.apply(leaves.append)
    base = AbstractCapability.handle_deferred_tool_calls
    return any(
        type(leaf).handle_deferred_tool_calls is not base for leaf in leaves if not isinstance(leaf, own)
    )


async def _nobody() -> NoReturn:
    raise NotImplementedError("An external tool has no body to run.")
