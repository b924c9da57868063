"""Matchers: values that say what they accept, usable wherever an expected value is.

A matcher compares equal to what it accepts, so it works at any depth of an expected value, on either
side of `==`, and beside matchers of other libraries (dirty-equals, `pytest.approx`, `mock.ANY`).
Combine matchers with `&`, `|` and `~`; their repr is what one would type to build them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from callsheet._arg_policy import ArgPolicy
from callsheet._assignment import maximum_matching
from callsheet._equality import UnfreezableError, equal, freeze
from callsheet._errors import ExpectationError
from callsheet._matcher import Matcher, first_not_a_call
from callsheet._showing import shown
from callsheet._values import ToolCall

__all__ = [
    "Anything",
    "Approx",
    "ArgPolicy",
    "Called",
    "Matcher",
    "OneOf",
    "Partial",
    "Regex",
    "Satisfies",
    "Unordered",
]

_ABSENT = object()


class Anything(Matcher):
    """Accepts every value, None included."""

    def accepts(self, actual: Any) -> bool:  # noqa: ARG002
        """Say yes."""
        return True

    def __repr__(self) -> str:
        return "Anything()"


class Called(Matcher):
    """Accepts a call of a tool whose arguments include those given.

    Each argument given is compared whole, and may be a matcher; arguments not given may be anything. For
    a call with exactly these arguments, expect `{"name": ..., "args": {...}}` instead.

    Args:
        name: The tool's name, or a matcher for it.
        **args: Arguments the call must have.
    """

    def __init__(self, name: Any, /, **args: Any) -> None:
        self.tool_name = name
        self.args = args

    def accepts(self, actual: Any) -> bool:
        """Say whether a `ToolCall`, or a dict or step with a name and args, is such a call."""
        if not isinstance(actual, ToolCall) and isinstance(actual, Mapping):
            name, args = actual.get("name", _ABSENT), actual.get("args")
        else:
            name, args = getattr(actual, "name", _ABSENT), getattr(actual, "args", None)
        if not isinstance(args, dict | Mapping) or not equal(self.tool_name, name):
            return False
        for key, value in self.args.items():  # noqa: SIM110 (this runs for every pair of calls)
            if key not in args or not equal(value, args[key]):
                return False
        return True

    def example(self) -> ToolCall | None:
        """Give the call with exactly the arguments given."""
        return ToolCall(self.tool_name, self.args) if isinstance(self.tool_name, str) else None

    def mentioned_tools(self) -> list[Any]:
        """Give the name, or its matcher; each name of a choice."""
        return list(self.tool_name.options) if isinstance(self.tool_name, OneOf) else [self.tool_name]

    def __repr__(self) -> str:
        return f"Called({', '.join([repr(self.tool_name), *(f'{k}={v!r}' for k, v in self.args.items())])})"


class Partial(Matcher):
    """Accepts a mapping that has these keys with these values, whatever others it has.

    Each value is compared whole; a `Partial` inside makes the inside partial too.

    Args:
        expected: The keys and values; a value may be a matcher.

    Raises:
        ExpectationError: It is no mapping.
    """

    def __init__(self, expected: Mapping[Any, Any]) -> None:
        if not isinstance(expected, Mapping):
            raise ExpectationError(f"Partial() wants a mapping, not {shown(expected)}.")
        self.expected = expected

    def accepts(self, actual: Any) -> bool:
        """Say whether a mapping has all the keys, with equal values."""
        return isinstance(actual, Mapping) and all(
            key in actual and equal(value, actual[key]) for key, value in self.expected.items()
        )

    def not_a_call(self) -> Any:
        """Give itself: it accepts values."""
        return self

    def __repr__(self) -> str:
        return f"Partial({self.expected!r})"


class Regex(Matcher):
    """Accepts text in which a regular expression is found (`re.search`; anchor it for the whole text).

    Args:
        pattern: The expression; one over bytes accepts bytes.
        flags: Flags as `re.compile` takes them.

    Raises:
        ExpectationError: The expression is malformed.
    """

    def __init__(self, pattern: str | bytes | re.Pattern[Any], flags: int = 0) -> None:
        try:
            self.pattern: re.Pattern[Any] = re.compile(pattern, flags)
        except (re.error, TypeError, ValueError) as problem:
            raise ExpectationError(f"Regex() can't read {shown(pattern)}: {problem}.") from problem
        self._arguments = repr(self.pattern.pattern) + (f", {re.RegexFlag(flags)!r}" if flags else "")

    def accepts(self, actual: Any) -> bool:
        """Say whether the expression is found in a text."""
        return isinstance(actual, type(self.pattern.pattern)) and self.pattern.search(actual) is not None

    def not_a_call(self) -> Any:
        """Give itself: it accepts values."""
        return self

    def __repr__(self) -> str:
        return f"Regex({self._arguments})"


class Approx(Matcher):
    """Accepts numbers close to a number, and sequences and mappings of such.

    Args:
        expected: A number, or a list, tuple or mapping of numbers, nested as one likes.
        rel: The tolerance as a part of the expected number (1e-6 when neither is given, as in
            `pytest.approx`; 0 when only `abs` is).
        abs: The tolerance as a number (1e-12 when neither is given).

    Raises:
        ExpectationError: A tolerance is negative or not a number.
    """

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None) -> None:
        for name, tolerance in (("rel", rel), ("abs", abs)):
            if tolerance is not None and not (_is_finite(tolerance) and tolerance >= 0):
                raise ExpectationError(
                    f"Approx() wants {name} of 0 or more and finite, not {shown(tolerance)}."
                )
        self.expected = expected
        self.rel = rel
        self.abs = abs
        default = rel is None and abs is None
        self._tolerances = (1e-6, 1e-12) if default else (float(rel or 0), float(abs or 0))

    def accepts(self, actual: Any) -> bool:
        """Say whether a number, or every number inside, is close enough."""
        if type(self.expected) is float and type(actual) is float:
            return self._near(self.expected, actual)
        return self._close(self.expected, actual)

    def _close(self, expected: Any, actual: Any) -> bool:
        if isinstance(expected, Mapping):
            return (
                isinstance(actual, Mapping)
                and expected.keys() == actual.keys()
                and all(self._close(value, actual[key]) for key, value in expected.items())
            )
        if isinstance(expected, list | tuple):
            return (
                isinstance(actual, list | tuple)
                and len(expected) == len(actual)
                and all(self._close(one, other) for one, other in zip(expected, actual, strict=True))
            )
        if type(expected) is float and type(actual) is float:
            return self._near(expected, actual)
        if equal(expected, actual):
            return True
        if not _is_finite(expected) or not _is_finite(actual):
            return False
        # Fractions mix every kind of number, without rounding or overflow.
        rel, absolute = map(Fraction, self._tolerances)
        expected, actual = Fraction(expected), Fraction(actual)
        return bool(abs(actual - expected) <= max(rel * abs(expected), absolute))

    def _near(self, expected: float, actual: float) -> bool:
        rel, absolute = self._tolerances
        distance = abs(actual - expected)
        if distance <= max(rel * abs(expected), absolute):
            return math.isfinite(distance)
        return equal(expected, actual)

    def not_a_call(self) -> Any:
        """Give itself: it accepts values."""
        return self

    def __repr__(self) -> str:
        tolerances = {"rel": self.rel, "abs": self.abs}
        given = [f"{name}={value!r}" for name, value in tolerances.items() if value is not None]
        return f"Approx({', '.join([repr(self.expected), *given])})"


class OneOf(Matcher):
    """Accepts what equals one of the options, each of which may be a matcher.

    Args:
        *options: The options; a single list, tuple or set is a collection of options.

    Raises:
        ExpectationError: There is no option.
    """

    def __init__(self, *options: Any) -> None:
        single = len(options) == 1 and isinstance(options[0], list | tuple | AbstractSet)
        self.options = tuple(options[0]) if single else options
        if not self.options:
            raise ExpectationError("OneOf() wants at least one option; with none it accepts nothing.")

    def accepts(self, actual: Any) -> bool:
        """Say whether a value equals one of the options."""
        return any(equal(option, actual) for option in self.options)

    def not_a_call(self) -> Any:
        """Give the first option that no call can equal."""
        return first_not_a_call(*self.options)

    def __repr__(self) -> str:
        return f"OneOf({', '.join(map(repr, self.options))})"


class Unordered(Matcher):
    """Accepts a list, tuple or set with exactly these items in any order, each met by one of its own.

    Args:
        expected: The items; matchers among them are paired optimally.

    Raises:
        ExpectationError: They are no collection of items: a text, a mapping, or nothing that can be listed.
    """

    def __init__(self, expected: Iterable[Any]) -> None:
        if isinstance(expected, str | bytes | Mapping) or not isinstance(expected, Iterable):
            raise ExpectationError(f"Unordered() wants a list of items, not {shown(expected)}.")
        self.expected = list(expected)

    def accepts(self, actual: Any) -> bool:
        """Say whether the items can be paired one to one."""
        if not isinstance(actual, list | tuple | AbstractSet) or len(actual) != len(self.expected):
            return False
        items = list(actual)
        ones, others = _counted(self.expected), _counted(items)
        if ones is not None and others is not None:
            return ones == others
        pairs = maximum_matching(len(items), len(items), lambda i, j: equal(self.expected[i], items[j]))
        return len(pairs) == len(items)

    def not_a_call(self) -> Any:
        """Give itself: it accepts values."""
        return self

    def __repr__(self) -> str:
        return f"Unordered({self.expected!r})"


class Satisfies(Matcher):
    """Accepts what a predicate says yes to; an exception it raises reaches the test.

    Args:
        predicate: Called with the actual value.
    """

    def __init__(self, predicate: Callable[[Any], object]) -> None:
        if not callable(predicate):
            raise ExpectationError(f"Satisfies() wants a predicate, not {shown(predicate)}.")
        self.predicate = predicate

    def accepts(self, actual: Any) -> bool:
        """Ask the predicate."""
        try:
            return bool(self.predicate(actual))
        except Exception as problem:
            problem.add_note(f"raised by {self!r} for {shown(actual)}")
            raise

    def __repr__(self) -> str:
        return f"Satisfies({getattr(self.predicate, '__name__', repr(self.predicate))})"


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return False
    return isinstance(value, Rational) or math.isfinite(value)  # a large int does not fit a float


def _counted(items: Iterable[Any]) -> Counter[Any] | None:
    """Count equal items, or give None when one is a matcher or an object that can only be compared."""
    try:
        return Counter(map(freeze, items))
    except UnfreezableError:
        return None
