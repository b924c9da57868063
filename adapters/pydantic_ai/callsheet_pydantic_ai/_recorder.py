"""The outermost capability of a run: records model replies, outputs and calls that no tool answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import (
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    ThinkingPart,
    ToolCallPart,
)

from callsheet.adapters import CallRecord, Usage, parse_arguments
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._deferred import answered_externals
from callsheet_pydantic_ai._messages import latest_request_parts, raw_arguments, response_text
from callsheet_pydantic_ai._told import note_told


@dataclass(init=False)
class Recorder(AbstractCapability[Any]):
    """Records one run.

    Args:
        active: The run.
    """

    # Durable agents refuse capabilities added to a run unless they say they are safe.
    _safe_at_runtime = True

    def __init__(self, active: ActiveRun) -> None:
        self.id = None
        self.description = None
        self.defer_loading = False
        self._active = active

    def get_ordering(self) -> CapabilityOrdering:
        """Stand around every other capability."""
        return CapabilityOrdering(position="outermost")

    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> ModelResponse:
        """Record what the model is told, and its reply."""
        active = self._active
        active.session.require_open(f"A model call of agent {active.record.agent!r}")
        note_told(active, latest_request_parts(ctx.messages))
        response: ModelResponse = await handler(request_context)
        outputs = {tool.name for tool in request_context.model_request_parameters.output_tools}
        active.session.recording.add_reply(
            active.record,
            agent=active.record.agent,
            content=response_text(response),
            calls=[record for part in response.parts if (record := self._call(part, response, outputs))],
            usage=Usage(1, response.usage.input_tokens, response.usage.output_tokens),
            metadata=_metadata(response),
        )
        return response

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """Note the answer of a hook that answered in the tool's place."""
        answer = await handler(args)
        record = self._active.find_call(call.tool_call_id)
        if record is not None and not record.attempts:
            record.outcome, record.response, record.attempts = "success", answer, 1
        return answer

    async def wrap_output_process(self, ctx: Any, *, output_context: Any, output: Any, handler: Any) -> Any:
        """Note the output that was accepted."""
        accepted = await handler(output)
        if not ctx.partial_output:
            self._active.finish(accepted)
            call = output_context.tool_call
            record = self._active.find_call(call.tool_call_id) if call is not None else None
            if record is not None and not record.attempts:
                record.outcome, record.attempts = "success", 1
        return accepted

    async def handle_deferred_tool_calls(self, ctx: Any, *, requests: Any) -> Any:
        """Answer calls of external tools before any capability that would resolve them."""
        return await answered_externals(self._active, ctx, requests, Recorder)

    def _call(self, part: Any, response: ModelResponse, outputs: set[str]) -> CallRecord | None:
        if isinstance(part, ToolCallPart):
            return CallRecord(
                self._active.id_for_asked(part.tool_call_id),
                part.tool_name,
                args=parse_arguments(raw_arguments(part)),
                raw_args=raw_arguments(part),
                agent=self._active.record.agent,
                kind="output" if part.tool_name in outputs else "function",
            )
        if isinstance(part, NativeToolCallPart):
            answers = [
                other.content
                for other in response.parts
                if isinstance(other, NativeToolReturnPart) and other.tool_call_id == part.tool_call_id
            ]
            return CallRecord(
                self._active.id_for_asked(part.tool_call_id),
                part.tool_name,
                args=parse_arguments(raw_arguments(part)),
                raw_args=raw_arguments(part),
                agent=self._active.record.agent,
                kind="hosted",
                outcome="success",
                response=answers[0] if answers else None,
            )
        return None


def _metadata(response: ModelResponse) -> dict[str, Any]:
    thought = "".join(part.content for part in response.parts if isinstance(part, ThinkingPart))
    said = {"thinking": thought or None, "finish_reason": response.finish_reason}
    return {key: value for key, value in said.items() if value is not None}
