"""Order patterns: what they mean, how they read, and what a failure says."""

from __future__ import annotations

from typing import Any

import pytest

from callsheet import (
    AgentResult,
    ExpectationError,
    ToolCall,
    TraceEntry,
    UnknownToolError,
    VacuousAssertionWarning,
    assert_calls,
)
from callsheet.match import Called, Regex, Satisfies
from callsheet.order import (
    AnyOrder,
    Before,
    Immediately,
    InOrder,
    Never,
    Optional,
    Parallel,
    Pattern,
    Times,
)


def batches(*replies: str) -> list[ToolCall]:
    """Give calls named by letters, one batch per text."""
    return [ToolCall(name, turn=turn) for turn, names in enumerate(replies) for name in names]


@pytest.mark.parametrize(
    ("calls", "pattern", "extras"),
    [
        (batches("a", "x", "b"), InOrder("a", "b"), "allow"),
        (batches("a", "b"), InOrder("a", "b"), "forbid"),
        (batches("ab"), AnyOrder("b", "a"), "forbid"),
        (batches("a", "b"), AnyOrder("b", "a"), "forbid"),
        (batches("x", "ba", "x"), Parallel("a", "b"), "allow"),
        (batches("aa"), Parallel("a", "a"), "forbid"),
        (batches("a", "x", "a", "b"), Immediately("a", "b"), "allow"),
        (batches("a", "b", "b"), Before("a", "b"), "allow"),
        (batches("a", "c"), InOrder("a", Optional("b"), "c"), "forbid"),
        (batches("a", "b", "c"), InOrder("a", Optional("b"), "c"), "forbid"),
        (batches("a", "aa"), Times("a", 3), "forbid"),
        (batches("a", "b", "a", "b"), Times(InOrder("a", "b"), 1, 2), "forbid"),
        (batches("a", "b", "a", "b"), Times(InOrder("a", "b"), 1, None), "forbid"),
        (batches("a", "b", "x", "a", "b"), Times(InOrder("a", "b"), 2), "allow"),
        (batches("x", "lock", "check", "x"), InOrder("l", Never("x"), "c"), "allow"),
        (batches("a", "b"), InOrder("a", "b") & Never("c"), "allow"),
        (batches("b"), InOrder("a", "b") | "b", "allow"),
        (batches("a", "b"), InOrder(InOrder("a") | "b", "b"), "allow"),
        (batches("b", "x", "b"), InOrder(InOrder("a") | "b", "b"), "allow"),
        (batches("b"), "b" | InOrder("a", "b"), "forbid"),
        (batches("b", "a"), ~InOrder("a", "b"), "allow"),
        (batches("b", "a"), "a" & Never("c"), "allow"),
        (batches("b", "a"), Called("a"), "allow"),
        (batches("b", "a"), AnyOrder("a", Called("x") | Called("b")), "forbid"),
        (batches("b", "c"), Called("a") | InOrder("b", "c"), "allow"),
        (batches("b", "c"), Called("b") & InOrder("b", "c"), "allow"),
        (batches("a"), Never(Never("a")), "allow"),
        ([ToolCall("a"), ToolCall("b")], InOrder("a", "b"), "forbid"),
        (batches("a", "c", "b", "d"), InOrder("a", "b") | InOrder("c", "d"), "allow"),
        (batches("c", "a", "d"), InOrder("a", "b") | InOrder("c", "d"), "allow"),
        (batches("a", "c", "b", "d", "e"), InOrder(InOrder("a", "b") & InOrder("c", "d"), "e"), "allow"),
        (batches("a", "d"), InOrder("a", Times(InOrder("b", "c"), 0, None), "d"), "allow"),
        (
            batches("a", "b", "c"),
            AnyOrder(InOrder("a", "b"), "c") | AnyOrder(InOrder("d", "e"), "c"),
            "allow",
        ),
        (batches("a", "d"), InOrder("a", Times(InOrder("b", "c"), 0, None), "d"), "forbid"),
        (batches("a", "b", "b"), AnyOrder(Called("b"), Times("b", 1), "a"), "allow"),
        (batches("a", "x", "a", "b"), InOrder(Times("a", 1, None), "b"), "allow"),
        (batches("a", "b", "b"), AnyOrder(Called("x") | Called("b"), Times("b", 1), "a"), "allow"),
        (batches("a", "d"), InOrder("a", Never("b"), Never("c"), "d"), "allow"),
    ],
)
def test_fits(calls: list[ToolCall], pattern: Any, extras: Any) -> None:
    assert_calls(calls, pattern, extras=extras)


@pytest.mark.parametrize(
    ("calls", "pattern", "extras"),
    [
        (batches("ab"), InOrder("a", "b"), "allow"),
        (batches("a", "x", "b"), InOrder("a", "b"), "forbid"),
        (batches("a", "b"), Parallel("a", "b"), "allow"),
        (batches("a"), Parallel("a", "a"), "allow"),
        (batches("a", "x", "b"), Immediately("a", "b"), "allow"),
        (batches("b", "a", "b"), Before("a", "b"), "allow"),
        (batches("ab"), Before("a", "b"), "allow"),
        (batches("a"), Before("a", "b"), "allow"),
        (batches("a", "a", "a"), Times("a", 1, 2), "allow"),
        (batches("a"), Times("a", 2), "allow"),
        (batches("a", "b", "a", "b"), Times(InOrder("a", "b"), 1), "allow"),
        (batches("a", "x", "c"), InOrder("a", Never("x"), "c"), "allow"),
        (batches("a", "x"), InOrder("a", Never("x")), "allow"),
        (batches("x", "a"), InOrder(Never("x"), "a"), "allow"),
        (batches("a"), Never("a"), "allow"),
        (batches("a"), Times("a", 0), "allow"),
        (batches("a", "b"), ~InOrder("a", "b"), "allow"),
        (batches("a", "b"), AnyOrder("a"), "forbid"),
        (batches("a"), Never(Optional("a")), "allow"),
        (batches("a"), Parallel("a", Never(Optional("b"))), "allow"),
        (batches("b"), "a", "allow"),
        (batches("a", "c", "d"), InOrder("a", Never("b"), Never("c"), "d"), "allow"),
        (batches("a", "b"), Times(InOrder("a", "b", "c"), 1, None), "forbid"),
    ],
)
def test_does_not_fit(calls: list[ToolCall], pattern: Any, extras: Any) -> None:
    with pytest.raises(AssertionError, match="do not fit the order pattern"):
        assert_calls(calls, pattern, extras=extras)


@pytest.mark.parametrize(
    "text",
    [
        "InOrder('a', Called('b', x=1))",
        "AnyOrder('a', {'name': 'b'})",
        "Parallel('a', Immediately('b', 'c'))",
        "Before('a', Optional('b'))",
        "Times('a', 2)",
        "Times('a', 1, 3)",
        "Times('a', 1, None)",
        "Never('a') & (InOrder('a') | InOrder('b'))",
        "InOrder('a') | (InOrder('b') | 'c')",
        "InOrder('a') & InOrder('b') | Never('c')",
    ],
)
def test_the_repr_is_what_one_types(text: str) -> None:
    pattern = eval(text)
    assert repr(pattern) == text
    assert pattern == eval(text)
    assert pattern != InOrder("z")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (InOrder, r"InOrder\(\) is empty"),
        (lambda: AnyOrder(3), "An expected tool call is"),
        (lambda: InOrder({"nam": "a"}), "Unknown key"),
        (lambda: Times("a", 2, 1), "0 <= min <= max"),
        (lambda: Times("a", -1), "0 <= min <= max"),
        (lambda: Times("a", True), "0 <= min <= max"),
        (lambda: Times("a", 0, 1.5), "0 <= min <= max"),  # type: ignore[arg-type]
        (lambda: assert_calls([], InOrder("a"), extras="no"), "extras is 'allow' or 'forbid'"),  # type: ignore[arg-type]
    ],
)
def test_a_pattern_that_cannot_work_is_refused(build: Any, says: str) -> None:
    with pytest.raises(ExpectationError, match=says):
        build()


def test_a_choice_inside_a_sequence_is_followed_from_wherever_it_stands() -> None:
    calls = [ToolCall(name, turn=turn) for turn, name in enumerate("xxab")]
    assert_calls(calls, InOrder("x", Optional("a"), "b"))
    with pytest.raises(AssertionError):
        assert_calls(calls, InOrder("x", InOrder("b", "a") | "a", "x"))


def test_a_tool_the_agent_does_not_have_is_an_error_even_under_never() -> None:
    result = AgentResult("Hi", metadata={"known_tools": ["drop_table"]}, trace=[TraceEntry("user", "Hi")])
    assert_calls(result, Never("drop_table"))
    with pytest.raises(UnknownToolError, match="Did you mean 'drop_table'"):
        assert_calls(result, InOrder("drop_table", Never("drop_tabel")))


def test_a_pattern_met_by_an_empty_trajectory_warns() -> None:
    with pytest.warns(VacuousAssertionWarning):
        assert_calls([], Never("a"))


@pytest.mark.parametrize(
    ("calls", "pattern", "extras", "says"),
    [
        (batches("a", "c"), InOrder("a", "b", "c"), "allow", "- MISSING: b(...) before [1]"),
        (batches("a"), InOrder("a", Called("b", x=1)), "allow", "- MISSING: Called('b', x=1) at the end"),
        (batches("a"), InOrder("a", Satisfies(bool) & Called("q")), "forbid", "at the end"),
        (
            batches("ab"),
            InOrder("a", "b"),
            "allow",
            "[1] ⇥ TOO EARLY: b() has to be in a later reply than [0]",
        ),
        (
            batches("a", "b"),
            Parallel("a", "b"),
            "allow",
            "[1] ⇤ TOO LATE: b() has to be in the same reply as [0]",
        ),
        (batches("a", "x"), Never("x"), "allow", "[1] + UNEXPECTED: x()"),
        (batches("a", "x", "b"), InOrder("a", Never("x"), "b"), "allow", "[1] + UNEXPECTED: x()"),
        (batches("a", "b", "c"), InOrder("a", "b"), "forbid", "[2] + UNEXPECTED: c()"),
        (batches("a"), Times("a", 2), "forbid", "- MISSING: a(...)"),
        (batches("a", "a"), Times("a", 1), "allow", "UNEXPECTED: a()"),
        (
            batches("a"),
            InOrder({"name": "a", "args": {"i": 1}}),
            "forbid",
            "[0] ✗ MISMATCH:\n        expected: a(i=1)",
        ),
        (batches("a"), InOrder("a", {"name": "b", "args": Regex("x")}), "forbid", "MISSING: b(Regex('x'))"),
        (batches("b", "a", "b"), Before("a", "b"), "allow", "[0] + UNEXPECTED: b()"),
        (batches("a", "b"), InOrder("a", "b") & Never("b") | InOrder("b", "a"), "allow", "1 edit would"),
        ([], Times(InOrder("a", "b"), 1, None), "forbid", "2 edits"),
        (batches("a", "b", "a"), Times(InOrder("a", "b"), 0, None), "forbid", "1 edit"),
        (
            [ToolCall("book")],
            InOrder("boook"),
            "allow",
            "MISSING: boook(...) at the end Did you mean 'book'?",
        ),
        (batches("ab"), Immediately("a", "b"), "forbid", "TOO EARLY"),
        (batches("b"), Parallel("a", Times("b", 1)), "allow", "- MISSING: a(...)"),
    ],
)
def test_a_failure_leads_with_the_smallest_edit(
    calls: list[ToolCall], pattern: Any, extras: Any, says: str
) -> None:
    with pytest.raises(AssertionError) as failure:
        assert_calls(calls, pattern, extras=extras)
    text = str(failure.value)
    assert says in text
    assert text.startswith("Tool calls do not fit the order pattern: ")
    assert max(map(len, text.splitlines())) <= 80


def test_a_long_failure_is_bounded() -> None:
    calls = [ToolCall("a", {"n": n}) for n in range(3_000)]
    with pytest.raises(AssertionError) as failure:
        assert_calls(calls, InOrder(*"ab" * 20), extras="forbid")
    lines = str(failure.value).splitlines()
    assert len(lines) < 100
    assert any("more calls" in line for line in lines)


def test_many_edits_are_counted() -> None:
    with pytest.raises(AssertionError, match=r"15 edits(.|\n)*and 5 more edits"):
        assert_calls([], InOrder(*[f"t{n}" for n in range(15)]))


def test_an_edit_out_of_reach_is_said_to_be() -> None:
    pattern = AnyOrder(*[InOrder("a", "b", "c") for _ in range(4)], Times("d", 2, 30))
    calls = [ToolCall(name) for name in "abcd" * 12]
    with pytest.raises(AssertionError, match="out of reach"):
        assert_calls(calls, pattern & Never("b"), extras="forbid")


@pytest.mark.parametrize(
    "pattern",
    [
        AnyOrder(*[f"t{n}" for n in range(24)], Never("z")),
        AnyOrder(*[f"t{n}" for n in range(24)], Times("z", 0, 3)),
        AnyOrder(*["t1"] * 1, InOrder(*[f"t{n}" for n in range(2, 24)])),
        Parallel(*[f"t{n}" for n in range(24)]),
        AnyOrder(*[Called(f"t{n}") for n in range(24)]),
        AnyOrder(*[Optional(f"t{n}") for n in range(24)], "t0"),
    ],
)
def test_many_parts_do_not_multiply(pattern: Pattern) -> None:
    calls = [ToolCall(f"t{n}", turn=0) for n in range(24)]
    spread = [ToolCall(f"t{n}") for n in range(24)]
    assert_calls(calls if isinstance(pattern, Parallel) else spread, pattern)
