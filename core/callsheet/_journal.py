"""What sessions did during a test, for whoever reports on the test.

Holds values, never a session: a session that someone keeps alive keeps its patches in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callsheet._errors import Violation
    from callsheet._result import AgentResult
    from callsheet._violations import Violations


@dataclass
class Journal:
    """The finished sessions of one test.

    Args:
        results: One per session, in order of closing.
        refused: How many calls were refused.
        unheard: Violations that were raised where nobody listens: in a stream left to the garbage collector.
    """

    results: list[AgentResult] = field(default_factory=list)
    refused: int = 0
    unheard: list[Violation] = field(default_factory=list)

    def note(self, result: AgentResult, violations: Violations, error: BaseException | None) -> None:
        """Note a session that ends; `error` is the exception on its way out of it."""
        self.results.append(replace(result, native=None))
        self.refused += violations.refused
        if isinstance(error, GeneratorExit):
            self.unheard.extend(violations.all)


# The journal that is being kept now, or None when nobody reports.
current: Journal | None = None


@contextmanager
def kept() -> Iterator[Journal]:
    """Keep a journal of what happens inside; the one kept around it goes on afterwards."""
    global current
    around, current = current, Journal()
    try:
        yield current
    finally:
        current = around
