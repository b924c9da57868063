"""`validate_tools`: a scored verdict over the tools an agent called, after SemanticTest's ValidateTools."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callsheet._checks import warn_if_vacuous
from callsheet._equality import equal
from callsheet._errors import ExpectationError
from callsheet._payload_calls import calls_from
from callsheet._redaction import redact_text_for_display
from callsheet._result import AgentResult
from callsheet._showing import redacted_under, shortened, shown
from callsheet._subject import known_tools_of
from callsheet._suggest import did_you_mean
from callsheet._values import ToolCall

_MISSING = object()
# Looking for what a misspelt name is closest to compares it with every tool.
_MOST_HINTS = 10


@dataclass(frozen=True)
class ToolValidation:
    """The verdict of `validate_tools`; true exactly when it passed.

    Args:
        passed: Whether no check failed.
        score: From 0 to 1; 1 exactly when it passed.
        actual_tools: The names of the tools called, in order.
        expected_tools: The names expected.
        failures: One text per failure.
    """

    __module__ = "callsheet"

    passed: bool
    score: float
    actual_tools: list[str]
    expected_tools: list[str]
    failures: list[str]

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """Give the verdict with SemanticTest's keys."""
        return {
            "passed": self.passed,
            "score": self.score,
            "actualTools": list(self.actual_tools),
            "expectedTools": list(self.expected_tools),
            "failures": list(self.failures),
        }


def validate_tools(
    calls: Any,
    *,
    expected: Sequence[str] | None = None,
    forbidden: Sequence[str] | None = None,
    min_tools: int | None = None,
    max_tools: int | None = None,
    order: Sequence[str] | None = None,
    exact_order: bool = False,
    validate_args: Mapping[str, Mapping[str, Any]] | None = None,
    known_tools: Iterable[str] | None = None,
) -> ToolValidation:
    """Score the tool calls of a run; every check runs, and each failure multiplies the score.

    Args:
        calls: An `AgentResult`, a session, `ToolCall`s, `{"name" or "toolName", "args"}` dicts, or a
            provider's reply as it came.
        expected: Tools that must be called; the score is multiplied by the part that was.
        forbidden: Tools that must not be called (x 0.5, however many are).
        min_tools: The fewest calls (x 0.8).
        max_tools: The most calls (x 0.9); 0 counts.
        order: Tools in the order wanted, others in between allowed; the score is multiplied by the part
            in order (longest common subsequence), at least 0.7.
        exact_order: Whether `order` is the whole list of calls, compared position by position.
        validate_args: Tool -> argument -> value or matcher, for every call of that tool; other arguments
            may be anything (x 0.9 for each that is wrong).
        known_tools: The tools there are; naming another one anywhere here is a failure (x 0.5). Left
            out, what the adapter recorded about the agent counts.

    Raises:
        ExpectationError: An option is of the wrong type, or `calls` can't be read.
    """
    for option, names in {"expected": expected, "forbidden": forbidden, "order": order}.items():
        _refuse_text(option, names)
    for option, limit in {"min_tools": min_tools, "max_tools": max_tools}.items():
        _refuse_non_count(option, limit)
    made = calls_from(calls)
    actual = [call.name for call in made]
    wanted = list(expected or ())
    known = known_tools_of(calls) if known_tools is None else list(known_tools)
    named = [*wanted, *(forbidden or ()), *(order or ()), *(validate_args or {})]

    checks = [
        *_unknown(named, known),
        *_missing(wanted, actual),
        *_forbidden(list(forbidden or ()), actual),
        *_counts(len(actual), min_tools, max_tools),
        *(_exact_order if exact_order else _order)(list(order or ()), actual, given=order is not None),
        *_arguments(validate_args or {}, made),
    ]
    if not made and not checks and isinstance(calls, AgentResult):
        warn_if_vacuous(calls, "validate_tools(result, ...)")
    score = 1.0
    for _, factor in checks:
        score *= factor
    return ToolValidation(not checks, score, actual, wanted, [text for text, _ in checks])


Failure = tuple[str, float]


def _unknown(named: Iterable[str], known: Sequence[str] | None) -> list[Failure]:
    if known is None:
        return []
    there = set(known)
    unknown = [name for name in dict.fromkeys(named) if name not in there]
    hints = [f"{name}{did_you_mean(name, known)}" for name in unknown[:_MOST_HINTS]] + unknown[_MOST_HINTS:]
    return [(f"Unknown tools named: {', '.join(hints)}", 0.5)] if unknown else []


def _missing(expected: list[str], actual: list[str]) -> list[Failure]:
    called = set(actual)
    missing = [name for name in expected if name not in called]
    factor = (len(expected) - len(missing)) / len(expected) if expected else 1.0
    return [(f"Missing expected tools: {', '.join(missing)}", factor)] if missing else []


def _forbidden(forbidden: list[str], actual: list[str]) -> list[Failure]:
    called = set(actual)
    used = [name for name in forbidden if name in called]
    return [(f"Used forbidden tools: {', '.join(used)}", 0.5)] if used else []


def _counts(count: int, fewest: int | None, most: int | None) -> list[Failure]:
    failures = []
    if fewest is not None and count < fewest:
        failures.append((f"Too few tools: {count} < {fewest}", 0.8))
    if most is not None and count > most:
        failures.append((f"Too many tools: {count} > {most}", 0.9))
    return failures


def _order(order: list[str], actual: list[str], *, given: bool) -> list[Failure]:
    matched = _longest_common_subsequence(order, actual) if given else 0
    if matched == len(order):
        return []
    return [(_order_text(order, actual), max(matched / len(order), 0.7))]


def _exact_order(order: list[str], actual: list[str], *, given: bool) -> list[Failure]:
    if not given or order == actual:
        return []
    matched = sum(one == other for one, other in zip(order, actual, strict=False))
    # A call too many leaves every wanted one matched; counting it keeps a failure below 1.
    factor = max(matched / max(len(order), len(actual)), 0.7)
    if len(order) != len(actual):
        return [(f"Tool count mismatch. Expected {len(order)} tools, got {len(actual)}", factor)]
    return [(_order_text(order, actual), factor)]


def _order_text(order: list[str], actual: list[str]) -> str:
    return f"Tool order incorrect. Expected: [{', '.join(order)}], Got: [{', '.join(actual)}]"


def _longest_common_subsequence(order: list[str], actual: list[str]) -> int:
    """Count by bit-parallel recurrence (Hyyrö 2004): one pass over `actual` with a bit per wanted item."""
    positions: dict[str, int] = {}
    for position, name in enumerate(order):
        positions[name] = positions.get(name, 0) | 1 << position
    full = (1 << len(order)) - 1
    open_bits = full
    for name in actual:
        hits = open_bits & positions.get(name, 0)
        open_bits = ((open_bits + hits) | (open_bits - hits)) & full
    return len(order) - open_bits.bit_count()


def _arguments(wanted: Mapping[str, Mapping[str, Any]], calls: Sequence[ToolCall]) -> list[Failure]:
    return [
        (_argument_text(call, key, value), 0.9)
        for call in calls
        for key, value in wanted.get(call.name, {}).items()
        if key not in call.args or not equal(value, call.args[key])
    ]


def _argument_text(call: ToolCall, key: str, value: Any) -> str:
    expected = redacted_under(key, value)
    actual = redacted_under(key, call.args[key]) if key in call.args else _MISSING
    got = "(missing)" if actual is _MISSING else str(actual)
    if str(expected) == got:  # '10' and 10 look alike
        expected, got = repr(expected), repr(actual)
    name, expected, got = map(redact_text_for_display, (str(key), str(expected), got))
    return f"Tool '{call.name}' arg '{name}' mismatch. Expected: {shortened(expected)}, Got: {shortened(got)}"


def _refuse_text(option: str, names: Sequence[str] | None) -> None:
    if names is not None and (isinstance(names, str) or not all(isinstance(name, str) for name in names)):
        raise ExpectationError(f"{option} is a list of tool names, not {shown(names)}.")


def _refuse_non_count(option: str, limit: int | None) -> None:
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise ExpectationError(f"{option} is a whole number from 0, not {shown(limit)}.")
