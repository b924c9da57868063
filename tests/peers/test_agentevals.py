"""The verdicts of agentevals' trajectory evaluators and callsheet's on the same trajectories.

What agentevals calls a subset (no call but the reference's) is `mode="superset"` here, and the other way
round: there the trajectory is the subject, here the expectation. It compares tool calls only, and the
calls of one message in any order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import pytest
from agentevals.trajectory.match import create_trajectory_match_evaluator
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet import ToolCall, assert_calls, assert_tool_calls, assert_trajectory, offline
from callsheet.match import ArgPolicy, Partial, Satisfies
from callsheet.order import InOrder, Parallel

Call = tuple[str, dict[str, Any]]
Batches = list[list[Call]]

VALUES = st.sampled_from([0, 1, 1.0, "a", None, [1], {"k": "v"}])
ARGS = st.dictionaries(st.sampled_from("xy"), VALUES, max_size=2)
CALL = st.tuples(st.sampled_from("ab"), ARGS)
BATCHES = st.lists(st.lists(CALL, min_size=1, max_size=2), max_size=3)


@pytest.fixture(autouse=True)
def _nothing_leaves_this_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    with offline():
        yield


def theirs(actual: Batches, reference: Batches, mode: str, args: str = "exact", **overrides: Any) -> bool:
    evaluate = create_trajectory_match_evaluator(
        trajectory_match_mode=mode,  # type: ignore[arg-type]
        tool_args_match_mode=args,  # type: ignore[arg-type]
        tool_args_match_overrides=overrides or None,
    )
    verdict: Any = evaluate(outputs=messages(actual), reference_outputs=messages(reference))
    return bool(verdict["score"])


def messages(batches: Batches) -> list[Any]:
    return [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
                for name, args in batch
            ],
        }
        for batch in batches
    ]


def calls(batches: Batches) -> list[ToolCall]:
    return [ToolCall(name, args, turn=turn) for turn, batch in enumerate(batches) for name, args in batch]


def wanted(batches: Batches, args: Callable[[dict[str, Any]], Any] = dict) -> list[dict[str, Any]]:
    return [{"name": name, "args": args(given)} for batch in batches for name, given in batch]


def ours(actual: Batches, reference: Batches, mode: str, args: Callable[[Any], Any] = dict) -> bool:
    expected = wanted(reference, args)
    steps = [{"role": "tool", **call} for call in expected]
    check: dict[str, Callable[[], None]] = {
        "strict": lambda: check_batches(actual, reference, args),
        "unordered": lambda: assert_tool_calls(calls(actual), expected, strict_order=False),
        "subset": lambda: assert_trajectory(calls(actual), steps, mode="superset"),
        "superset": lambda: assert_trajectory(calls(actual), steps, mode="subset"),
    }
    try:
        check[mode]()
    except AssertionError:
        return False
    return True


def check_batches(actual: Batches, reference: Batches, args: Callable[[Any], Any]) -> None:
    """Ask for the batches of the reference, each in any order."""
    if not reference:
        return assert_tool_calls(calls(actual), [])
    pattern = InOrder(*(Parallel(*wanted([batch], args)) for batch in reference))
    return assert_calls(calls(actual), pattern, extras="forbid")


def within(reference: dict[str, Any]) -> Any:
    """Accept arguments that are all in the reference's: agentevals' "subset"."""
    return Satisfies(lambda args: all(key in reference and reference[key] == args[key] for key in args))


def anything(_: dict[str, Any]) -> Any:
    return Satisfies(lambda _: True)


ARGS_MODES: dict[str, Callable[[Any], Any]] = {
    "exact": dict,
    "ignore": anything,
    "superset": Partial,
    "subset": within,
}


@pytest.mark.filterwarnings("ignore::callsheet.VacuousAssertionWarning")
@pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
@pytest.mark.parametrize("args", ["exact", "ignore"])
@given(BATCHES, BATCHES, st.booleans(), st.data())
@settings(max_examples=60)
def test_exact_and_ignored_arguments_give_one_verdict(
    mode: str, args: str, actual: Batches, reference: Batches, related: bool, data: st.DataObject
) -> None:
    if related:
        reference = [data.draw(st.permutations(batch)) for batch in data.draw(st.permutations(actual))]
    assert ours(actual, reference, mode, ARGS_MODES[args]) is theirs(actual, reference, mode, args)


@pytest.mark.filterwarnings("ignore::callsheet.VacuousAssertionWarning")
@pytest.mark.parametrize("mode", ["strict", "subset", "superset"])
@pytest.mark.parametrize("args", ["subset", "superset"])
@given(BATCHES, BATCHES)
@settings(max_examples=100)
def test_partial_arguments_give_one_verdict_wherever_taking_the_first_fit_finds_a_pairing(
    mode: str, args: str, actual: Batches, reference: Batches
) -> None:
    # agentevals pairs greedily, so its yes is right and its no may be wrong. In its subset mode it hands
    # the two sides to the comparison the other way round.
    asked = {"subset": "superset", "superset": "subset"}[args] if mode == "subset" else args
    assert ours(actual, reference, mode, ARGS_MODES[asked]) or not theirs(actual, reference, mode, args)


HAND_WRITTEN: list[tuple[Batches, Batches]] = [
    ([[("a", {"x": 1})]], [[("a", {"x": 1})]]),
    ([[("a", {"x": 1})]], [[("a", {"x": 2})]]),
    ([[("a", {"x": 1})]], [[("b", {"x": 1})]]),
    ([[("a", {"x": 1, "y": 2})]], [[("a", {"x": 1})]]),
    ([[("a", {"x": 1})]], [[("a", {"x": 1, "y": 2})]]),
    ([[("a", {})], [("b", {})]], [[("b", {})], [("a", {})]]),
    ([[("a", {}), ("b", {})]], [[("b", {}), ("a", {})]]),
    ([[("a", {}), ("b", {})]], [[("a", {})], [("b", {})]]),
    ([[("a", {})], [("a", {})]], [[("a", {})]]),
    ([[("a", {})]], [[("a", {})], [("a", {})]]),
    ([[("a", {"x": {"k": [1, 2]}})]], [[("a", {"x": {"k": [1, 2.0]}})]]),
    ([[("a", {"x": {"k": [1, 2]}})]], [[("a", {"x": {"k": [2, 1]}})]]),
    ([], [[("a", {})]]),
    ([[("a", {})]], []),
]


@pytest.mark.parametrize("mode", ["strict", "subset", "superset"])
@pytest.mark.parametrize("args", ["exact", "ignore", "subset", "superset"])
@pytest.mark.parametrize("pair", range(len(HAND_WRITTEN)))
@pytest.mark.filterwarnings("ignore::callsheet.VacuousAssertionWarning")
def test_hand_written_trajectories_give_one_verdict(mode: str, args: str, pair: int) -> None:
    actual, reference = HAND_WRITTEN[pair]
    swapped = {"subset": "superset", "superset": "subset"}
    asked = swapped.get(args, args) if mode == "subset" else args
    assert ours(actual, reference, mode, ARGS_MODES[asked]) is theirs(actual, reference, mode, args)


def test_an_override_by_key_paths_is_a_partial() -> None:
    actual: Batches = [[("a", {"x": {"k": 1, "noise": 2}, "y": 3})]]
    for value in (1, 2):
        reference: Batches = [[("a", {"x": {"k": value}, "y": 9})]]
        verdict = ours(actual, reference, "strict", lambda args: Partial({"x": Partial(args["x"])}))
        assert verdict is theirs(actual, reference, "strict", a=["x.k"]) is (value == 1)


def test_an_override_by_a_function_is_a_policy() -> None:
    def same_letters(actual: dict[str, Any], reference: dict[str, Any]) -> bool:
        return bool(actual["x"].lower() == reference["x"].lower())

    policies = {"a": ArgPolicy(overrides={"x": lambda expected, actual: expected.lower() == actual.lower()})}
    actual: Batches = [[("a", {"x": "Oslo"})], [("b", {"x": "Rome"})]]
    for city, accepted in (("OSLO", True), ("Rome", False)):
        reference: Batches = [[("a", {"x": city})], [("b", {"x": "Rome"})]]
        assert theirs(actual, reference, "strict", a=same_letters) is accepted
        try:
            assert_tool_calls(calls(actual), wanted(reference), policies=policies)
        except AssertionError:
            assert not accepted
        else:
            assert accepted


def test_an_override_by_a_mode_is_a_matcher_for_that_tools_arguments() -> None:
    actual: Batches = [[("a", {"x": 1, "y": 2})], [("b", {"x": 1})]]
    reference: Batches = [[("a", {"x": 1})], [("b", {"x": 1})]]
    assert not theirs(actual, reference, "strict")
    assert theirs(actual, reference, "strict", a="superset")
    expected = wanted(reference)
    expected[0]["args"] = Partial(expected[0]["args"])
    assert_tool_calls(calls(actual), expected)


def test_a_pairing_that_exists_is_found_here_and_missed_there() -> None:
    actual: Batches = [[("a", {"x": 1, "y": 2}), ("a", {"x": 1})]]
    for reference in permutations([("a", {"x": 1}), ("a", {"x": 1, "y": 2})]):
        assert ours(actual, [list(reference)], "superset", Partial)
    greedy = [("a", {"x": 1}), ("a", {"x": 1, "y": 2})]
    assert not theirs(actual, [greedy], "superset", "superset")


def test_unordered_with_partial_arguments_asks_for_both_directions_there() -> None:
    actual: Batches = [[("a", {"x": 1, "y": 2})]]
    reference: Batches = [[("a", {"x": 1})]]
    assert theirs(actual, reference, "strict", "superset")
    assert not theirs(actual, reference, "unordered", "superset")
    assert ours(actual, reference, "unordered", Partial)


def test_true_is_one_there_and_not_here() -> None:
    actual: Batches = [[("a", {"x": True})]]
    reference: Batches = [[("a", {"x": 1})]]
    for mode in ("strict", "unordered", "subset", "superset"):
        assert theirs(actual, reference, mode)
        assert not ours(actual, reference, mode)


def test_an_empty_trajectory_passes_silently_there_and_warns_here() -> None:
    assert theirs([], [[("a", {})]], "subset")
    with pytest.warns(match="passed on an empty trajectory"):
        assert ours([], [[("a", {})]], "subset")
