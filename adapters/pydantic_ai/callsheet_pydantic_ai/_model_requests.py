"""Model requests: settled before they are made, and their replies on record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.settings import merge_model_settings

from callsheet.adapters import CallRecord, ModelRequest, Usage, parse_arguments
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._messages import raw_arguments, response_text


def settled(active: ActiveRun, request: Any) -> Any:
    """Give a request with the session's model and headers, and note what it offers and carries."""
    session = active.session
    if active.model is not None and request.model is not active.model:
        request = replace(request, model=active.model)
    settings = merge_model_settings(request.model.settings, request.model_settings) or {}
    headers = settings.get("extra_headers") or {}
    if session.headers:
        headers = {**headers, **session.headers}
        changed = {**(request.model_settings or {}), "extra_headers": headers}
        request = replace(request, model_settings=changed)
    parameters = request.model_request_parameters
    names = frozenset([tool.name for tool in (*parameters.function_tools, *parameters.output_tools)])
    if names != active.record.offered:
        active.record.offered = names
        session.note_tools(active.record.agent, names)
    model = active.configured_model or request.model.model_name
    session.note_request(ModelRequest(agent=active.record.agent, model=model, headers=headers))
    return request


def add_reply(active: ActiveRun, response: ModelResponse, parameters: Any) -> None:
    """File a model reply and the calls it asks for."""
    outputs = {tool.name for tool in parameters.output_tools}
    calls = [record for part in response.parts if (record := _call(active, part, response, outputs))]
    active.session.recording.add_reply(
        active.record,
        agent=active.record.agent,
        content=response_text(response),
        calls=calls,
        usage=Usage(1, response.usage.input_tokens, response.usage.output_tokens),
        metadata=_metadata(response),
    )


def _call(active: ActiveRun, part: Any, response: ModelResponse, outputs: set[str]) -> CallRecord | None:
    if not isinstance(part, (ToolCallPart, NativeToolCallPart)):
        return None
    raw = raw_arguments(part)
    record = CallRecord(
        active.id_for_asked(part.tool_call_id),
        part.tool_name,
        args=parse_arguments(raw),
        raw_args=raw,
        agent=active.record.agent,
        kind="output" if part.tool_name in outputs else "function",
    )
    if isinstance(part, NativeToolCallPart):
        answers = [
            other.content
            for other in response.parts
            if isinstance(other, NativeToolReturnPart) and other.tool_call_id == part.tool_call_id
        ]
        record.kind, record.outcome = "hosted", "success"
        record.response = answers[0] if answers else None
    return record


def _metadata(response: ModelResponse) -> dict[str, Any]:
    thought = "".join(part.content for part in response.parts if isinstance(part, ThinkingPart))
    said = {"thinking": thought or None, "finish_reason": response.finish_reason}
    return {key: value for key, value in said.items() if value is not None}
