"""The verdicts of toolcallcheck and callsheet on the same runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import toolcallcheck
import toolcallcheck.result
from hypothesis import given, settings
from hypothesis import strategies as st

import callsheet
from callsheet.match import Anything

VALUES = st.sampled_from([0, 1, 1.0, "a", None, [1], {"k": "v"}])
STEPS = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {
                "role": st.just("tool"),
                "name": st.sampled_from("ab"),
                "args": st.dictionaries(st.sampled_from("xy"), VALUES, max_size=2),
            }
        ),
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant"]), "content": st.sampled_from(["hi", "yes"])}
        ),
    ),
    max_size=4,
)
Steps = list[dict[str, Any]]


def run(library: Any, steps: Steps) -> Any:
    calls = {
        id(step): library.ToolCall(step["name"], step["args"]) for step in steps if step["role"] == "tool"
    }
    entry = toolcallcheck.result.TraceEntry if library is toolcallcheck else callsheet.TraceEntry
    trace = [
        entry(step["role"], content=step.get("content"), tool_call=calls.get(id(step))) for step in steps
    ]
    return library.AgentResult(tool_calls=list(calls.values()), trace=trace)


def both(steps: Steps, name: str, *args: Any, **options: Any) -> tuple[bool, bool]:
    """Give callsheet's verdict and toolcallcheck's."""
    ours, theirs = (
        passes(getattr(library, name), run(library, steps), *args, **options)
        for library in (callsheet, toolcallcheck)
    )
    return ours, theirs


def passes(check: Callable[..., None], *args: Any, **options: Any) -> bool:
    try:
        check(*args, **options)
    except AssertionError:
        return False
    return True


def calls(steps: Steps) -> Steps:
    return [{"name": step["name"], "args": step["args"]} for step in steps if step["role"] == "tool"]


@pytest.mark.filterwarnings("ignore::callsheet.VacuousAssertionWarning")
@given(STEPS, STEPS, st.data())
@settings(max_examples=300)
def test_every_shared_assertion_gives_one_verdict(steps: Steps, others: Steps, data: st.DataObject) -> None:
    for expected in (others, steps, data.draw(st.permutations(steps)), steps[::2]):
        wanted = calls(expected)
        ours, theirs = both(steps, "assert_tool_calls", wanted)
        assert ours is theirs
        ours, theirs = both(steps, "assert_tool_call_count", len(wanted))
        assert ours is theirs
        ours, theirs = both(steps, "assert_no_tool_calls")
        assert ours is theirs
        for mode in ("exact", "ordered_subset"):
            ours, theirs = both(steps, "assert_trajectory", expected, mode=mode)
            assert ours is theirs
        for call in wanted:
            ours, theirs = both(steps, "assert_tool_args_contain", call["name"], call["args"])
            assert ours is theirs


@pytest.mark.filterwarnings("ignore::callsheet.VacuousAssertionWarning")
@given(STEPS, STEPS, st.data())
@settings(max_examples=300)
def test_any_order_gives_one_verdict_where_equal_calls_look_alike(
    steps: Steps, others: Steps, data: st.DataObject
) -> None:
    # There, calls are sorted by their text, and 1 and 1.0 are equal but sorted apart.
    for expected in (others, data.draw(st.permutations(steps))):
        ours, theirs = both(steps, "assert_tool_calls", calls(expected), strict_order=False)
        assert ours or not theirs
        if sorted(map(str, calls(expected))) == sorted(map(str, calls(steps))):
            assert ours


@pytest.mark.filterwarnings("ignore::callsheet.VacuousAssertionWarning")
@given(STEPS, STEPS)
@settings(max_examples=100)
def test_what_is_a_subset_here_is_one_there(steps: Steps, expected: Steps) -> None:
    ours, theirs = both(steps, "assert_trajectory", expected, mode="subset")
    assert theirs or not ours
    assert passes(callsheet.assert_trajectory, run(callsheet, steps), steps, mode="subset")


ONE_CALL: Steps = [{"role": "tool", "name": "a", "args": {"x": 1}}]


def test_a_step_expected_twice_has_to_happen_twice_only_here() -> None:
    assert both(ONE_CALL, "assert_trajectory", ONE_CALL * 2, mode="subset") == (False, True)


def test_order_is_exact_there_and_allows_gaps_here() -> None:
    steps = [*ONE_CALL, {"role": "tool", "name": "b", "args": {}}]
    assert both(steps, "assert_tool_call_order", ["a", "b"]) == (True, True)
    assert both(steps, "assert_tool_call_order", ["b", "a"]) == (False, False)
    assert both(steps, "assert_tool_call_order", ["b"]) == (True, False)
    assert not passes(callsheet.assert_tool_call_order, run(callsheet, steps), ["b"], exact=True)


def test_true_is_one_only_there() -> None:
    expected = [{"name": "a", "args": {"x": True}}]
    assert both(ONE_CALL, "assert_tool_calls", expected) == (False, True)
    assert both(ONE_CALL, "assert_tool_args_contain", "a", {"x": True}) == (False, True)


def test_matchers_pair_in_any_order_only_here() -> None:
    steps = [*ONE_CALL, {"role": "tool", "name": "a", "args": {"x": 2}}]
    expected = [{"name": "a", "args": {"x": Anything()}}, {"name": "a", "args": {"x": 2}}]
    assert both(steps, "assert_tool_calls", expected, strict_order=False) == (True, False)
