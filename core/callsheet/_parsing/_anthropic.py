"""Anthropic messages, whole and streamed.

Shapes: `anthropic.types.Message`, `RawMessageStreamEvent`, and the beta blocks for MCP.
"""

from __future__ import annotations

from collections.abc import Mapping

from callsheet._parsing._members import Data, count, error_text, integer, is_list, mapping, mappings, text
from callsheet._parsing._reply import CallDraft
from callsheet._parsing._transcript import Transcript
from callsheet._values import Kind

_EVENTS = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "ping",
    }
)
_CALL_BLOCKS: dict[str, Kind] = {"tool_use": "function", "server_tool_use": "hosted", "mcp_tool_use": "mcp"}
_CALL_DETAILS = ("server_name", "toolset_name", "caller")


def looks_like_anthropic(event: Data) -> bool:
    """Tell whether an object is a message, or an event of a message's stream."""
    kind = text(event, "type")
    if kind in _EVENTS:
        return True
    return is_list(event.get("content")) and (kind == "message" or event.get("role") == "assistant")


def looks_like_block(item: Data) -> bool:
    """Tell whether an object is a content block that no other format has."""
    kind = text(item, "type")
    return kind in _CALL_BLOCKS or kind in ("thinking", "redacted_thinking")


class Messages:
    """Reads Anthropic messages."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._drafts: dict[str, CallDraft] = {}
        self._moved: dict[int, int] = {}
        self._usage: dict[str, object] = {}

    def feed(self, event: Data) -> bool:
        """Read a message or an event; tell whether it was one."""
        if not looks_like_anthropic(event):
            return False
        kind = text(event, "type")
        if kind == "message_start":
            self._read_message(mapping(event, "message"))
        elif kind == "message_delta":
            self._finish(mapping(event, "delta"))
            self._count(mapping(event, "usage"))
        elif kind == "message_stop":
            self._transcript.ended = True
        elif kind in _EVENTS:
            self._read_block_event(event)
        else:
            self._read_message(event)
            self._transcript.ended = True
        return True

    def _read_message(self, message: Data) -> None:
        self._transcript.begin_turn()
        self._usage, self._moved = {}, {}
        self._transcript.identify(model=text(message, "model"), response_id=text(message, "id"))
        self._transcript.reply().text.add(message.get("content"))
        for position, block in enumerate(mappings(message, "content")):
            self._read_block(block, position)
        self._finish(message)
        self._count(mapping(message, "usage"))

    def _finish(self, message: Data) -> None:
        reply = self._transcript.reply()
        reply.finish(message.get("stop_reason"))
        if message.get("stop_reason") == "refusal":
            details = mapping(message, "stop_details")
            reply.refusal.replace(text(details, "explanation", "category") or "refusal")

    def _count(self, usage: Data) -> None:
        self._usage.update({name: value for name, value in usage.items() if value is not None})
        turn = self._transcript.turn
        # The provider counts cached input apart; the others count it as input, and so does `Usage`.
        turn.input_tokens = sum(
            count(self._usage, name)
            for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        turn.output_tokens = count(self._usage, "output_tokens")

    def _read_block_event(self, event: Data) -> None:
        reply = self._transcript.reply()
        index = integer(event.get("index")) or 0
        block = mapping(event, "content_block")
        position = self._moved.get(index, index)
        known = reply.call(position).id if reply.has_call(position) else None
        if text(block, "type") in _CALL_BLOCKS and known not in (None, text(block, "id")):
            # A proxy that gives an index twice must not make the second call take the first one's place.
            position = self._moved[index] = reply.next_position
        delta = mapping(event, "delta")
        if event.get("type") == "content_block_start":
            self._read_block(block, position)
        elif event.get("type") == "content_block_stop":
            if reply.has_call(position):
                reply.call(position).closed = True
        elif "partial_json" in delta:
            reply.call(position).write(delta["partial_json"])
        else:
            reply.text.add(delta.get("text"), (position,))
            reply.reasoning.add(delta.get("thinking"), (position,))

    def _read_block(self, block: Data, position: int) -> None:
        reply = self._transcript.reply()
        kind = text(block, "type")
        if kind in _CALL_BLOCKS:
            draft = reply.call(position)
            draft.kind = _CALL_BLOCKS[kind]
            draft.set_name(block.get("name"))
            draft.identify(block.get("id"))
            draft.put(block.get("input"))
            draft.metadata.update({name: block[name] for name in _CALL_DETAILS if block.get(name)})
            self._drafts[text(block, "id")] = draft
        elif kind.endswith("_tool_result"):
            self._read_result(block)
        elif kind == "thinking":
            reply.reasoning.add(block.get("thinking"), (position,))
        elif kind == "text":
            reply.text.add(block.get("text"), (position,))

    def _read_result(self, block: Data) -> None:
        draft = self._drafts.get(text(block, "tool_use_id"))
        if draft is None:
            return
        content = block.get("content")
        failed = isinstance(content, Mapping) and text(content, "type").endswith("_error")
        if failed or block.get("is_error") is True:
            draft.fail(text(mapping(block, "content"), "error_code") or error_text(_plain_text(content)))
        else:
            draft.answer(_plain_text(content))


def _plain_text(content: object) -> object:
    """Give the text of a list of text blocks; anything else as it is."""
    parts = content if isinstance(content, list) else []
    if parts and all(isinstance(part, Mapping) and part.get("type") == "text" for part in parts):
        return "".join(text(part, "text") for part in parts)
    return content
