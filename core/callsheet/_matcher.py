"""What every matcher can do, and the matchers that `&`, `|` and `~` make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from callsheet._equality import decides_equality, equal
from callsheet._order_pattern import Pattern
from callsheet._values import ToolCall


class Matcher(ABC):
    """The base of all matchers; subclass it and say what `accepts` accepts to write one's own."""

    __module__ = "callsheet.match"

    @abstractmethod
    def accepts(self, actual: Any) -> bool:
        """Say whether this matcher accepts a value."""

    @abstractmethod
    def __repr__(self) -> str: ...

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Matcher):
            return type(self) is type(other) and equal(vars(self), vars(other))
        return self.accepts(other)

    def example(self) -> ToolCall | None:
        """Give a tool call the matcher accepts, where one can be written down, for failure texts."""
        return None

    def mentioned_tools(self) -> list[Any]:
        """Give the names, or matchers for names, of the tools it speaks of.

        An assertion refuses those that the agent does not have.
        """
        return []

    def not_a_call(self) -> Any:
        """Give the part of it that no tool call can equal, or None.

        Where a call is expected, such a part would never match, and under `Never` always pass.
        """
        return None

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Any) -> Matcher:
        return NotImplemented if isinstance(other, Pattern) else AllOf(self, other)

    def __rand__(self, other: Any) -> Matcher:
        return AllOf(other, self)

    def __or__(self, other: Any) -> Matcher:
        return NotImplemented if isinstance(other, Pattern) else AnyOf(self, other)

    def __ror__(self, other: Any) -> Matcher:
        return AnyOf(other, self)

    def __invert__(self) -> Matcher:
        return Not(self)


class AllOf(Matcher):
    """Accepts what both sides of `&` accept."""

    def __init__(self, left: Any, right: Any) -> None:
        self.left = left
        self.right = right

    def accepts(self, actual: Any) -> bool:
        """Say whether both sides accept a value."""
        return equal(self.left, actual) and equal(self.right, actual)

    def mentioned_tools(self) -> list[Any]:
        """Give the tools that either side speaks of."""
        return _mentioned_in(self.left) + _mentioned_in(self.right)

    def not_a_call(self) -> Any:
        """Give the part of either side that no call can equal."""
        return first_not_a_call(self.left, self.right)

    @property
    def tool_name(self) -> Any:
        """The tool name either side asks for, if one does."""
        return getattr(self.left, "tool_name", None) or getattr(self.right, "tool_name", None)

    def __repr__(self) -> str:
        return f"{_operand(self.left, AnyOf)} & {_operand(self.right, AnyOf, AllOf)}"


class AnyOf(Matcher):
    """Accepts what one side of `|` accepts."""

    def __init__(self, left: Any, right: Any) -> None:
        self.left = left
        self.right = right

    def accepts(self, actual: Any) -> bool:
        """Say whether either side accepts a value."""
        return equal(self.left, actual) or equal(self.right, actual)

    def mentioned_tools(self) -> list[Any]:
        """Give the tools that either side speaks of."""
        return _mentioned_in(self.left) + _mentioned_in(self.right)

    def not_a_call(self) -> Any:
        """Give the part of either side that no call can equal."""
        return first_not_a_call(self.left, self.right)

    def __repr__(self) -> str:
        return f"{self.left!r} | {_operand(self.right, AnyOf)}"


class Not(Matcher):
    """Accepts what the matcher under `~` does not."""

    def __init__(self, inner: Matcher) -> None:
        self.inner = inner

    def accepts(self, actual: Any) -> bool:
        """Say whether the inner matcher refuses a value."""
        return not equal(self.inner, actual)

    def mentioned_tools(self) -> list[Any]:
        """Give the tools that the inner matcher speaks of."""
        return _mentioned_in(self.inner)

    def not_a_call(self) -> Any:
        """Give the part of the inner matcher that no call can equal."""
        return first_not_a_call(self.inner)

    def __repr__(self) -> str:
        return f"~{_operand(self.inner, AnyOf, AllOf)}"


def first_not_a_call(*parts: Any) -> Any:
    """Give the first of these parts that no tool call can equal, or None; other libraries' are not known."""
    for part in parts:
        if isinstance(part, Matcher):
            inner = part.not_a_call()
        else:
            inner = None if isinstance(part, ToolCall) or decides_equality(part) else part
        if inner is not None:
            return inner
    return None


def _mentioned_in(matcher: Any) -> list[Any]:
    return matcher.mentioned_tools() if isinstance(matcher, Matcher) else []


def _operand(value: Any, *looser: type[Matcher]) -> str:
    return f"({value!r})" if isinstance(value, looser) else repr(value)
