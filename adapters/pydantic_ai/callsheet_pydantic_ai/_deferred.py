"""External tools: calls whose answers come from outside the run, or from a capability that resolves them."""

from __future__ import annotations

from typing import Any, NoReturn

from pydantic_ai import ModelRetry
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.messages import ToolReturn
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from callsheet.adapters import ToolError, ToolRequest, parse_arguments
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._messages import raw_arguments


async def answered_externals(
    active: ActiveRun, capabilities: AbstractCapability[Any], requests: DeferredToolRequests
) -> DeferredToolResults | None:
    """Answer calls of external tools from their mocks; one without a mock stays deferred, as it would.

    Where a capability of the agent resolves deferred calls, it is the tool, and the session judges it.
    """
    answers: dict[str, Any] = {}
    resolved = _resolve_calls(capabilities)
    for call in requests.calls:
        definition = active.externals.get(call.tool_name)
        if definition is None:
            continue
        request = ToolRequest(
            name=call.tool_name,
            args=parse_arguments(raw_arguments(call)),
            call_id=active.id_for_running(call.tool_call_id),
            agent=active.record.agent,
            run=active.record,
            raw_args=raw_arguments(call),
            schema=definition.parameters_json_schema,
            runs_unmocked=not resolved,
            control_flow=(CallDeferred,),
        )
        try:
            answers[call.tool_call_id] = await active.session.answer_tool_async(request, _stay_deferred)
        except CallDeferred:
            continue
        except ModelRetry as retry:
            answers[call.tool_call_id] = retry
        except ToolError as error:
            answers[call.tool_call_id] = ModelRetry(str(error))
    return DeferredToolResults(calls=answers) if answers else None


def note_resolved(active: ActiveRun, resolved: DeferredToolResults) -> None:
    """Note the answers that a capability of the agent gave."""
    for call_id, answer in resolved.calls.items():
        record = active.find_call(call_id)
        if record is None:
            continue
        record.attempts = max(record.attempts, 1)
        # Versions before 3 also have a message part that asks for a retry.
        if isinstance(answer, ModelRetry) or getattr(answer, "part_kind", None) == "retry-prompt":
            record.outcome = "retried"
        else:
            record.outcome = "success"
            record.response = answer.return_value if isinstance(answer, ToolReturn) else answer


def _resolve_calls(capabilities: AbstractCapability[Any]) -> bool:
    """Say whether a capability of the agent resolves deferred calls."""
    leaves: list[Any] = []
    capabilities.apply(leaves.append)
    base = AbstractCapability.handle_deferred_tool_calls
    return any(type(leaf).handle_deferred_tool_calls is not base for leaf in leaves)


async def _stay_deferred() -> NoReturn:
    raise CallDeferred
