"""The replies read from one payload or stream, and the result they make."""

from __future__ import annotations

from typing import Any

from callsheet._parsing._reply import Reply
from callsheet._result import AgentResult
from callsheet._values import TraceEntry, Usage


class Turn:
    """One model request: its choices, by index, and its tokens."""

    def __init__(self) -> None:
        self.choices: dict[int, Reply] = {}
        self.input_tokens = 0
        self.output_tokens = 0

    @property
    def finished(self) -> bool:
        """Whether the provider gave every choice a finish reason."""
        return bool(self.choices) and all(reply.finish_reason for reply in self.choices.values())


class Transcript:
    """What the readers of the providers' formats fill in."""

    def __init__(self) -> None:
        self.turns = [Turn()]
        self.model: str | None = None
        self.response_id: str | None = None
        self.error: str | None = None
        self.ended = False
        self.total_tokens: tuple[int, int] | None = None
        self.details: dict[str, Any] = {}

    @property
    def turn(self) -> Turn:
        """The turn being read."""
        return self.turns[-1]

    def reply(self, choice: int = 0) -> Reply:
        """Give a choice of the turn being read."""
        reply = self.turn.choices.get(choice)
        if reply is None:
            reply = self.turn.choices[choice] = Reply()
        return reply

    def begin_turn(self) -> None:
        """Begin the next turn, unless nothing was said in this one."""
        if self.turn.choices:
            self.turns.append(Turn())
            self.ended = False

    def identify(self, *, model: str = "", response_id: str = "") -> None:
        """Take the model's name and the response's id; the first of each stays."""
        self.model = self.model or model or None
        self.response_id = self.response_id or response_id or None

    def fail(self, error: str) -> None:
        """Take an error; the first one stays."""
        self.error = self.error or error

    def result(self, format: str, *, cut: bool = False, native: object = None) -> AgentResult:
        """Give the result: the first choice of every turn, the other choices in `metadata["choices"]`.

        Args:
            format: The name of the format the transcript was read from.
            cut: Whether what was read ended inside an event.
            native: The payload itself.
        """
        turns = [turn for turn in self.turns if turn.choices]
        ended = self.ended or (bool(turns) and turns[-1].finished)
        completes = [turn is not turns[-1] or (ended and self.error is None) for turn in turns]
        main = [
            (turn.choices[min(turn.choices)], complete)
            for turn, complete in zip(turns, completes, strict=True)
        ]
        others = [
            _result_of([(turn.choices[choice], complete)], {"index": choice, "turn": number}).to_dict()
            for number, (turn, complete) in enumerate(zip(turns, completes, strict=True))
            for choice in sorted(turn.choices)[1:]
        ]
        metadata: dict[str, Any] = {"format": format, "turns": len(turns), "truncated": cut or not ended}
        if self.response_id is not None:
            metadata["response_id"] = self.response_id
        if others:
            metadata["choices"] = others
        tokens = self.total_tokens or (
            sum(turn.input_tokens for turn in turns),
            sum(turn.output_tokens for turn in turns),
        )
        return _result_of(
            main,
            {**metadata, **self.details},
            model_used=self.model,
            usage=Usage(len(turns), *tokens),
            error=self.error,
            native=native,
        )


def _result_of(
    replies: list[tuple[Reply, bool]], metadata: dict[str, Any], *, error: str | None = None, **fields: Any
) -> AgentResult:
    trace: list[TraceEntry] = []
    said, reasoning, refusals = "", [], []
    for turn, (reply, complete) in enumerate(replies):
        text = str(reply.text)
        if text:
            said = text
            trace.append(TraceEntry("assistant", text, turn=turn))
        calls = reply.calls(turn=turn, complete=complete)
        trace += [TraceEntry("tool", tool_call=call, turn=turn) for call in calls]
        reasoning.append(str(reply.reasoning))
        refusals.append(str(reply.refusal))
    if error is not None:
        trace.append(TraceEntry("error", error))
    metadata["finish_reason"] = replies[-1][0].finish_reason if replies else None
    for name, texts in (("reasoning", reasoning), ("refusal", refusals)):
        if any(texts):
            metadata[name] = "\n".join(filter(None, texts))
    return AgentResult(
        response=said,
        tool_calls=[entry.tool_call for entry in trace if entry.tool_call is not None],
        trace=trace,
        metadata=metadata,
        error=error,
        **fields,
    )
