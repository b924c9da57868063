"""Per-tool argument policies: what to leave out, fill in, or compare in another way."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from callsheet._equality import decides_equality
from callsheet._errors import ExpectationError
from callsheet._expected import Expected, ExpectedFields
from callsheet._matcher import Matcher
from callsheet._paths import parse_path, places, remove, set_default
from callsheet._showing import shown
from callsheet._suggest import did_you_mean, listed

Item = TypeVar("Item", bound=Any)
Comparison = Callable[[Any, Any], object]


@dataclass(frozen=True)
class ArgPolicy:
    """How the arguments of one tool are compared.

    Paths read `filters.city`, `items[0].id` or `items[*].id`; a tuple of keys is a path too.

    Args:
        ignore: Paths left out on both sides.
        defaults: Path -> value filled in where either side leaves it out.
        overrides: Path -> a matcher that the actual value has to meet instead, or a function of the
            expected and the actual value that says whether they agree.

    Raises:
        ExpectationError: A path is malformed, or an override is neither a matcher nor a function.
    """

    __module__ = "callsheet.match"

    ignore: Sequence[str | tuple[Any, ...]] = ()
    defaults: Mapping[str | tuple[Any, ...], Any] = field(default_factory=dict)
    overrides: Mapping[str | tuple[Any, ...], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.ignore, str):
            raise ExpectationError(
                f"ignore is a list of paths, not {shown(self.ignore)}. Put it in brackets."
            )
        for path in (*self.ignore, *self.defaults, *self.overrides):
            parse_path(path)
        for path, override in self.overrides.items():
            if not callable(override) and not decides_equality(override):
                raise ExpectationError(
                    f"The override of {path!r} is a matcher or a function of two values, "
                    f"not {shown(override)}."
                )


def apply_policies(
    policies: Mapping[str, ArgPolicy] | None, expected: Sequence[Expected], actual: Sequence[Item]
) -> tuple[list[Expected], list[Item]]:
    """Give both sides as the policies of their tools want them compared.

    Args:
        policies: Tool name -> policy.
        expected: What was expected.
        actual: The calls or steps, which have a `name` and `args`.

    Raises:
        ExpectationError: A policy is for a tool, or a path for an argument, that neither side has, or an
            override for an argument that is not expected.
    """
    if not policies:
        return list(expected), list(actual)
    for tool, policy in policies.items():
        if not isinstance(policy, ArgPolicy):
            raise ExpectationError(f"The policy for {tool!r} is an ArgPolicy(...), not {shown(policy)}.")
        _refuse_idle(tool, policy, expected, actual)
    return (
        [_expected(item, policies.get(item.name or "")) for item in expected],
        [_actual(item, policies.get(item.name or "")) for item in actual],
    )


class _Agrees(Matcher):
    """Accepts what a comparison says agrees with the expected value."""

    def __init__(self, comparison: Comparison, expected: Any) -> None:
        self.comparison = comparison
        self.expected = expected

    def accepts(self, actual: Any) -> bool:
        return bool(self.comparison(self.expected, actual))

    def __repr__(self) -> str:
        return f"{self.expected!r} by {getattr(self.comparison, '__name__', repr(self.comparison))}"


def _expected(item: Expected, policy: ArgPolicy | None) -> Expected:
    given = item.fields.get("args") if isinstance(item, ExpectedFields) else None
    if policy is None or not isinstance(item, ExpectedFields) or not isinstance(given, Mapping):
        return item
    args = _filled_and_trimmed(given, policy)
    for path, override in policy.overrides.items():
        for container, key in places(args, parse_path(path)):
            container[key] = override if decides_equality(override) else _Agrees(override, container[key])
    return replace(item, fields={**item.fields, "args": args})


def _actual(item: Item, policy: ArgPolicy | None) -> Item:
    if policy is None or item.args is None:
        return item
    changed: Item = replace(item, args=_filled_and_trimmed(item.args, policy))
    return changed


def _filled_and_trimmed(args: Mapping[str, Any], policy: ArgPolicy) -> dict[str, Any]:
    copied = _filled(args, policy)
    for path in policy.ignore:
        remove(copied, parse_path(path))
    return copied


def _filled(args: Mapping[str, Any], policy: ArgPolicy) -> dict[str, Any]:
    copied = deepcopy(dict(args))
    for path, value in policy.defaults.items():
        set_default(copied, parse_path(path), value)
    return copied


def _refuse_idle(tool: str, policy: ArgPolicy, expected: Sequence[Expected], actual: Sequence[Any]) -> None:
    names = {item.name for item in (*expected, *actual) if item.name is not None}
    if tool not in names:
        raise ExpectationError(
            f"The policy for {tool!r} is about no call; expected and made: {listed(sorted(names))}."
            f"{did_you_mean(tool, names)}"
        )
    named = [item for item in expected if isinstance(item, ExpectedFields) and item.name == tool]
    wanted = [_filled(args, policy) for item in named if isinstance(args := item.fields.get("args"), Mapping)]
    made = [_filled(item.args, policy) for item in actual if item.name == tool and item.args is not None]
    everything = [*wanted, *made]
    for path in (*policy.ignore, *policy.overrides, *policy.defaults):
        if not any(places(args, parse_path(path)) for args in everything):
            keys = {str(key) for args in everything for key in args}
            raise ExpectationError(
                f"The path {path!r} matches no argument of {tool!r}; its arguments: {listed(sorted(keys))}."
                f"{did_you_mean(str(parse_path(path)[0]), keys)}"
            )
    for path in policy.overrides:
        # It stands in an expected value's place; where there is none, nothing would be compared.
        if not any(places(args, parse_path(path)) for args in wanted):
            raise ExpectationError(
                f"The override of {path!r} replaces no expected argument of {tool!r}. "
                f"Expect its args, with any value there: {{'name': {tool!r}, 'args': {{...}}}}."
            )
