"""The smallest edit that makes calls fit an order pattern (Dijkstra over the pattern's states)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Any, Literal

from callsheet._order_base import DEAD, Atom, Example, State
from callsheet._order_pattern import Compiler, Pattern
from callsheet._order_run import after
from callsheet._order_states import Choice, choice, pruned
from callsheet._result import group_batches
from callsheet._values import ToolCall

# The sum of the sizes of the states followed; a few seconds at most.
_MOST_WORK = 250_000
# An edit outweighs any number of preferences among equally short scripts. Inserting comes last: where
# extras are allowed, a call that is there already could always be made once more.
_EDIT = 1 << 32
_PRICES = {"extra": _EDIT, "change": _EDIT, "later": _EDIT + 1, "together": _EDIT + 1, "missing": _EDIT + 2}


@dataclass(frozen=True)
class OrderEdit:
    """One edit to a run.

    Args:
        kind: "missing" (a call to insert), "extra" (one to leave out), "change" (one to replace by
            another of the same tool), "later" (one to ask for in a later reply than the call before
            it), or "together" (one to ask for in the same reply as the call before it).
        position: The position of the call; for a missing one, of the call it comes before.
        expected: What a missing or changed call should be.
    """

    kind: Literal["missing", "extra", "change", "later", "together"]
    position: int
    expected: Atom | None = None


@dataclass(frozen=True)
class _Node:
    """Where a search stands: the next call, whether a new batch begins there, and the state so far."""

    position: int
    at_boundary: bool
    state: State
    begun: bool


_Move = tuple[OrderEdit | None, _Node]


def smallest_edits(pattern: Pattern, calls: Sequence[ToolCall], *, extras: bool) -> list[OrderEdit] | None:
    """Give the fewest edits after which calls fit a pattern, or None when finding them takes too long.

    Args:
        pattern: The pattern.
        calls: The calls, in canonical order.
        extras: Whether calls that the pattern does not account for are allowed.
    """
    search = _Search(calls, extras=extras)
    start = _Node(0, at_boundary=True, state=Compiler(extras=extras).state(pattern), begun=False)
    order = count()
    queue = [(0, 0, next(order), start)]
    reached: dict[_Node, tuple[OrderEdit | None, _Node | None]] = {start: (None, None)}
    costs = {start: 0}
    settled: set[_Node] = set()
    while queue and search.work < _MOST_WORK:
        cost, _, _, node = heappop(queue)
        if node in settled:
            continue
        settled.add(node)
        if node.position == len(calls) and _may_end(node):
            return _path(node, reached)
        for edit, following in search.moves(node):
            price = cost + (0 if edit is None else _PRICES[edit.kind])
            if price < costs.get(following, price + 1):
                costs[following] = price
                reached[following] = (edit, node)
                heappush(queue, (price, -following.position, next(order), following))
    return None


class _Search:
    def __init__(self, calls: Sequence[ToolCall], *, extras: bool) -> None:
        self._calls = calls
        self._extras = extras
        starts = set()
        position = 0
        for batch in group_batches(calls):
            starts.add(position)
            position += len(batch)
        self._starts = starts
        self.work = 0

    def moves(self, node: _Node) -> Iterator[_Move]:
        position = node.position
        together = node.state if node.begun else DEAD
        apart = self._next_batch(node)
        if position < len(self._calls):
            yield from self._taking(node, together, apart)
            boundary = node.at_boundary or position in self._starts
            yield OrderEdit("extra", position), _Node(position + 1, boundary, node.state, node.begun)
        between = node.at_boundary or position in self._starts or position == len(self._calls)
        for state in (together, apart) if between else (together,):
            for atom in state.wanted():
                edit = OrderEdit("missing", position, atom)
                yield from self._given(edit, state, _example(atom), position, at_boundary=node.at_boundary)

    def _taking(self, node: _Node, together: State, apart: State) -> Iterator[_Move]:
        position = node.position
        call = self._calls[position]
        boundary = node.at_boundary or position in self._starts
        as_made, otherwise = (apart, together) if boundary else (together, apart)
        yield from self._given(None, as_made, call, position + 1)
        moved = OrderEdit("together" if boundary else "later", position)
        yield from self._given(moved, otherwise, call, position + 1)
        for atom in as_made.wanted():
            if atom.expected.name == call.name:
                edit = OrderEdit("change", position, atom)
                yield from self._given(edit, as_made, _example(atom), position + 1)

    def _given(
        self, edit: OrderEdit | None, state: State, call: Any, position: int, *, at_boundary: bool = False
    ) -> Iterator[_Move]:
        self._count(state)
        state = after(state.call(call), extras=self._extras)
        if state != DEAD:
            yield edit, _Node(position, at_boundary, state, begun=True)

    def _next_batch(self, node: _Node) -> State:
        self._count(node.state)
        state = (node.state.end() if node.begun else node.state).begin()
        return pruned(state) if self._extras else choice([state])

    def _count(self, state: State) -> None:
        # Every option is compared with every other, part by part.
        self.work += state.size * (len(state.options) if isinstance(state, Choice) else 1)


def _may_end(node: _Node) -> bool:
    return (node.state.end() if node.begun else node.state.begin()).done


def _example(atom: Atom) -> Example:
    return Example(atom.expected, atom.expected.example())


def _path(node: _Node | None, reached: dict[_Node, tuple[OrderEdit | None, _Node | None]]) -> list[OrderEdit]:
    edits = []
    while node is not None:
        edit, node = reached[node]
        if edit is not None:
            edits.append(edit)
    return edits[::-1]
