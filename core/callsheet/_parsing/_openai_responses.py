"""OpenAI responses, whole and streamed.

Shapes: `openai.types.responses.Response` and `ResponseStreamEvent`.
"""

from __future__ import annotations

from callsheet._parsing._members import Data, count, error_text, integer, mapping, mappings, text
from callsheet._parsing._openai_items import OutputItems
from callsheet._parsing._reply import Fragments, Place
from callsheet._parsing._transcript import Transcript

_TERMINAL = frozenset({"response.completed", "response.failed", "response.incomplete", "response.cancelled"})
_CODE = "response.code_interpreter_call_code."
_INPUT = ("response.custom_tool_call_input.", _CODE)
_ARGUMENTS = ("response.function_call_arguments.", "response.mcp_call_arguments.", *_INPUT)


def looks_like_responses(event: Data) -> bool:
    """Tell whether an object is a response, or an event of a response's stream."""
    if event.get("object") == "response" or text(event, "type").startswith("response."):
        return True
    if text(event, "name", "toolName") or any(name in event for name in ("choices", "steps", "toolCalls")):
        return False
    return any(text(item, "type") for item in mappings(event, "output"))


class Responses:
    """Reads OpenAI responses."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._reader: OutputItems | None = None
        self._positions: dict[str, int] = {}

    @property
    def _items(self) -> OutputItems:
        if self._reader is None:
            self._reader = OutputItems(self._transcript.reply())
        return self._reader

    def feed(self, event: Data) -> bool:
        """Read a response or an event; tell whether it was one."""
        if not looks_like_responses(event):
            return False
        kind = text(event, "type")
        response = mapping(event, "response")
        if not kind.startswith("response."):
            self._begin(event)
            self._finish(event)
        elif kind == "response.created":
            self._begin(response)
        elif kind in _TERMINAL:
            self._finish(response)
        elif kind.startswith("response.output_item."):
            self._read_item(event, done=kind.endswith(".done"))
        else:
            self._read_fragment(event, kind)
        return True

    def _begin(self, response: Data) -> None:
        if self._transcript.ended:
            self._transcript.begin_turn()
            self._reader = None
            self._positions = {}
        self._transcript.identify(model=text(response, "model"), response_id=text(response, "id"))

    def _finish(self, response: Data) -> None:
        self._transcript.identify(model=text(response, "model"), response_id=text(response, "id"))
        output = mappings(response, "output")
        if output:
            # The last event repeats every item; it is what the provider stands by.
            self._transcript.turn.choices.clear()
            self._reader = None
            for position, item in enumerate(output):
                self._items.read(item, position)
        reply = self._items.reply
        reply.finish(text(mapping(response, "incomplete_details"), "reason") or response.get("status"))
        if response.get("error") is not None:
            self._transcript.fail(error_text(response["error"]))
        usage = mapping(response, "usage")
        self._transcript.turn.input_tokens = count(usage, "input_tokens")
        self._transcript.turn.output_tokens = count(usage, "output_tokens")
        self._transcript.ended = True

    def _position(self, event: Data) -> int:
        item_id = text(event, "item_id") or text(mapping(event, "item"), "id")
        position = integer(event.get("output_index"))
        if position is None:
            position = self._positions.get(item_id, len(self._positions))
        self._positions.setdefault(item_id, position)
        return position

    def _read_item(self, event: Data, *, done: bool) -> None:
        self._items.read(mapping(event, "item"), self._position(event), done=done)

    def _read_fragment(self, event: Data, kind: str) -> None:
        done = kind.endswith(".done")
        if kind.startswith(_ARGUMENTS):
            draft = self._items.reply.call(self._position(event))
            if kind.startswith(_INPUT):
                draft.text_argument = "code" if kind.startswith(_CODE) else "input"
            if done:
                draft.put(text(event, "arguments", "input", "code"))
            else:
                draft.write(event.get("delta"))
            return
        found = self._fragments(event, kind)
        if found is not None:
            fragments, place = found
            if done:
                fragments.replace(text(event, "text", "refusal"), place)
            else:
                fragments.add(event.get("delta"), place)

    def _fragments(self, event: Data, kind: str) -> tuple[Fragments, Place] | None:
        reply = self._items.reply
        index = integer(event.get("content_index")) or 0
        summary = integer(event.get("summary_index")) or 0
        match kind.rpartition(".")[0]:
            case "response.output_text":
                return reply.text, (self._position(event), index)
            case "response.refusal":
                return reply.refusal, (self._position(event), index)
            case "response.reasoning_summary_text":
                return reply.reasoning, (self._position(event), 0, summary)
            case "response.reasoning_text":
                return reply.reasoning, (self._position(event), 1, index)
        return None
