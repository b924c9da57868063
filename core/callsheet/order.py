"""Order patterns: which calls come before, after, next to or beside which, and how often.

A pattern speaks about the batches of a run: a batch is the calls of one model reply, made in parallel,
and a call comes after another when it is in a later batch. The same two calls in one reply and in two
are therefore different things. An item of a pattern is a tool name, a `{"name", "args"}` dict, a
`ToolCall`, a matcher, or another pattern. Patterns combine with `&`, `|` and `~`.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any, Literal

from callsheet._errors import ExpectationError
from callsheet._expected import expected_call
from callsheet._order_base import DONE, Count, State
from callsheet._order_pattern import Compiler, Pattern
from callsheet._order_sequences import Loop, Parts, Sequence, Waiting
from callsheet._order_states import choice, pruned, shuffle
from callsheet._showing import shown

__all__ = [
    "AnyOrder",
    "Before",
    "Immediately",
    "InOrder",
    "Never",
    "Optional",
    "Parallel",
    "Pattern",
    "Times",
    "assert_calls",
]


class _Group(Pattern):
    def __init__(self, *items: Any) -> None:
        if not items:
            raise ExpectationError(f"{type(self).__name__}() is empty; give it the calls it is about.")
        for item in items:
            if not isinstance(item, Pattern):
                expected_call(item)  # refuses a malformed one where it is written
        self._items = items

    @property
    def items(self) -> tuple[Any, ...]:
        """The patterns and calls inside."""
        return self._items

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._items))})"


class InOrder(_Group):
    """One after the other, each in a later batch than the one before.

    `Never` inside holds for everything between its neighbours: `InOrder("lock", Never("write"), "check")`.
    """

    def compile(self, compiler: Compiler) -> State:
        """Meet the first item, then the second in later batches, and so on."""
        return _sequence([compiler.state(item) for item in self._items])


class AnyOrder(_Group):
    """All of them, in any order and any batches; each call counts for one item only."""

    def compile(self, compiler: Compiler) -> State:
        """Meet all items at once."""
        return shuffle(compiler.state(item) for item in self._items)


class Parallel(_Group):
    """All of them in one batch."""

    def compile(self, compiler: Compiler) -> State:
        """Wait for a batch that has them all."""
        return Waiting(shuffle(compiler.state(item) for item in self._items))


class Immediately(_Group):
    """One after the other, each in the batch right after the one before."""

    def compile(self, compiler: Compiler) -> State:
        """Meet each item in the batch after the one that met the item before."""
        return _sequence([compiler.state(item) for item in self._items], immediate=True)


class Before(_Group):
    """Both happen, and the second not until the first has: there is none in an earlier or the same batch.

    Args:
        first: A call or a pattern.
        second: A call or a pattern.
    """

    def __init__(self, first: Any, second: Any) -> None:
        super().__init__(first, second)

    def compile(self, compiler: Compiler) -> State:
        """Meet the first while the second is ruled out, then the second."""
        first, second = self._items
        guarded = shuffle([compiler.state(first), compiler.never(second)])
        return _sequence([guarded, compiler.state(second)])


class Optional(_Group):
    """The item, or nothing; it matters where extras are forbidden.

    Args:
        item: A call or a pattern.
    """

    def __init__(self, item: Any) -> None:
        super().__init__(item)

    def compile(self, compiler: Compiler) -> State:
        """Meet the item or need nothing."""
        return choice([compiler.state(self._items[0]), DONE])


class Never(_Group):
    """The item does not happen: inside `InOrder`, between its neighbours; elsewhere, anywhere.

    Args:
        item: A call or a pattern.
    """

    def __init__(self, item: Any) -> None:
        super().__init__(item)

    def compile(self, compiler: Compiler) -> State:
        """Rule the item out."""
        return compiler.never(self._items[0])


class Times(_Group):
    """The item from `min` to `max` times, in whatever batches; a pattern, one time after the other.

    Too many are too many even where extras are allowed.

    Args:
        item: A call or a pattern.
        min: The fewest times.
        max: The most times; as many as `min` when left out, any number when None.

    Raises:
        ExpectationError: The numbers can't be counts.
    """

    def __init__(self, item: Any, min: int, max: int | EllipsisType | None = ...) -> None:
        super().__init__(item)
        self.min = min
        self.max = min if isinstance(max, EllipsisType) else max
        counts = [count for count in (self.min, self.max) if count is not None]
        if not all(map(_is_count, counts)) or counts != sorted(counts):
            raise ExpectationError(f"Times() wants 0 <= min <= max, not {self.min!r} and {self.max!r}.")

    def compile(self, compiler: Compiler) -> State:
        """Count calls, or repeat a pattern."""
        item = self._items[0]
        if self.max == 0:
            return compiler.never(item)
        if not isinstance(item, Pattern):
            return Count(compiler.atom(item), self.min, self.max)
        state = compiler.state(item)
        needed = [state] * self.min
        if not compiler.extras:
            maybe = choice([state, DONE])
            more = [Loop(state, DONE)] if self.max is None else [maybe] * (self.max - self.min)
            return _sequence([*needed, *more])
        if self.max is None:
            return _sequence(needed)
        too_many = InOrder(*[item] * (self.max + 1))
        return shuffle([_sequence(needed), compiler.never(too_many)])

    def __repr__(self) -> str:
        counts = f"{self.min}" if self.min == self.max else f"{self.min}, {self.max}"
        return f"Times({self._items[0]!r}, {counts})"


def assert_calls(
    result: Any, pattern: Any, *, extras: Literal["allow", "forbid"] = "allow", strict: bool = False
) -> None:
    """Assert that the tool calls of a run fit an order pattern.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        pattern: A pattern of this module, or a single call.
        extras: Whether calls that the pattern does not account for are allowed.
        strict: Whether a pattern that an empty trajectory meets, in which nothing happened at all, fails
            there instead of warning.

    Raises:
        AssertionError: They do not fit; the message leads with the smallest edit that would make them.
        ExpectationError: The pattern is malformed or names a tool the agent does not have.
    """
    __tracebackhide__ = True
    from callsheet._checks import check_mentioned_tools, report_vacuous, warn_if_vacuous
    from callsheet._order_run import fits
    from callsheet._subject import calls_of

    if extras not in ("allow", "forbid"):
        raise ExpectationError(f"extras is 'allow' or 'forbid', not {extras!r}.")
    calls = calls_of(result)
    whole = pattern if isinstance(pattern, Pattern) else AnyOrder(pattern)
    check_mentioned_tools(result, whole.calls())
    if not fits(whole, calls, extras=extras == "allow"):
        from callsheet._order_failures import order_failure

        raise AssertionError(order_failure(whole, calls, extras=extras == "allow"))
    if extras == "allow" and pruned(Compiler(extras=True).state(whole)) == DONE:
        report_vacuous(f"assert_calls(result, {shown(pattern)}) passes whatever happens.", strict=strict)
    elif not calls:
        warn_if_vacuous(result, f"assert_calls(result, {shown(pattern)})", strict=strict)


def _sequence(states: list[State], *, immediate: bool = False) -> State:
    items: list[State] = []
    gaps: list[bool] = []
    for state in states:
        gap = not state.names
        if gap and gaps and gaps[-1]:
            items[-1] = shuffle([items[-1], state])
        elif state != DONE:
            items.append(state)
            gaps.append(gap)
    if not items[1:]:
        return shuffle(items)
    return Sequence(Parts(tuple(items), tuple(gaps), immediate), -1, DONE)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
