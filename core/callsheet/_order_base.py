"""The states an order pattern is made of: one call, a number of calls, and both ends.

A trajectory is a sequence of batches, each the calls of one model reply. A state is told when a batch
begins and ends, and is given each call. For every call it answers with the states it can be in when it
uses the call, when it leaves it as an extra, and when it leaves it but must not: some other part of the
pattern has to use it then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from callsheet._expected import Expected


class Use(Enum):
    """What a state did with a call."""

    USED = "used"
    FREE = "left, and may be an extra"
    BARRED = "left, and must not be an extra"


Steps = Mapping[Use, "State"]
Names = frozenset[str | None]
"""Tool names; None stands for names that only a matcher knows."""

NO_NAMES: Names = frozenset()


class State(ABC):
    """How far a part of a pattern has been met."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether the part is met if nothing else happens."""

    @abstractmethod
    def call(self, call: Any) -> Steps:
        """Give the states after a call, by what was done with it."""

    def begin(self) -> State:
        """Give the state when a batch begins."""
        return self

    def end(self) -> State:
        """Give the state when a batch has ended."""
        return self

    @property
    def size(self) -> int:
        """How much there is to follow, roughly."""
        return 1

    @property
    def monotone(self) -> bool:
        """Whether more batches around it can never undo a match."""
        return True

    @property
    def bars(self) -> Names:
        """The names of the tools whose calls it may bar."""
        return NO_NAMES

    @property
    @abstractmethod
    def names(self) -> Names:
        """The names of the tools whose calls it may use."""

    def ahead_of(self, other: State) -> bool:  # noqa: ARG002
        """Say whether it is surely met whenever a state of its own kind is, where extras are allowed."""
        return False

    def wanted(self) -> set[Atom]:
        """Give the calls it can use right now."""
        return set()


class Done(State):
    """Nothing left to do; whatever else happens is an extra."""

    done = True
    names = NO_NAMES

    def call(self, call: Any) -> Steps:  # noqa: ARG002
        """Leave the call."""
        return {Use.FREE: self}


class Dead(State):
    """No way to be met any more."""

    done = False
    names = NO_NAMES

    def call(self, call: Any) -> Steps:  # noqa: ARG002
        """Go nowhere."""
        return {}


DONE: State = Done()
DEAD: State = Dead()


@dataclass(frozen=True, eq=False)
class Atom(State):
    """One expected call."""

    expected: Expected

    done = False

    @property
    def names(self) -> Names:
        """The name of the call."""
        return frozenset({self.expected.name})

    def matches(self, call: Any) -> bool:
        """Say whether a call is the expected one."""
        return call.stands_for(self.expected) if isinstance(call, Example) else self.expected.matches(call)

    def wanted(self) -> set[Atom]:
        """Give the call itself."""
        return {self}

    def call(self, call: Any) -> Steps:
        """Use a matching call, or leave it."""
        return {Use.USED: DONE, Use.FREE: self} if self.matches(call) else {Use.FREE: self}


@dataclass(frozen=True)
class Example:
    """A call that a failure text proposes: it is what one expectation expects.

    Args:
        expected: The expectation.
        call: A call that meets it, as far as one can be written down.
    """

    expected: Expected
    call: Any

    def stands_for(self, expected: Expected) -> bool:
        """Say whether this proposed call meets an expectation."""
        return expected is self.expected or (self.call is not None and expected.matches(self.call))


@dataclass(frozen=True)
class Count(State):
    """Between `least` and `most` more calls of one kind, in whatever batches."""

    atom: Atom
    least: int
    most: int | None

    @property
    def done(self) -> bool:
        """Whether there were enough."""
        return self.least <= 0

    @property
    def monotone(self) -> bool:
        """Whether there can't be too many."""
        return self.most is None

    @property
    def bars(self) -> Names:
        """The name of the call, when there can be too many."""
        return self.names if self.most is not None else NO_NAMES

    @property
    def names(self) -> Names:
        """The name of the call."""
        return self.atom.names

    def wanted(self) -> set[Atom]:
        """Give the call, unless there were enough."""
        return set() if self.most == 0 else {self.atom}

    def call(self, call: Any) -> Steps:
        """Count a matching call; one more than `most` is not an extra."""
        if not self.atom.matches(call):
            return {Use.FREE: self}
        if self.most is None:
            return {Use.USED: Count(self.atom, max(0, self.least - 1), None), Use.FREE: self}
        if self.most == 0:
            return {Use.BARRED: self}
        return {Use.USED: Count(self.atom, max(0, self.least - 1), self.most - 1), Use.BARRED: self}

    def ahead_of(self, other: State) -> bool:
        """Say whether it needs fewer calls of the same kind."""
        return isinstance(other, Count) and self.atom is other.atom and self.least <= other.least
