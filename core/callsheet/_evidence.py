"""What a session gathers beside its recording, and the result both make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from callsheet._recording import Recording, ReplyRecord
from callsheet._requests import ModelRequest
from callsheet._result import AgentResult
from callsheet._values import ToolCall, TraceEntry, Usage


class Evidence:
    """A recording, what its model requests carried, and the final answer.

    Args:
        recording: The recording.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._model_used: str | None = None
        self._headers: dict[str, str] = {}
        self.response: str | None = None
        self.output: Any = None
        self.native: Any = None

    def note_request(self, request: ModelRequest) -> None:
        """Note the model's name, the first one counting, and the headers."""
        if self._model_used is None:
            self._model_used = request.model
        self._headers.update(request.headers)

    def forget_answer(self) -> None:
        """Forget the final answer; a run begins, which may end without one."""
        self.response, self.output, self.native = None, None, None

    def result(self, metadata: Mapping[str, Any]) -> AgentResult:
        """Give what happened so far."""
        trace = self._recording.trace()
        replies = list(self._recording.replies())
        latest = self._recording.latest_run
        return AgentResult(
            response=_last_words(trace) if self.response is None else self.response,
            tool_calls=tool_calls(trace),
            model_used=self._model_used,
            headers=dict(self._headers),
            trace=trace,
            metadata={**metadata, "turns": len(replies), "usage_by_agent": _usage_by_agent(replies)},
            output=self.output,
            native=self.native,
            usage=sum((reply.usage for reply in replies), Usage()),
            error=latest.error if latest is not None else None,
        )


def _usage_by_agent(replies: Iterable[ReplyRecord]) -> dict[str | None, dict[str, int]]:
    spent: dict[str | None, Usage] = {}
    for reply in replies:
        spent[reply.agent] = spent.get(reply.agent, Usage()) + reply.usage
    return {agent: usage.to_dict() for agent, usage in spent.items()}


def tool_calls(trace: Iterable[TraceEntry]) -> list[ToolCall]:
    """Give the calls of a trace; a structured answer that a framework writes as a call is none."""
    return [
        entry.tool_call for entry in trace if entry.tool_call is not None and entry.tool_call.kind != "output"
    ]


def _last_words(trace: Iterable[TraceEntry]) -> str:
    top = [entry for entry in trace if entry.parent_id is None]
    said = [entry.content for entry in top if entry.role == "assistant" and entry.run == top[-1].run]
    return str(said[-1]) if said else ""
