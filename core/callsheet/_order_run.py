"""Whether the calls of a run fit an order pattern."""

from __future__ import annotations

from collections.abc import Sequence

from callsheet._matching import match_one_to_one
from callsheet._order_base import DEAD, State, Steps, Use
from callsheet._order_pattern import Compiler, Pattern
from callsheet._order_states import allowed
from callsheet._result import group_batches
from callsheet._values import ToolCall


def fits(pattern: Pattern, calls: Sequence[ToolCall], *, extras: bool) -> bool:
    """Say whether calls fit a pattern.

    Args:
        pattern: The pattern.
        calls: The calls, in canonical order.
        extras: Whether calls that the pattern does not account for are allowed.
    """
    from callsheet.order import AnyOrder

    if isinstance(pattern, AnyOrder) and not any(isinstance(item, Pattern) for item in pattern.items):
        # Overlapping matchers make a shuffle of n calls have 2 ** n states; an assignment needs n ** 2.
        matching = match_one_to_one(list(pattern.calls()), calls)
        return not matching.missing and (extras or not matching.extra)
    state = Compiler(extras=extras).state(pattern)
    for batch in group_batches(calls):
        state = state.begin()
        for call in batch:
            state = after(state.call(call), extras=extras)
        state = state.end()
        if state == DEAD:
            return False
    return state.done if calls else state.begin().done


def after(steps: Steps, *, extras: bool) -> State:
    """Give the state after a call, as far as it may be left unused."""
    return allowed(steps) if extras else steps.get(Use.USED, DEAD)
