"""One model reply and its tool calls while they are put together from fragments.

Everything is collected in lists and joined once, so that a stream of n fragments takes O(n).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callsheet._messages import parse_arguments
from callsheet._parsing._members import written
from callsheet._values import Kind, Outcome, ToolCall

Place = tuple[int, ...]
_NOTHING: Any = object()
# The providers' words for a reply that was as long as it may be: its last call is cut short.
_TOO_LONG = frozenset(
    {
        "length",
        "max_tokens",
        "max_output_tokens",
        "MAX_TOKENS",
        "model_context_window_exceeded",
        "incomplete",
    }
)
# Their words for a reply that broke off: any of its calls may be.
_BROKEN_OFF = frozenset({"error", "failed", "cancelled", "abort"})


class Fragments:
    """Text that arrives in pieces, perhaps at several places in turn; places are joined in their order."""

    def __init__(self) -> None:
        self._pieces: dict[Place, list[str]] = {}

    def add(self, piece: object, at: Place = (0,)) -> None:
        """Append a piece; anything but a string is no text."""
        if isinstance(piece, str) and piece:
            self._pieces.setdefault(at, []).append(piece)

    def replace(self, whole: object, at: Place = (0,)) -> None:
        """Put a whole text where fragments were."""
        if isinstance(whole, str):
            self._pieces[at] = [whole]

    def __str__(self) -> str:
        return "".join(piece for at in sorted(self._pieces) for piece in self._pieces[at])


class CallDraft:
    """A tool call in the making."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.kind: Kind = "function"
        self.closed = False
        self.outcome: Outcome | None = None
        self.response: Any = None
        self.error: str | None = None
        self.metadata: dict[str, Any] = {}
        # The one argument of a tool that is given free text instead of a JSON object.
        self.text_argument: str | None = None
        self._names: list[str] = []
        self._pieces: list[str] = []
        self._value: Any = _NOTHING

    @property
    def started(self) -> bool:
        """Whether any argument was written."""
        return bool(self._pieces) or self._value is not _NOTHING

    @property
    def name(self) -> str:
        """The name as far as it was written."""
        return "".join(self._names)

    def identify(self, call_id: object) -> None:
        """Take the id of the call; the first one stays."""
        if self.id is None and isinstance(call_id, str) and call_id:
            self.id = call_id

    def add_name(self, fragment: object) -> None:
        """Append to the name; some servers repeat the whole name in every chunk."""
        if isinstance(fragment, str) and fragment and self._names != [fragment]:
            self._names.append(fragment)

    def set_name(self, name: object) -> None:
        """Take the whole name."""
        if isinstance(name, str) and name:
            self._names = [name]

    def write(self, fragment: object) -> None:
        """Append to the text of the arguments."""
        if isinstance(fragment, str) and fragment:
            self._pieces.append(fragment)

    def put(self, arguments: object) -> None:
        """Take the whole arguments, as text or as a value."""
        if isinstance(arguments, str):
            self._pieces = [arguments] if arguments else []
        elif arguments is not None:
            self._pieces, self._value, self.text_argument = [], arguments, None

    def answer(self, response: object) -> None:
        """Take what the tool answered."""
        self.response = response
        if self.outcome == "interrupted":
            self.outcome = None

    def fail(self, error: str, outcome: Outcome = "failed") -> None:
        """Take why the call failed."""
        self.error, self.outcome = error, outcome

    def build(self, *, turn: int, index: int, complete: bool) -> ToolCall:
        """Give the call.

        Args:
            turn: The index of the reply.
            index: The position of the call among the reply's calls.
            complete: Whether the provider said that the reply is finished.
        """
        name = self.name
        args, raw = self._arguments(complete=complete or self.closed)
        outcome: Outcome = self.outcome or ("success" if self.error is None else "failed")
        if args is None or not name:
            outcome = "invalid"
        if outcome == "invalid" and raw is None:
            raw = written(args)
        return ToolCall(
            name,
            args if args is not None else {},
            response=self.response,
            error=self.error,
            id=self.id,
            turn=turn,
            index=index,
            raw_args=raw,
            kind=self.kind,
            outcome=outcome,
            metadata=self.metadata,
        )

    def _arguments(self, *, complete: bool) -> tuple[dict[str, Any] | None, str | None]:
        """Give the arguments, or None and what was written instead of them."""
        text = "".join(self._pieces)
        if self.text_argument is not None:
            return ({self.text_argument: text}, None) if complete else (None, text)
        if text.strip():
            args = parse_arguments(text)
            return args, text if args is None else None
        if self._value is not _NOTHING and not isinstance(self._value, Mapping):
            return None, written(self._value)
        if complete or (self._value is not _NOTHING and self._value):
            return dict(self._value) if self._value is not _NOTHING else {}, None
        return None, text


class Reply:
    """What a model said in one reply, or in one of its choices."""

    def __init__(self) -> None:
        self.text = Fragments()
        self.reasoning = Fragments()
        self.refusal = Fragments()
        self.finish_reason: str | None = None
        self._drafts: dict[int, CallDraft] = {}
        self._next = 0

    def has_call(self, position: int) -> bool:
        """Tell whether there is a call at a position."""
        return position in self._drafts

    @property
    def next_position(self) -> int:
        """The first position after all calls."""
        return self._next

    def call(self, position: int | None = None) -> CallDraft:
        """Give the call at a position, a new one where there is none; without a position, a new last one."""
        if position is None:
            position = self._next
        draft = self._drafts.get(position)
        if draft is None:
            draft = self._drafts[position] = CallDraft()
            self._next = max(self._next, position + 1)
        return draft

    def finish(self, reason: object) -> None:
        """Take the provider's reason for ending the reply; an empty one is none."""
        if isinstance(reason, str) and reason:
            self.finish_reason = reason

    def calls(self, *, turn: int, complete: bool) -> list[ToolCall]:
        """Give the calls in the order the model wrote them.

        Args:
            turn: The index of the reply.
            complete: Whether the reply is known to be finished, whatever its finish reason.
        """
        complete = (complete or self.finish_reason is not None) and self.finish_reason not in _BROKEN_OFF
        drafts = [self._drafts[position] for position in sorted(self._drafts)]
        cut = len(drafts) - 1 if self.finish_reason in _TOO_LONG else None
        return [
            draft.build(turn=turn, index=index, complete=complete and index != cut)
            for index, draft in enumerate(drafts)
        ]
