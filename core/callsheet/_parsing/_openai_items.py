"""The output items of an OpenAI response: messages, reasoning, and every kind of tool call.

Shapes: `openai.types.responses.ResponseOutputItem`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callsheet._parsing._members import Data, error_text, mappings, member, text
from callsheet._parsing._reply import CallDraft, Reply

# The members of a hosted call that hold its arguments, or are arguments.
_ARGUMENT_OBJECTS = ("action", "operation", "arguments")
_ARGUMENT_MEMBERS = ("queries", "code", "actions", "revised_prompt")
_ANSWERS = ("output", "outputs", "results", "result", "tools")


def looks_like_item(item: Data) -> bool:
    """Tell whether an object is an output item that no other format has."""
    kind = text(item, "type")
    if kind == "message":
        return any(text(part, "type") in ("output_text", "refusal") for part in mappings(item, "content"))
    return kind.endswith(("_call", "_call_output")) or (kind == "reasoning" and "summary" in item)


class OutputItems:
    """Reads the items of one response into a reply."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self._drafts: dict[str, CallDraft] = {}

    def read(self, item: Data, position: int, *, done: bool = True) -> None:
        """Read an item as it stands now; it may be read again when it is done."""
        kind = text(item, "type")
        if kind == "message":
            self._read_message(item, position)
        elif kind == "reasoning":
            self._read_reasoning(item, position)
        elif kind.endswith("_output"):
            self._read_output(item)
        elif kind.endswith("_call") or kind in ("program", "mcp_approval_request"):
            draft = self.reply.call(position)
            # A reply that ended early may hold a call whose arguments are not all there.
            draft.closed = done and item.get("status") != "incomplete"
            _read_call(draft, item, kind)
            self._drafts.update({text(item, name): draft for name in ("id", "call_id") if text(item, name)})

    def _read_message(self, item: Data, position: int) -> None:
        for index, part in enumerate(mappings(item, "content")):
            self.reply.text.replace(part.get("text"), (position, index))
            self.reply.refusal.replace(part.get("refusal"), (position, index))

    def _read_reasoning(self, item: Data, position: int) -> None:
        for group, name in enumerate(("summary", "content")):
            for index, part in enumerate(mappings(item, name)):
                self.reply.reasoning.replace(part.get("text"), (position, group, index))

    def _read_output(self, item: Data) -> None:
        draft = self._drafts.get(text(item, "call_id", "id"))
        if draft is not None:
            draft.answer(member(item, *_ANSWERS))


def _read_call(draft: CallDraft, item: Data, kind: str) -> None:
    draft.identify(text(item, "call_id", "id"))
    draft.metadata.update({name: item[name] for name in ("namespace", "server_label") if item.get(name)})
    if kind in ("function_call", "custom_tool_call"):
        draft.set_name(item.get("name"))
        draft.put(member(item, "arguments", "input"))
        if kind == "custom_tool_call":
            draft.text_argument = "input"
    elif kind in ("mcp_call", "mcp_approval_request"):
        draft.kind = "mcp"
        draft.set_name(item.get("name"))
        draft.put(item.get("arguments"))
        draft.answer(item.get("output"))
        if kind == "mcp_approval_request":
            draft.outcome = "interrupted"
    else:
        draft.kind = "hosted"
        draft.set_name(kind.removesuffix("_call"))
        draft.put(_hosted_arguments(item))
        draft.answer(member(item, *_ANSWERS))
    if item.get("error") is not None:
        draft.fail(error_text(item["error"]))
    elif item.get("status") == "failed":
        draft.fail("failed")


def _hosted_arguments(item: Data) -> dict[str, Any]:
    for name in _ARGUMENT_OBJECTS:
        if isinstance(item.get(name), Mapping):
            return dict(item[name])
    return {name: item[name] for name in _ARGUMENT_MEMBERS if item.get(name) is not None}
