"""Expectations: one expected call or step, whichever way the user wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from callsheet._equality import UnfreezableError, decides_equality, equal, freeze
from callsheet._errors import ExpectationError
from callsheet._showing import shown
from callsheet._suggest import did_you_mean, listed
from callsheet._values import Role, ToolCall, TraceEntry

_CALL_FIELDS = ("name", "args", "response", "error", "agent")
_ROLES = get_args(Role)
_STEP_FIELDS = ("role", "content", "name", "args", "agent")


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedFields:
    """Fields that must be equal; fields not mentioned may be anything."""

    source: Any
    fields: Mapping[str, Any]

    @property
    def name(self) -> str | None:
        """The tool name, when it is written out."""
        name = self.fields.get("name")
        return name if isinstance(name, str) else None

    def mentioned_tools(self) -> list[Any]:
        """Give the tool name, or its matcher; each name of a choice."""
        name = self.fields.get("name")
        if name is None:
            return []
        return list(getattr(name, "options", [name])) if decides_equality(name) else [name]

    @property
    def role(self) -> str | None:
        """The role of the step, when it is written out."""
        role = self.fields.get("role")
        return role if isinstance(role, str) else None

    def matches(self, item: Any) -> bool:
        """Say whether all the expected fields of an item are equal."""
        # A loop, because this runs for every pair: all() with a generator takes half as long again.
        for field, value in self.fields.items():  # noqa: SIM110
            if not equal(value, getattr(item, field)):
                return False
        return True

    def example(self) -> ToolCall | None:
        """Give a call that is expected, matchers standing where they stand, or None."""
        if self.name is None or not isinstance(self.fields.get("args", {}), Mapping):
            return None
        return ToolCall(**self.fields)

    def key(self) -> Any:
        """Give the expected values in hashable form, or None when a matcher is among them."""
        return _key(self.fields, self.fields.values())

    def key_of(self, item: Any) -> Any:
        """Give an item's values of the same fields in hashable form, or None."""
        return _key(self.fields, [getattr(item, field) for field in self.fields])


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedMatcher:
    """Whatever a matcher accepts."""

    source: Any

    @property
    def name(self) -> str | None:
        """The tool name a matcher asks for, when it says so."""
        name = getattr(self.source, "tool_name", None)
        return name if isinstance(name, str) else None

    def mentioned_tools(self) -> list[Any]:
        """Give the names, or matchers for names, of the tools the matcher speaks of."""
        mentioned = getattr(self.source, "mentioned_tools", None)
        return mentioned() if callable(mentioned) else []

    @property
    def role(self) -> None:
        """None: a matcher accepts any role."""

    def matches(self, item: Any) -> bool:
        """Say whether the matcher accepts an item."""
        return bool(self.source == item)

    def example(self) -> ToolCall | None:
        """Give a call the matcher accepts, if it knows one."""
        example = getattr(self.source, "example", None)
        return example() if callable(example) else None

    def key(self) -> Any:
        """Give None: a matcher has no literal form."""

    def key_of(self, item: Any) -> Any:
        """Give None: a matcher has no literal form."""


Expected: TypeAlias = ExpectedFields | ExpectedMatcher
"""One thing an assertion expects; what it is compared with has the expected fields as attributes."""


def expected_calls(items: Any) -> list[Expected]:
    """Read expected calls: `{"name", "args"}` dicts, `ToolCall`s, names, or matchers.

    Raises:
        ExpectationError: The list or one of its items can't be an expected call.
    """
    return _read(items, expected_call)


def expected_steps(items: Any) -> list[Expected]:
    """Read expected steps: role/content/name/args dicts, `TraceEntry`s, `ToolCall`s, or matchers.

    Raises:
        ExpectationError: The list or one of its items can't be an expected step.
    """
    return _read(items, _expected_step)


def expected_call(item: Any) -> Expected:
    """Read one expected call."""
    if isinstance(item, str):
        return ExpectedFields(item, {"name": item})
    if isinstance(item, ToolCall):
        return ExpectedFields(item, item.to_dict())
    if isinstance(item, Mapping):
        return _from_mapping(item, _CALL_FIELDS, "name")
    if decides_equality(item):
        return _from_matcher(item)
    raise ExpectationError(
        f"An expected tool call is a name, a {{'name', 'args'}} dict, a ToolCall or a matcher, "
        f"not {shown(item)}."
    )


def _expected_step(item: Any) -> Expected:
    if isinstance(item, ToolCall):
        return ExpectedFields(item, {"role": "tool", "name": item.name, "args": item.args})
    if isinstance(item, TraceEntry):
        normalized = item.normalized()
        return ExpectedFields(item, {key: value for key, value in normalized.items() if value is not None})
    if isinstance(item, Mapping):
        role = item.get("role")
        if isinstance(role, str) and role not in _ROLES:
            raise ExpectationError(
                f"No step has the role {shown(role)}; roles: {listed(_ROLES)}.{did_you_mean(role, _ROLES)}"
            )
        return _from_mapping(item, _STEP_FIELDS, "role")
    if decides_equality(item):
        return _from_matcher(item)
    raise ExpectationError(
        f"An expected step is a dict of {listed(_STEP_FIELDS)}, a ToolCall or a matcher, not {shown(item)}."
    )


def _read(items: Any, read_one: Callable[[Any], Expected]) -> list[Expected]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise ExpectationError(
            f"Expected a list, got {type(items).__name__} {shown(items)}. Put it in brackets."
        )
    if isinstance(items, set | frozenset):
        raise ExpectationError(
            f"Expected a list, got {type(items).__name__} {shown(items)}, which has another order in every "
            "process and nothing twice. Write a list; strict_order=False compares it in any order."
        )
    return [read_one(item) for item in items]


def _from_mapping(item: Mapping[str, Any], allowed: Sequence[str], required: str) -> Expected:
    for key in item:
        if key not in allowed:
            raise ExpectationError(
                f"Unknown key {shown(key)} in {shown(dict(item))}; known: {listed(allowed)}."
                f"{did_you_mean(str(key), allowed)}"
            )
    if required not in item:
        raise ExpectationError(f"No {required!r} in {shown(dict(item))}; give at least that.")
    for field, kind in (("name", str), ("args", Mapping)):
        value = item.get(field)
        # A step need not be a tool's; a call always has both.
        left_open = field not in item or (value is None and required == "role")
        if not left_open and not isinstance(value, kind) and not decides_equality(value):
            wanted = "a text" if kind is str else "a mapping"
            raise ExpectationError(f"The {field} of {shown(dict(item))} is neither {wanted} nor a matcher.")
    return ExpectedFields(item, {field: item[field] for field in allowed if field in item})


def _from_matcher(matcher: Any) -> ExpectedMatcher:
    find = getattr(matcher, "not_a_call", None)
    part = find() if callable(find) else None
    if part is not None:
        raise ExpectationError(
            f"{shown(part)} is about a value, so no tool call would ever match it. "
            "Write Called(name, ...), in which the name and each argument may be a matcher."
        )
    return ExpectedMatcher(matcher)


def _key(fields: Iterable[str], values: Iterable[Any]) -> Any:
    try:
        return tuple(fields), tuple(freeze(value) for value in values)
    except UnfreezableError:
        return None
