"""Grids of the real bodies that ran, by kind of agent or tool and way to run it: all zeros if all is well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any


class Grid:
    """What the tests of a module counted, printed when they are over.

    Args:
        title: What is counted.
        rows: The names of the rows.
        columns: The names of the columns.
        can_be: Says whether a cell can be; one that can not has a dash.
    """

    def __init__(
        self,
        title: str,
        rows: Sequence[str],
        columns: Sequence[str],
        can_be: Callable[[str, str], bool] = lambda row, column: True,
    ) -> None:
        self._title = title
        self._rows = rows
        self._columns = columns
        self._can_be = can_be
        self._hits: Counter[tuple[str, str]] = Counter()
        self._tried: set[tuple[str, str]] = set()

    def note(self, row: str, column: str, hits: int) -> None:
        """Add the bodies that ran in a cell."""
        self._tried.add((row, column))
        self._hits[row, column] += hits

    def print_to(self, config: Any) -> None:
        """Print the grid past pytest's capturing: captured output of a passing test is never shown."""
        wide = max(map(len, self._rows)) + 2
        widths = [max(len(column), 5) + 2 for column in self._columns]
        with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            out = config.get_terminal_writer()
            out.line(f"\n\n{self._title} (- can not be):\n")
            out.line("".ljust(wide) + _aligned(self._columns, widths))
            for row in self._rows:
                cells = [self._cell(row, column) for column in self._columns]
                out.line(row.ljust(wide) + _aligned(cells, widths))

    def _cell(self, row: str, column: str) -> str:
        if not self._can_be(row, column):
            return "-"
        return str(self._hits[row, column]) if (row, column) in self._tried else ""


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
