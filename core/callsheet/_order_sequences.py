"""States of the order patterns that speak about time: one after the other, and all in one batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from callsheet._order_base import DEAD, DONE, Atom, Names, State, Steps, Use
from callsheet._order_states import choice, covers, fold


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a sequence.

    Args:
        items: The states the parts start in.
        gaps: Which of them use no call and only rule calls out: those hold wherever their neighbours
            are not at work.
        immediate: Whether each part has to be met in the batch right after the one before it.
    """

    items: tuple[State, ...]
    gaps: tuple[bool, ...]
    immediate: bool

    def following(self, position: int) -> Iterator[int]:
        """Give the parts that may be next: the one after a position, and on past those that need nothing."""
        for following in range(position + 1, len(self.items)):
            yield following
            if not self.items[following].done:
                return

    def ends_promptly(self, position: int, following: int) -> bool:
        """Say whether a part has to be left right after a batch in which it used a call."""
        at_work = position >= 0 and not self.gaps[position]
        return at_work and (self.immediate or any(self.gaps[position + 1 : following + 1]))

    def starts_promptly(self, position: int, following: int) -> bool:
        """Say whether a part has to use a call in the first batch it sees."""
        if self.gaps[following]:
            return False
        return (self.immediate and position >= 0) or any(self.gaps[max(0, position) : following])

    @cached_property
    def watched(self) -> bool:
        """Whether it matters in which batches calls are used."""
        return self.immediate or any(self.gaps)

    @cached_property
    def optional_from(self) -> int:
        """The first position from which on no part needs anything."""
        position = len(self.items)
        while position > 0 and self.items[position - 1].done:
            position -= 1
        return position

    @cached_property
    def last_gap(self) -> int:
        """The position of the last part that only rules calls out, or -1."""
        return max((position for position, gap in enumerate(self.gaps) if gap), default=-1)

    @cached_property
    def monotone(self) -> bool:
        """Whether all parts are."""
        return all(item.monotone for item in self.items)

    @cached_property
    def bars(self) -> Names:
        """What any part bars."""
        return frozenset[str | None]().union(*(item.bars for item in self.items))

    @cached_property
    def names(self) -> Names:
        """What any part uses."""
        return frozenset[str | None]().union(*(item.names for item in self.items))


@dataclass(frozen=True)
class Sequence(State):
    """Parts one after the other, each in later batches than the one before.

    Args:
        parts: The parts.
        position: The part at work; -1 before the first batch.
        head: The state of the part at work.
        touched: Whether it used a call in the batch at hand, or just ended.
        fresh: Whether it has to use one there.
    """

    parts: Parts
    position: int
    head: State
    touched: bool = False
    fresh: bool = False

    @property
    def done(self) -> bool:
        """Whether the part at work is met, and no later one needs anything."""
        if not self.head.done or self.position + 1 < self.parts.optional_from:
            return False
        at_work = self.position >= 0 and not self.parts.gaps[self.position]
        return self.touched or not at_work or self.parts.last_gap <= self.position

    @property
    def size(self) -> int:
        """That of the part at work."""
        return 1 + self.head.size

    @property
    def monotone(self) -> bool:
        """Whether all parts are."""
        return self.parts.monotone

    @property
    def bars(self) -> Names:
        """What any part bars."""
        return self.parts.bars

    @property
    def names(self) -> Names:
        """What any part uses."""
        return self.parts.names

    def wanted(self) -> set[Atom]:
        """Give what the part at work can use."""
        return self.head.wanted()

    def call(self, call: Any) -> Steps:
        """Give the call to the part at work."""
        return fold(
            (use, replace(self, head=after, touched=self._touches(use)))
            for use, after in self.head.call(call).items()
        )

    def begin(self) -> State:
        """Stay with the part at work, or go on to one that may be next."""
        options: list[State] = []
        if self.position >= 0:
            options.append(self._at(self.position, self.head.begin(), fresh=False))
        if self.head.done:
            options += [
                self._at(following, self.parts.items[following].begin(), fresh=fresh)
                for following, fresh in self._next()
            ]
        return choice(options)

    def end(self) -> State:
        """End the batch in the part at work, which may have had to use a call of it."""
        head = self.head.end()
        if head == DEAD or (self.fresh and not self.touched):
            return DEAD
        return replace(self, head=head, fresh=False)

    def ahead_of(self, other: State) -> bool:
        """Say whether the same sequence is further on."""
        if not isinstance(other, Sequence) or self.parts is not other.parts:
            return False
        if self.position == other.position:
            if self.touched < other.touched or self.fresh > other.fresh:
                return False
            if self.parts.watched and self.position + 1 < len(self.parts.items):
                return self.head == other.head  # one that is met can't use a later call to go on from
            return covers(self.head, other.head)
        return self.position > other.position and self.parts.monotone and not self.parts.watched

    def _touches(self, use: Use) -> bool:
        return self.parts.watched and (self.touched or use is Use.USED)

    def _next(self) -> Iterator[tuple[int, bool]]:
        for following in self.parts.following(self.position):
            if self.touched or not self.parts.ends_promptly(self.position, following):
                yield following, self.parts.starts_promptly(self.position, following)

    def _at(self, position: int, head: State, *, fresh: bool) -> State:
        return DEAD if head == DEAD else Sequence(self.parts, position, head, fresh=fresh)


@dataclass(frozen=True)
class Loop(State):
    """A part any number of times, one after the other."""

    part: State
    head: State

    @property
    def size(self) -> int:
        """That of the repetition at work."""
        return 1 + self.head.size

    @property
    def done(self) -> bool:
        """Whether no repetition is half-way."""
        return self.head.done

    @property
    def names(self) -> Names:
        """What the part uses."""
        return self.part.names

    def wanted(self) -> set[Atom]:
        """Give what the repetition at work can use."""
        return self.head.wanted()

    def call(self, call: Any) -> Steps:
        """Give the call to the repetition at work."""
        return fold((use, Loop(self.part, after)) for use, after in self.head.call(call).items())

    def begin(self) -> State:
        """Stay with the repetition at work, or begin another."""
        heads = [self.head.begin(), *([self.part.begin()] if self.head.done else [])]
        return choice(Loop(self.part, head) for head in heads if head != DEAD)

    def end(self) -> State:
        """End the batch in the repetition at work."""
        head = self.head.end()
        return DEAD if head == DEAD else Loop(self.part, head)


@dataclass(frozen=True)
class _OneBatch(State):
    """Parts to be met in one batch."""

    inner: State

    @property
    def done(self) -> bool:
        """Whether the parts need nothing more."""
        return self.inner.done

    @property
    def bars(self) -> Names:
        """What the parts bar."""
        return self.inner.bars

    @property
    def names(self) -> Names:
        """What the parts use."""
        return self.inner.names


@dataclass(frozen=True)
class Waiting(_OneBatch):
    """The batch has yet to come."""

    def call(self, call: Any) -> Steps:  # noqa: ARG002
        """Leave a call of another batch."""
        return {Use.FREE: self}

    def begin(self) -> State:
        """Take this batch, or wait for another."""
        inner = self.inner.begin()
        return self if inner == DEAD else choice([self, Open(inner)])


@dataclass(frozen=True)
class Open(_OneBatch):
    """The batch is at hand."""

    @property
    def size(self) -> int:
        """That of the parts."""
        return self.inner.size

    def wanted(self) -> set[Atom]:
        """Give what the parts can use."""
        return self.inner.wanted()

    def call(self, call: Any) -> Steps:
        """Give the call to the parts."""
        return fold((use, Open(after)) for use, after in self.inner.call(call).items())

    def end(self) -> State:
        """Close: the parts are met now or never."""
        return DONE if self.inner.done else DEAD

    def ahead_of(self, other: State) -> bool:
        """Say whether the parts are surely met whenever the other's are."""
        return isinstance(other, Open) and covers(self.inner, other.inner)
