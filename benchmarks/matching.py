"""How long matching takes, beside toolcallcheck where it is installed.

    python benchmarks/matching.py

Prints the median and the mean of interleaved runs in one process, in milliseconds of CPU time, and their
ratios to toolcallcheck's (below 1 is faster). The mean has in it what only some of the runs pay: the garbage
collections that the others' new objects bring about. Without toolcallcheck (0.2.0 was compared) its columns
stay empty.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from callsheet import AgentResult, ToolCall, assert_calls, assert_tool_calls, validate_tools
from callsheet.match import Approx, Called, Regex, Satisfies
from callsheet.order import AnyOrder, InOrder, Never

try:
    import toolcallcheck
except ImportError:
    toolcallcheck = None

COUNT = 10_000
ROUNDS = 25
NAMES = ["search", "book", "pay", "cancel", "notify"]

Run = Callable[[], Any]


def main() -> None:
    """Print one line per case."""
    if toolcallcheck is None:
        print("toolcallcheck is not installed; its column stays empty.")
    print(f"{'median / mean of':<58} {'callsheet':>13} {'toolcallcheck':>15} {'ratio':>11}")
    for name, ours, theirs in [
        *flat_cases(),
        *nested_cases(),
        *matcher_cases(),
        *order_cases(),
        *failure_cases(),
    ]:
        report(name, ours, theirs)
    if toolcallcheck is not None:
        compare_verdicts()
    expected, result, _ = inserted()
    text = failure(lambda: assert_tool_calls(result, expected))
    print(f"\nfailure text for {COUNT} calls with 3 edits: {len(text.splitlines())} lines", end="")
    widest = max(map(len, text.splitlines()))
    print(f", {widest} columns")
    if toolcallcheck is not None:
        theirs = failure(lambda: toolcallcheck.assert_tool_calls(their_result(result.tool_calls), expected))
        print(f"toolcallcheck's: {len(theirs.splitlines())} lines")


def compare_verdicts() -> None:
    """Count how often both sides agree on random inputs without bools, where toolcallcheck is right."""
    pick = random.Random(11)
    agreed = total = 0
    for _ in range(2_000):
        calls = [ToolCall(pick.choice("ab"), {"n": pick.randint(1, 2)}) for _ in range(pick.randint(0, 3))]
        expected = [
            {"name": pick.choice("ab"), "args": {"n": pick.randint(1, 2)}} for _ in range(pick.randint(1, 3))
        ]
        for strict_order in (True, False):
            ours = failure(lambda: assert_tool_calls(calls, expected, strict_order=strict_order))  # noqa: B023
            theirs = failure(
                lambda: toolcallcheck.assert_tool_calls(
                    their_result(calls),  # noqa: B023
                    expected,  # noqa: B023
                    strict_order=strict_order,  # noqa: B023
                )
            )
            agreed += bool(ours) == bool(theirs)
            total += 1
    print(f"\nsame verdict as toolcallcheck on {agreed} of {total} random inputs", end="")


def flat_cases() -> list[tuple[str, Run, Run | None]]:
    """Literal calls with flat arguments."""
    calls = [
        ToolCall(NAMES[n % 5], {"id": n, "city": f"city-{n}", "nights": n % 7, "vip": n % 2 == 0})
        for n in range(COUNT)
    ]
    return compared("flat arguments", calls)


def nested_cases() -> list[tuple[str, Run, Run | None]]:
    """Literal calls with nested arguments."""
    calls = [
        ToolCall(NAMES[n % 5], {"id": n, "guest": {"name": f"guest-{n}", "tags": ["a", n]}, "price": n / 4})
        for n in range(COUNT)
    ]
    return compared("nested arguments", calls)


def compared(title: str, calls: list[ToolCall]) -> list[tuple[str, Run, Run | None]]:
    """Compare the same calls in order and shuffled, on both sides."""
    result = AgentResult(tool_calls=calls)
    # Copies, so that no side can take a short cut over identity.
    expected = [{"name": call.name, "args": fresh(call.args)} for call in calls]
    shuffled = random.Random(7).sample(expected, len(expected))
    theirs = their_result(calls)
    return [
        (
            f"{COUNT} literal calls, in order, {title}",
            lambda: assert_tool_calls(result, expected),
            theirs and (lambda: toolcallcheck.assert_tool_calls(theirs, expected)),
        ),
        (
            f"{COUNT} literal calls, any order, {title}",
            lambda: assert_tool_calls(result, shuffled, strict_order=False),
            theirs and (lambda: toolcallcheck.assert_tool_calls(theirs, shuffled, strict_order=False)),
        ),
    ]


def matcher_cases() -> list[tuple[str, Run, Run | None]]:
    """Optimal assignment with matchers, which toolcallcheck does not have."""
    calls = [ToolCall("pay", {"amount": n + 0.1, "note": f"note {n}"}) for n in range(500)]
    exact = [Called("pay", amount=Approx(n + 0.1), note=Regex(f"{n}$")) for n in range(500)]
    dicts = [{"name": "pay", "args": {"amount": Approx(n + 0.1), "note": f"note {n}"}} for n in range(500)]
    loose = [Called("pay", amount=Satisfies(lambda amount, n=n: amount < n + 1)) for n in range(500)]
    return [
        (f"500 x 500 {name}, any order", unordered(calls, shuffle(wanted)), None)
        for name, wanted in (
            ("Called matchers", exact),
            ("dicts with matchers", dicts),
            ("overlapping matchers", loose),
        )
    ]


def order_cases() -> list[tuple[str, Run, Run | None]]:
    """Order patterns and validation over a long trajectory."""
    names = [NAMES[n % 5] for n in range(COUNT)]
    calls = [ToolCall(name, turn=turn) for turn, name in enumerate(names)]
    return [
        (
            "InOrder of 3 over 10000 calls",
            lambda: assert_calls(calls, InOrder("search", "book", "pay")),
            None,
        ),
        (
            "InOrder of 10000, extras forbidden",
            lambda: assert_calls(calls, InOrder(*names), extras="forbid"),
            None,
        ),
        (
            "AnyOrder of 20 and a Never over 10000 calls",
            lambda: assert_calls(calls, AnyOrder(*NAMES * 4, Never("drop"))),
            None,
        ),
        ("validate_tools, 10000 calls, order of 10000", lambda: validate_tools(calls, order=names), None),
    ]


def failure_cases() -> list[tuple[str, Run, Run | None]]:
    """The text of a failure."""
    expected, result, theirs = inserted()
    return [
        (
            f"failure text, {COUNT} calls, 3 edits",
            lambda: failure(lambda: assert_tool_calls(result, expected)),
            theirs and (lambda: failure(lambda: toolcallcheck.assert_tool_calls(theirs, expected))),
        )
    ]


def inserted() -> tuple[list[dict[str, Any]], AgentResult, Any]:
    """Give calls that are a lost, an inserted and a changed one away from what is expected."""
    calls = [ToolCall(NAMES[n % 5], {"id": n, "guest": {"name": f"guest-{n}"}}) for n in range(COUNT)]
    expected = [{"name": call.name, "args": fresh(call.args)} for call in calls]
    del expected[100]
    expected.insert(5_000, {"name": "confirm", "args": {}})
    expected[9_000]["args"]["guest"]["name"] = "somebody else"
    return expected, AgentResult(tool_calls=calls), their_result(calls)


def their_result(calls: list[ToolCall]) -> Any:
    """Give the same calls as toolcallcheck's result, or None without it."""
    if toolcallcheck is None:
        return None
    return toolcallcheck.AgentResult(
        tool_calls=[toolcallcheck.ToolCall(name=call.name, args=call.args) for call in calls]
    )


def unordered(calls: list[ToolCall], expected: list[Any]) -> Run:
    """Give the comparison in any order."""
    return lambda: assert_tool_calls(calls, expected, strict_order=False)


def shuffle(items: list[Any]) -> list[Any]:
    """Give the items in another, always the same, order."""
    return random.Random(7).sample(items, len(items))


def failure(check: Run) -> str:
    """Give the text of the AssertionError a check raises, or "" when it passes."""
    try:
        check()
    except AssertionError as error:
        return str(error)
    return ""


def fresh(value: Any) -> Any:
    """Copy nested dicts and lists, and build equal but distinct strings."""
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    if isinstance(value, list):
        return [fresh(item) for item in value]
    return "".join(list(value)) if isinstance(value, str) else value


def report(name: str, ours: Run, theirs: Run | None) -> None:
    """Time both sides in turns and print a line."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for mine, run in ((True, ours), (False, theirs)):
            if run is not None:
                start = time.process_time()
                with suppress(AssertionError):
                    run()
                times[mine].append((time.process_time() - start) * 1e3)
    mine = statistics.median(times[True]), statistics.mean(times[True])
    line = f"{name:<58} {mine[0]:>6.1f}{mine[1]:>7.1f}"
    if theirs is not None:
        other = statistics.median(times[False]), statistics.mean(times[False])
        line += f" {other[0]:>7.1f}{other[1]:>8.1f} {mine[0] / other[0]:>5.2f}{mine[1] / other[1]:>6.2f}"
    print(line)


if __name__ == "__main__":
    main()
