"""OpenAI chat completions, whole and as chunks, and the servers that speak the same.

Shapes: `openai.types.chat.ChatCompletion` and `ChatCompletionChunk`. `reasoning_content` and
`reasoning` are what compatible servers add for thinking.
"""

from __future__ import annotations

from callsheet._parsing._calls import read_wire_call
from callsheet._parsing._members import Data, count, integer, is_list, mapping, mappings, member, text
from callsheet._parsing._reply import CallDraft, Reply
from callsheet._parsing._transcript import Transcript

_MESSAGE_MEMBERS = ("tool_calls", "function_call", "refusal")


def looks_like_chat(event: Data) -> bool:
    """Tell whether an object is a completion, a chunk of one, or an assistant message."""
    event = _unwrapped(event)
    if is_list(event.get("choices")) or text(event, "object").startswith("chat.completion"):
        return True
    if event.get("role") != "assistant":
        return False
    return isinstance(event.get("content"), str) or any(name in event for name in _MESSAGE_MEMBERS)


def _unwrapped(event: Data) -> Data:
    """Give the chunk that the client's stream helper wraps in an event of its own."""
    return mapping(event, "chunk") if event.get("type") == "chunk" else event


class ChatCompletions:
    """Reads chat completions."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._open: dict[tuple[int, object], CallDraft] = {}
        self._last: dict[int, CallDraft] = {}

    def feed(self, event: Data) -> bool:
        """Read a completion or a chunk; tell whether it was one."""
        if not looks_like_chat(event):
            return False
        event = _unwrapped(event)
        choices = mappings(event, "choices") or ([{"message": event}] if event.get("role") else [])
        if any(mapping(choice, "message") for choice in choices):
            self._transcript.begin_turn()
            self._transcript.ended = True
            self._open.clear()
        self._transcript.identify(model=text(event, "model"), response_id=text(event, "id"))
        for place, choice in enumerate(choices):
            self._read_choice(choice, place)
        usage = mapping(event, "usage")
        if usage:
            self._transcript.turn.input_tokens = count(usage, "prompt_tokens")
            self._transcript.turn.output_tokens = count(usage, "completion_tokens")
        return True

    def _read_choice(self, choice: Data, place: int) -> None:
        number = integer(choice.get("index"))
        number = place if number is None else number
        reply = self._transcript.reply(number)
        message = mapping(choice, "message")
        delta = mapping(choice, "delta")
        for wire in mappings(message, "tool_calls"):
            read_wire_call(reply.call(), wire)
        for wire in mappings(delta, "tool_calls"):
            read_wire_call(self._draft(reply, number, wire), wire)
        message = delta or message
        _read_content(reply, message)
        legacy = mapping(message, "function_call")
        if legacy:
            draft = self._open.setdefault((number, "function_call"), reply.call(0))
            read_wire_call(draft, {"function": legacy})
        reply.finish(choice.get("finish_reason"))

    def _draft(self, reply: Reply, choice: int, wire: Data) -> CallDraft:
        """Give the call a fragment belongs to.

        Fragments are told apart by `index`. Some compatible servers leave it out, or give every call
        the same one; then a new id that comes with a name begins a new call.
        """
        index = integer(wire.get("index"))
        known = self._last.get(choice) if index is None else self._open.get((choice, index))
        if known is None or _begins_another(known, wire, indexed=index is not None):
            free = index is not None and not reply.has_call(index)
            known = reply.call(index if free else None)
        self._last[choice] = known
        if index is not None:
            self._open[choice, index] = known
        return known


def _begins_another(known: CallDraft, wire: Data, *, indexed: bool) -> bool:
    call_id = text(wire, "id")
    name = text(mapping(wire, "function", "custom"), "name")
    if call_id and known.id is not None:
        return call_id != known.id and bool(name)
    return not indexed and bool(name) and known.started


def _read_content(reply: Reply, message: Data) -> None:
    content = message.get("content")
    reply.text.add(content)
    if is_list(content):
        for part in mappings(message, "content"):
            reply.text.add(part.get("text"))
            reply.refusal.add(part.get("refusal"))
    elif content is None:
        reply.text.add(mapping(message, "audio").get("transcript"))
    reply.refusal.add(message.get("refusal"))
    reply.reasoning.add(member(message, "reasoning_content", "reasoning"))
