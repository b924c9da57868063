"""The Vercel AI SDK: UI message streams, data streams, and the JSON of `generateText` and UI messages.

Shapes: `UIMessageChunk` (SDK 5 and later) and `TextStreamPart`, in the names of this and the previous
versions (`input` or `args`, `output` or `result`, `delta` or `textDelta`). Data stream lines arrive as
chunks (`_vercel_data`), results and messages are spelt out as chunks (`_vercel_result`).
"""

from __future__ import annotations

from collections.abc import Callable

from callsheet._parsing._members import Data, count, error_text, mapping, member, text, written
from callsheet._parsing._reply import CallDraft, Reply
from callsheet._parsing._transcript import Transcript
from callsheet._parsing._vercel_result import looks_like_result, result_chunks

_CHUNKS = frozenset(
    {
        "start",
        "start-step",
        "step-start",
        "text-start",
        "text-delta",
        "text-end",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "finish-step",
        "step-finish",
        "finish",
        "abort",
        "message-metadata",
        "source-url",
        "source-document",
    }
)


def looks_like_vercel(event: Data) -> bool:
    """Tell whether an object is a chunk of a stream, a `generateText` result or a UI message."""
    return _is_chunk(event) or looks_like_result(event)


def _is_chunk(event: Data) -> bool:
    kind = text(event, "type")
    return kind in _CHUNKS or kind.startswith(("tool-", "data-"))


class AISDK:
    """Reads the Vercel AI SDK's chunks, results and messages."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._drafts: dict[str, CallDraft] = {}
        self._between_steps = False
        self._handlers: dict[str, Callable[[Data], None]] = {
            "start": self._start,
            "start-step": self._start_step,
            "step-start": self._start_step,
            "text": self._say,
            "text-delta": self._say,
            "reasoning": self._think,
            "reasoning-delta": self._think,
            "tool-input-start": self._call,
            "tool-call-streaming-start": self._call,
            "tool-input-delta": self._write,
            "tool-call-delta": self._write,
            "tool-input-available": self._put,
            "tool-call": self._put,
            "tool-input-error": self._reject,
            "tool-output-available": self._answer,
            "tool-result": self._answer,
            "tool-output-error": self._fail,
            "tool-error": self._fail,
            "tool-output-denied": self._deny,
            "tool-approval-request": self._interrupt,
            "finish-step": self._finish_step,
            "step-finish": self._finish_step,
            "finish": self._finish,
            "abort": self._abort,
        }

    def feed(self, event: Data) -> bool:
        """Read a chunk, a result or a message; tell whether it was one."""
        if _is_chunk(event) or text(event, "type") in self._handlers:
            self._read_chunk(event)
            return True
        if looks_like_result(event):
            self._transcript.begin_turn()
            self._between_steps = False
            for chunk in result_chunks(event):
                self._read_chunk(chunk)
            self._transcript.ended = True
            return True
        return False

    def _read_chunk(self, chunk: Data) -> None:
        response = mapping(chunk, "response")
        self._transcript.identify(
            model=text(response, "modelId"), response_id=text(chunk, "messageId") or text(response, "id")
        )
        handler = self._handlers.get(text(chunk, "type"))
        if handler is not None:
            handler(chunk)

    @property
    def _reply(self) -> Reply:
        if self._between_steps:
            self._start_step({})
        return self._transcript.reply()

    def _start(self, chunk: Data) -> None:
        if self._transcript.ended:
            self._start_step(chunk)

    def _start_step(self, _chunk: Data) -> None:
        self._between_steps = False
        self._transcript.begin_turn()

    def _say(self, chunk: Data) -> None:
        self._reply.text.add(text(chunk, "delta", "textDelta", "text"))

    def _think(self, chunk: Data) -> None:
        self._reply.reasoning.add(text(chunk, "delta", "textDelta", "text"))

    def _known(self, chunk: Data) -> CallDraft | None:
        call_id = text(chunk, "toolCallId", "id") or text(mapping(chunk, "toolCall"), "toolCallId")
        return self._drafts.get(call_id)

    def _draft(self, chunk: Data) -> CallDraft:
        draft = self._known(chunk)
        if draft is None:
            draft = self._reply.call()
            draft.identify(text(chunk, "toolCallId", "id"))
            if draft.id is not None:
                self._drafts[draft.id] = draft
        draft.set_name(text(chunk, "toolName"))
        if chunk.get("providerExecuted") is True:
            draft.kind = "hosted"
        return draft

    def _call(self, chunk: Data) -> None:
        self._draft(chunk)

    def _write(self, chunk: Data) -> None:
        self._draft(chunk).write(text(chunk, "inputTextDelta", "argsTextDelta", "delta"))

    def _put(self, chunk: Data) -> None:
        draft = self._draft(chunk)
        draft.put(member(chunk, "input", "args"))
        draft.closed = True
        if chunk.get("invalid") is True:
            draft.fail(error_text(chunk.get("error")), "invalid")

    def _reject(self, chunk: Data) -> None:
        draft = self._draft(chunk)
        if chunk.get("input") is not None:
            draft.put(written(chunk["input"]))
        draft.fail(text(chunk, "errorText"), "invalid")

    def _answer(self, chunk: Data) -> None:
        # A stream that goes on after an approval answers calls it does not hold.
        draft = self._known(chunk)
        if draft is not None:
            draft.answer(member(chunk, "output", "result"))

    def _fail(self, chunk: Data) -> None:
        draft = self._known(chunk)
        if draft is not None and draft.outcome != "invalid":
            draft.fail(error_text(member(chunk, "errorText", "error")))

    def _deny(self, chunk: Data) -> None:
        draft = self._known(chunk)
        if draft is not None:
            draft.outcome = "denied"

    def _interrupt(self, chunk: Data) -> None:
        draft = self._known(chunk)
        if draft is not None:
            draft.outcome = "interrupted"

    def _finish_step(self, chunk: Data) -> None:
        self._transcript.reply().finish(chunk.get("finishReason"))
        usage = mapping(chunk, "usage")
        if usage:
            turn = self._transcript.turn
            turn.input_tokens, turn.output_tokens = _tokens(usage)
        self._between_steps = True

    def _finish(self, chunk: Data) -> None:
        self._transcript.reply().finish(chunk.get("finishReason"))
        usage = mapping(chunk, "totalUsage", "usage")
        usage = usage or mapping(mapping(chunk, "messageMetadata"), "totalUsage", "usage")
        if usage:
            earlier, tokens = self._transcript.total_tokens or (0, 0), _tokens(usage)
            self._transcript.total_tokens = earlier[0] + tokens[0], earlier[1] + tokens[1]
        self._transcript.ended = True

    def _abort(self, chunk: Data) -> None:
        self._transcript.reply().finish("abort")
        self._transcript.fail(": ".join(filter(None, ("The stream was aborted", text(chunk, "reason")))))


def _tokens(usage: Data) -> tuple[int, int]:
    return count(usage, "inputTokens", "promptTokens"), count(usage, "outputTokens", "completionTokens")
