"""Telling a payload's format from its shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from callsheet._errors import UnknownFormatError
from callsheet._parsing._anthropic import Messages, looks_like_anthropic, looks_like_block
from callsheet._parsing._calls import Calls, looks_like_call
from callsheet._parsing._gemini import Contents, looks_like_gemini, looks_like_part
from callsheet._parsing._members import Data, error_of, mapping, mappings, shown, text
from callsheet._parsing._openai_chat import ChatCompletions, looks_like_chat
from callsheet._parsing._openai_items import looks_like_item
from callsheet._parsing._openai_responses import Responses, looks_like_responses
from callsheet._parsing._transcript import Transcript
from callsheet._parsing._vercel import AISDK, looks_like_vercel


class Reader(Protocol):
    """Reads the events of one format into the transcript it was made with."""

    def feed(self, event: Data) -> bool:
        """Read an event; tell whether it was one of the format."""


READERS: Mapping[str, Callable[[Transcript], Reader]] = {
    "openai": ChatCompletions,
    "openai-responses": Responses,
    "anthropic": Messages,
    "gemini": Contents,
    "vercel": AISDK,
    "calls": Calls,
}
# The order matters where a shape is part of another: a response's output item looks like a message.
_SHAPES: Mapping[str, Callable[[Data], bool]] = {
    "openai-responses": looks_like_responses,
    "openai": looks_like_chat,
    "vercel": looks_like_vercel,
    "anthropic": looks_like_anthropic,
    "gemini": looks_like_gemini,
    "calls": looks_like_call,
}
_OTHER_ROLES = frozenset({"user", "tool", "system", "developer"})
_LOOKED_FOR = (
    "'choices' (openai), 'output' or events 'response.*' (openai-responses), a message with a list of "
    "'content' or events 'message_start' (anthropic), 'candidates' (gemini), 'toolCalls', 'steps', lines "
    "'0:\"...\"' or events 'text-delta' (vercel), 'name' with 'args' (calls)"
)


def format_of(event: Data) -> str | None:
    """Give the name of the format an object belongs to, or None."""
    return next((name for name, looks_right in _SHAPES.items() if looks_right(event)), None)


def detect(events: Sequence[Data]) -> str | None:
    """Give the format of the first event that has one; an error alone is taken by its shape."""
    for event in events:
        found = format_of(event)
        if found is not None:
            return found
    failed = next((event for event in events if error_of(event) is not None), None)
    if failed is None:
        return None
    if text(failed, "errorText"):
        return "vercel"
    if failed.get("type") == "error":
        return "anthropic" if mapping(failed, "error") else "openai-responses"
    return "gemini" if text(mapping(failed, "error"), "status") else "openai"


def with_envelope(events: list[Data]) -> list[Data]:
    """Put the response back around what only stands inside one: choices, items, blocks, parts, calls.

    A list of anything else is given back itself.
    """
    if not events:
        return events
    if all("finish_reason" in event and mapping(event, "message") for event in events):
        return [{"choices": events}]
    if all(mapping(event, "content").get("parts") for event in events):
        return [{"candidates": events}]
    if all(_is_gemini_content(event) for event in events):
        return [{"candidates": [{"content": event}]} for event in events]
    kinds = [text(event, "type") for event in events]
    if all(kinds):
        if any(map(looks_like_item, events)):
            return [{"object": "response", "output": events}]
        if any(map(looks_like_block, events)):
            return [{"type": "message", "content": events}]
        if all(kind in ("tool-call", "tool-result", "tool-error") for kind in kinds):
            return [{"content": events, "finishReason": None}]
    elif any(map(looks_like_part, events)) and not any(text(event, "name", "toolName") for event in events):
        return [{"candidates": [{"content": {"parts": events}}]}]
    return events


def _is_gemini_content(event: Data) -> bool:
    # A UI message of the AI SDK has parts as well, but another role.
    parts = mappings(event, "parts")
    if event.get("role") is None:
        return any(map(looks_like_part, parts))
    return event["role"] == "model" and bool(parts)


def unknown_format(
    events: Sequence[Data], payload: object, *, asked: str, formats: Sequence[str]
) -> UnknownFormatError:
    """Build the error for a payload that is not of the format asked for, or of none that is known."""
    found = described(events, payload)
    if asked == "auto":
        return UnknownFormatError(
            f"Can't tell the format of {found}. Looked for {_LOOKED_FOR}. "
            f"If it is one of these, pass format=, one of {', '.join(formats[1:])}."
        )
    actual = detect(events)
    looks = f"it looks like {actual!r}" if actual else f"looked for {_LOOKED_FOR}"
    return UnknownFormatError(
        f"The payload is not of the format {asked!r}: {found}; {looks}. Pass format='auto'."
    )


def refuse_conversation(events: Sequence[Data]) -> None:
    """Refuse a list of messages that a model did not write all of.

    Raises:
        UnknownFormatError: There is a message of a user, a tool or the system.
    """
    # The AI SDK's UI messages are read with the user's among them; Gemini's contents look alike.
    is_gemini = any(text(event, "role") == "model" for event in events)
    if any(text(event, "role") in _OTHER_ROLES and (is_gemini or "parts" not in event) for event in events):
        raise UnknownFormatError(
            "The payload is a conversation, not a model's response. Build the result with "
            "AgentResult.from_messages(messages), or pass the responses only."
        )


def described(events: Sequence[Data], payload: object) -> str:
    """Say in a few words what a payload is."""
    if not events:
        return f"{type(payload).__name__} {shown(payload)}"
    keys = ", ".join(map(shown, list(events[0])[:8])) or "no keys"
    return f"an object with {keys}" if len(events) == 1 else f"{len(events)} objects, the first with {keys}"
