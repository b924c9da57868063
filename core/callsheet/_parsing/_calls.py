"""Tool calls on their own: plain dicts, or the wire's tool calls without the message around them."""

from __future__ import annotations

from callsheet._parsing._members import Data, error_text, mapping, member, text
from callsheet._parsing._reply import CallDraft
from callsheet._parsing._transcript import Transcript
from callsheet._values import Kind

_KINDS: dict[str, Kind] = {
    "mcp_call": "mcp",
    "mcp_tool_use": "mcp",
    "server_tool_use": "hosted",
}
_ARGUMENTS = ("args", "arguments", "input")
# A tool's definition has its name and these: it is offered, not called.
_DEFINITION_MEMBERS = ("parameters", "input_schema", "inputSchema")


def looks_like_call(event: Data) -> bool:
    """Tell whether an object is a tool call."""
    if mapping(event, "functionCall", "function_call"):
        return True
    call = mapping(event, "function", "custom") or event
    named = bool(text(call, "toolName", "name")) and not _is_definition(call)
    return named and any(name in call for name in _ARGUMENTS)


def _is_definition(call: Data) -> bool:
    return any(name in call for name in _DEFINITION_MEMBERS)


def read_wire_call(draft: CallDraft, wire: Data) -> None:
    """Read a whole call or a fragment of one as Chat Completions write it: `function` or `custom`."""
    draft.identify(wire.get("id"))
    custom = mapping(wire, "custom")
    if custom:
        draft.text_argument = "input"
    function = custom or mapping(wire, "function")
    draft.add_name(function.get("name"))
    arguments = member(function, "arguments", "input")
    if isinstance(arguments, str):
        draft.write(arguments)
    else:
        draft.put(arguments)


class Calls:
    """Reads tool calls, all of one reply."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript

    def feed(self, event: Data) -> bool:
        """Read a call; tell whether it was one."""
        plain = mapping(event, "functionCall", "function_call") or event
        nested = mapping(plain, "function", "custom")
        call = nested or plain
        if _is_definition(call) or not (nested or text(call, "toolName", "name")):
            return False
        draft = self._transcript.reply().call()
        draft.closed = True
        if nested:
            read_wire_call(draft, plain)
        else:
            _read_plain_call(draft, plain)
        self._transcript.ended = True
        return True


def _read_plain_call(draft: CallDraft, call: Data) -> None:
    draft.set_name(text(call, "toolName", "name"))
    draft.identify(text(call, "call_id", "toolCallId", "id"))
    draft.put(member(call, *_ARGUMENTS))
    draft.kind = _KINDS.get(text(call, "type"), "function")
    draft.response = member(call, "response", "result", "output")
    if call.get("error") is not None:
        draft.fail(error_text(call["error"]))
