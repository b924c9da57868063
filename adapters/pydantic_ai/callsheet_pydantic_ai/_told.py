"""What the model was told back about its calls, which is the ground truth about calls nobody ran."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic_ai.messages import ToolReturnPart

from callsheet.adapters import CallRecord
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._messages import told_text

_OUTCOMES = {
    "validation_error": "invalid",
    "unknown_tool": "unknown",
    "unavailable_tool": "denied",
    "model_retry": "retried",
}


def note_told(active: ActiveRun, parts: Iterable[Any]) -> None:
    """Note what each part of a request says about the call it answers."""
    for part in parts:
        if getattr(part, "tool_name", None) is None:
            continue
        record = active.find_call(getattr(part, "tool_call_id", None))
        if record is not None:
            record.seen_by_model = told_text(part)
            _judge(record, part)


def _judge(record: CallRecord, part: Any) -> None:
    retry = getattr(part, "retry", None)
    if retry is not None:
        record.metadata["retry_cause"] = retry.cause
    verdict = _verdict(part)
    if verdict == "success":
        # Said of a call the framework skipped as well; whoever ran a call noted so.
        return
    if not record.attempts or record.outcome == "success":
        record.outcome = verdict
        record.error = record.error or record.seen_by_model


def _verdict(part: Any) -> Any:
    if isinstance(part, ToolReturnPart):
        retry = getattr(part, "retry", None)
        if retry is not None:
            return _OUTCOMES.get(retry.cause, "retried")
        # Until it had causes, a retried call was told by a part of its own.
        return getattr(part, "outcome", "success")
    if not isinstance(part.content, str):
        return "invalid"
    return "unknown" if part.content.startswith("Unknown tool name") else "retried"
