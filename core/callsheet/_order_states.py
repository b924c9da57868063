"""States made of other states, and how they combine.

Choices are kept as one state, so that running a pattern never backtracks; where extras are allowed,
options that another one makes needless are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from callsheet._order_base import DEAD, DONE, NO_NAMES, Atom, Names, State, Steps, Use


@dataclass(frozen=True)
class Choice(State):
    """Any one of several states."""

    options: frozenset[State]

    @property
    def done(self) -> bool:
        """Whether one option is met."""
        return any(option.done for option in self.options)

    @property
    def size(self) -> int:
        """The options together."""
        return sum(option.size for option in self.options)

    @property
    def monotone(self) -> bool:
        """Whether all options are."""
        return all(option.monotone for option in self.options)

    @property
    def bars(self) -> Names:
        """What any option bars."""
        return NO_NAMES.union(*(option.bars for option in self.options))

    @property
    def names(self) -> Names:
        """What any option uses."""
        return NO_NAMES.union(*(option.names for option in self.options))

    def wanted(self) -> set[Atom]:
        """Give what any option can use."""
        return {atom for option in self.options for atom in option.wanted()}

    def call(self, call: Any) -> Steps:
        """Go on with every option."""
        return fold((use, state) for option in self.options for use, state in option.call(call).items())

    def begin(self) -> State:
        """Begin a batch in every option."""
        return choice(option.begin() for option in self.options)

    def end(self) -> State:
        """End a batch in every option."""
        return choice(option.end() for option in self.options)


@dataclass(frozen=True)
class Shuffle(State):
    """Several parts at once, in any order; a call is used by at most one of them."""

    parts: frozenset[tuple[State, int]]

    @property
    def done(self) -> bool:
        """Whether all parts are met."""
        return all(part.done for part, _ in self.parts)

    @property
    def size(self) -> int:
        """The parts together, as often as they take turns."""
        return 1 + len(self.parts) * sum(part.size for part, _ in self.parts)

    @property
    def monotone(self) -> bool:
        """Whether all parts are."""
        return all(part.monotone for part, _ in self.parts)

    @property
    def bars(self) -> Names:
        """What any part bars."""
        return NO_NAMES.union(*(part.bars for part, _ in self.parts))

    @property
    def names(self) -> Names:
        """What any part uses."""
        return NO_NAMES.union(*(part.names for part, _ in self.parts))

    def wanted(self) -> set[Atom]:
        """Give what any part can use."""
        return {atom for part, _ in self.parts for atom in part.wanted()}

    def call(self, call: Any) -> Steps:
        """Let one part use the call, or none."""
        ways: list[tuple[Use, list[State]]] = [(Use.FREE, [])]
        for part in self.each():
            ways = [
                (together, [*states, after])
                for use, states in ways
                for way, after in part.call(call).items()
                if (together := _shared(use, way)) is not None
            ]
        return fold((use, shuffle(states)) for use, states in ways)

    def begin(self) -> State:
        """Begin a batch in every part."""
        return shuffle(part.begin() for part in self.each())

    def end(self) -> State:
        """End a batch in every part."""
        return shuffle(part.end() for part in self.each())

    def each(self) -> list[State]:
        """Give the parts, repeats as often as they are wanted."""
        return [part for part, times in self.parts for _ in range(times)]


@dataclass(frozen=True)
class Both(State):
    """Two parts at once; one call may be used by both."""

    left: State
    right: State

    @property
    def done(self) -> bool:
        """Whether both parts are met."""
        return self.left.done and self.right.done

    @property
    def size(self) -> int:
        """The product of both parts."""
        return self.left.size * self.right.size

    @property
    def monotone(self) -> bool:
        """Whether both parts are."""
        return self.left.monotone and self.right.monotone

    @property
    def bars(self) -> Names:
        """What either part bars."""
        return self.left.bars | self.right.bars

    @property
    def names(self) -> Names:
        """What either part uses."""
        return self.left.names | self.right.names

    def wanted(self) -> set[Atom]:
        """Give what either part can use."""
        return self.left.wanted() | self.right.wanted()

    def call(self, call: Any) -> Steps:
        """Let both parts see the call."""
        return fold(
            (_joint(use, other), both(left, right))
            for use, left in self.left.call(call).items()
            for other, right in self.right.call(call).items()
        )

    def ahead_of(self, other: State) -> bool:
        """Say whether both parts are surely met whenever the other's are."""
        return isinstance(other, Both) and covers(self.left, other.left) and covers(self.right, other.right)

    def begin(self) -> State:
        """Begin a batch in both parts."""
        return both(self.left.begin(), self.right.begin())

    def end(self) -> State:
        """End a batch in both parts."""
        return both(self.left.end(), self.right.end())


@dataclass(frozen=True)
class Not(State):
    """A part that must not be met, other calls being allowed around it; it uses no call itself."""

    inner: State

    monotone = False
    names = NO_NAMES

    @property
    def size(self) -> int:
        """That of the part."""
        return 1 + self.inner.size

    @property
    def done(self) -> bool:
        """Whether the part is not met."""
        return not self.inner.done

    def call(self, call: Any) -> Steps:
        """Follow every way in which the part could be met."""
        return fold([(Use.FREE, negated(allowed(self.inner.call(call))))])

    def begin(self) -> State:
        """Begin a batch in the part."""
        return negated(self.inner.begin())

    def end(self) -> State:
        """End a batch in the part."""
        return negated(self.inner.end())


def choice(states: Iterable[State]) -> State:
    """Give the state of being in any of several states."""
    options: set[State] = set()
    for state in states:
        options |= state.options if isinstance(state, Choice) else {state}
    options.discard(DEAD)
    if not options:
        return DEAD
    return options.pop() if len(options) == 1 else Choice(frozenset(options))


def shuffle(states: Iterable[State]) -> State:
    """Give the state of being in several states at once, each with its own calls."""
    parts: Counter[State] = Counter()
    for state in states:
        if state == DEAD:
            return DEAD
        if isinstance(state, Shuffle):
            parts.update(dict(state.parts))
        elif state != DONE:
            parts[state] += 1
    if not parts:
        return DONE
    if parts.total() == 1:
        return next(iter(parts))
    return Shuffle(frozenset(parts.items()))


def both(left: State, right: State) -> State:
    """Give the state of being in two states at once, on the same calls."""
    return DEAD if DEAD in (left, right) else Both(left, right)


def negated(inner: State) -> State:
    """Give the state in which a part must not be met."""
    inner = pruned(inner)
    return DEAD if inner == DONE else Not(inner)


def fold(ways: Iterable[tuple[Use, State]]) -> Steps:
    """Join the ways a call can be taken by what was done with it; dead ends are left out."""
    grouped: dict[Use, list[State]] = {}
    for use, state in ways:
        if state != DEAD:
            grouped.setdefault(use, []).append(state)
    return {use: choice(states) for use, states in grouped.items()}


def allowed(steps: Steps) -> State:
    """Give the state after a call when extras are allowed."""
    return pruned(choice(steps[use] for use in (Use.USED, Use.FREE) if use in steps))


def pruned(state: State) -> State:
    """Leave out options that another option makes needless, where extras are allowed.

    Without this, every call a pattern could use but need not doubles the options.
    """
    if not isinstance(state, Choice):
        return state
    kept: list[State] = []
    for option in state.options:
        if not any(covers(other, option) for other in kept):
            kept = [*(other for other in kept if not covers(option, other)), option]
    return choice(kept)


def covers(one: State, other: State) -> bool:
    """Say whether `one` is surely met whenever `other` is, where extras are allowed."""
    if one == other:
        return True
    if isinstance(other, Choice):
        return all(covers(one, option) for option in other.options)
    if isinstance(one, Choice):
        return any(covers(option, other) for option in one.options)
    if one == DONE or isinstance(one, Shuffle) or isinstance(other, Shuffle):
        return _covers_parts(one, other)
    if other.bars:
        return False
    return type(one) is type(other) and one.ahead_of(other)


def _covers_parts(one: State, other: State) -> bool:
    ones, others = Counter(_parts(one)), Counter(_parts(other))
    ahead, behind = ones - others, list((others - ones).elements())
    differing = [*ahead, *behind]
    # A call that only `other` uses must be free to be an extra of `one`.
    barred = one.bars | other.bars
    used = NO_NAMES.union(*(part.names for part in differing))
    if barred and (None in barred | used or barred & used):
        return False
    for part in ahead.elements():
        covered = next((each for each in behind if covers(part, each)), None)
        if covered is None:
            return False
        behind.remove(covered)
    return True


def _parts(state: State) -> list[State]:
    if isinstance(state, Shuffle):
        return state.each()
    return [] if state == DONE else [state]


def _shared(use: Use, way: Use) -> Use | None:
    """Join what two parts did with a call that only one may use."""
    return None if use is way is Use.USED else _joint(use, way)


def _joint(use: Use, way: Use) -> Use:
    for strongest in (Use.USED, Use.BARRED):
        if strongest in (use, way):
            return strongest
    return Use.FREE
