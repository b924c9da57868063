"""What every order pattern can do, how it becomes a state, and the patterns that `&` and `|` make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from callsheet._equality import equal
from callsheet._expected import Expected, expected_call
from callsheet._order_base import Atom, State
from callsheet._order_states import both, choice, negated


class Compiler:
    """Turns patterns and calls into states.

    Args:
        extras: Whether calls that no part uses are allowed.
        atoms: The calls met so far, shared with nested compilers: equal calls are one atom, so that
            states that only differ in which of them is next are one state.
    """

    def __init__(self, *, extras: bool, atoms: dict[Any, Atom] | None = None) -> None:
        self.extras = extras
        self.atoms: dict[Any, Atom] = {} if atoms is None else atoms

    def state(self, item: Any) -> State:
        """Give the state in which a pattern or a call has yet to be met."""
        return item.compile(self) if isinstance(item, Pattern) else self.atom(item)

    def atom(self, item: Any) -> Atom:
        """Give the state in which a call has yet to be made."""
        expected = expected_call(item)
        key = expected.key()
        if key is None:
            key = id(item)  # the pattern keeps the item alive, so nothing else gets its id
        return self.atoms.setdefault(key, Atom(expected))

    def never(self, item: Any) -> State:
        """Give the state in which a pattern or a call must not be met, whatever is around it."""
        return negated(Compiler(extras=True, atoms=self.atoms).state(item))


class Pattern(ABC):
    """The base of all order patterns; they combine with `&`, `|` and `~`."""

    __module__ = "callsheet.order"

    @property
    @abstractmethod
    def items(self) -> tuple[Any, ...]:
        """The patterns and calls inside."""

    @abstractmethod
    def compile(self, compiler: Compiler) -> State:
        """Give the state in which the pattern has yet to be met."""

    def calls(self) -> Iterator[Expected]:
        """Give every call the pattern speaks of."""
        for item in self.items:
            if isinstance(item, Pattern):
                yield from item.calls()
            else:
                yield expected_call(item)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and equal(vars(self), vars(other))

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Any) -> Pattern:
        return BothOf(self, other)

    def __rand__(self, other: Any) -> Pattern:
        return BothOf(other, self)

    def __or__(self, other: Any) -> Pattern:
        return EitherOf(self, other)

    def __ror__(self, other: Any) -> Pattern:
        return EitherOf(other, self)

    def __invert__(self) -> Pattern:
        from callsheet.order import Never

        return Never(self)


class BothOf(Pattern):
    """What `&` makes: both patterns are met; they may share calls."""

    def __init__(self, left: Any, right: Any) -> None:
        self.left = left
        self.right = right

    @property
    def items(self) -> tuple[Any, ...]:
        """Both sides."""
        return (self.left, self.right)

    def compile(self, compiler: Compiler) -> State:
        """Follow both patterns at once."""
        return both(compiler.state(self.left), compiler.state(self.right))

    def __repr__(self) -> str:
        return f"{_operand(self.left, EitherOf)} & {_operand(self.right, EitherOf, BothOf)}"


class EitherOf(Pattern):
    """What `|` makes: one of the patterns is met."""

    def __init__(self, left: Any, right: Any) -> None:
        self.left = left
        self.right = right

    @property
    def items(self) -> tuple[Any, ...]:
        """Both sides."""
        return (self.left, self.right)

    def compile(self, compiler: Compiler) -> State:
        """Follow either pattern."""
        return choice([compiler.state(self.left), compiler.state(self.right)])

    def __repr__(self) -> str:
        return f"{self.left!r} | {_operand(self.right, EitherOf)}"


def _operand(value: Any, *looser: type[Pattern]) -> str:
    return f"({value!r})" if isinstance(value, looser) else repr(value)
