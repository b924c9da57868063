"""Deep equality of expected and actual values, as every assertion understands it.

Numbers are equal by value and never equal a bool; mappings are equal by key, whatever the order;
dataclasses and pydantic models are equal by the values of their fields; NaN equals NaN. An object
that defines its own `__eq__` (a matcher of any library) decides for itself, on either side.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, UserDict, UserList, deque
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from types import FunctionType, MappingProxyType, NoneType
from typing import Any

from callsheet._assignment import maximum_matching

Pairs = list[tuple[Any, Any]]

_SCALARS = frozenset({str, int, float, NoneType})
_MAPPING_EQUALITIES: tuple[Any, ...] = (
    dict.__eq__,
    Mapping.__eq__,
    OrderedDict.__eq__,
    Counter.__eq__,
    UserDict.__eq__,
    MappingProxyType.__eq__,
)
_FROZEN_TRUE = ("bool", True)
_FROZEN_FALSE = ("bool", False)
_FROZEN_BY_THEMSELVES = frozenset({str, int, NoneType, Fraction, date, datetime, time, timedelta})
_KINDS: dict[type, str] = {}
_MOST_KINDS = 1_000
# Hashing nested tuples recurses in C without a guard; deeper values are compared instead.
_DEEPEST_FROZEN = 50
_LARGEST_FROZEN = 1_000_000
_FROZEN_CONTAINERS = frozenset([dict, list, tuple, set, frozenset])


class UnfreezableError(Exception):
    """A value has no hashable form; compare it instead."""


def equal(expected: Any, actual: Any) -> bool:
    """Say whether two values are equal; cycles and any depth of nesting are fine.

    Exceptions of a user's own `__eq__` propagate.
    """
    verdict = _compare_scalars(expected, actual)
    if verdict is not None:
        return verdict
    if _kind(type(expected)) == "custom":
        return bool(expected == actual)
    return _compare_deeply(expected, actual)


def _compare_scalars(left: Any, right: Any) -> bool | None:
    """Decide between two values of one common scalar type, or give None."""
    kind = type(left)
    if kind not in _SCALARS or kind is not type(right):
        return None
    return bool(left == right) or (kind is float and left != left and right != right)  # noqa: PLR0124


def _compare_deeply(expected: Any, actual: Any) -> bool:
    pending: Pairs = [(expected, actual)]
    # The values are kept with their ids: an id is free for reuse once its object is gone.
    compared: dict[tuple[int, int], tuple[Any, Any]] = {}
    while pending:
        left, right = pending.pop()
        key = (id(left), id(right))
        if key in compared:
            continue
        verdict = _compare(left, right)
        if verdict is False:
            return False
        if verdict is not True:
            compared[key] = (left, right)
            for pair in verdict:
                scalar = _compare_scalars(*pair)
                if scalar is False:
                    return False
                if scalar is None:
                    pending.append(pair)
    return True


def freeze(value: Any, depth: int = 0, room: list[int] | None = None) -> Any:
    """Give a hashable form of a plain value; two forms are equal exactly when `equal` says so.

    Raises:
        UnfreezableError: The value is not made of plain types only, nests too deeply, or is too large: a
            list that holds itself twice has 2 to the depth leaves.
    """
    kind = type(value)
    if kind in _FROZEN_BY_THEMSELVES:
        return value
    if kind is bool:
        return _FROZEN_TRUE if value else _FROZEN_FALSE
    if kind is float or kind is complex or kind is Decimal:
        return ("nan",) if _is_nan(value) else value
    if kind is bytes or kind is bytearray:
        return ("bytes", bytes(value))
    members: Any = value if kind in _FROZEN_CONTAINERS else _state(value)
    room = [_LARGEST_FROZEN] if room is None else room
    room[0] -= len(members) + 1
    if depth == _DEEPEST_FROZEN or room[0] < 0:
        raise UnfreezableError
    depth += 1
    if members is not value:
        return (kind, *[freeze(member, depth, room) for member in members])
    if kind is dict:
        pairs = [(freeze(key, depth, room), freeze(item, depth, room)) for key, item in value.items()]
        return ("dict", frozenset(pairs))
    if kind is list or kind is tuple:
        return (kind.__name__, *[freeze(item, depth, room) for item in value])
    return ("set", frozenset([freeze(item, depth, room) for item in value]))


def _state(value: Any) -> Sequence[Any]:
    """Give what two objects of one class are compared by."""
    match _kind(type(value)):
        case "dataclass":
            return [getattr(value, f.name) for f in fields(value) if f.compare]
        case "pydantic":
            return _model_state(value)
    raise UnfreezableError


def decides_equality(value: Any) -> bool:
    """Say whether a value's own `__eq__` decides what it equals: a matcher, of whatever library."""
    cls = type(value)
    equality: Any = cls.__eq__
    # Since Python 3.13 None has an `__eq__` of its own, which decides nothing.
    return value is not None and equality is not object.__eq__ and _kind(cls) == "custom"


def _compare(left: Any, right: Any) -> bool | Pairs:
    """Decide for this level, or give the pairs the decision depends on."""
    left_kind, right_kind = _kind(type(left)), _kind(type(right))
    if left_kind == "custom" or right_kind == "custom":
        return bool(left == right)
    if left_kind != right_kind:
        return False
    match left_kind:
        case "number":
            return _same_number(left, right)
        case "mapping":
            return _mapping_pairs(left, right)
        case "list" | "tuple" | "UserList" | "deque":
            return len(left) == len(right) and list(zip(left, right, strict=True))
        case "set":
            return _same_set(left, right)
        case "dataclass" | "pydantic":
            return type(left) is type(right) and list(zip(_state(left), _state(right), strict=True))
        case "array":
            return left.shape == right.shape and [(left.tolist(), right.tolist())]
        case _:
            return bool(left == right)


def _kind(cls: type) -> str:
    """Give what a type is to `_compare`, remembered for as many types as a test run has."""
    kind = _KINDS.get(cls)
    if kind is None:
        if len(_KINDS) >= _MOST_KINDS:
            _KINDS.clear()
        kind = _KINDS[cls] = _classified(cls)
    return kind


def _classified(cls: type) -> str:
    equality: Any = cls.__eq__
    if cls is bool:
        return "bool"
    if issubclass(cls, Number) and (cls in (Decimal, Fraction) or not isinstance(equality, FunctionType)):
        return "number"
    if issubclass(cls, Mapping) and equality in _MAPPING_EQUALITIES:
        return "mapping"
    for name, bases in _BUILTIN_KINDS:
        if issubclass(cls, bases) and equality in [base.__eq__ for base in bases]:
            return name
    if is_dataclass(cls) and _has_no_equality_of_its_own(cls):
        return "dataclass"
    if hasattr(cls, "model_fields") and equality.__module__ in ("pydantic.main", "pydantic.root_model"):
        return "pydantic"
    if hasattr(cls, "__array__") and hasattr(cls, "tolist") and hasattr(cls, "shape"):
        return "array"
    return "custom"


_BUILTIN_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("str", (str,)),
    ("bytes", (bytes, bytearray)),
    ("list", (list,)),
    ("UserList", (UserList,)),
    ("deque", (deque,)),
    ("tuple", (tuple,)),
    ("set", (set, frozenset)),
)


def _has_no_equality_of_its_own(cls: type) -> bool:
    equality: Any = cls.__eq__
    # dataclasses compile the method they generate from a string.
    return not isinstance(equality, FunctionType) or equality.__code__.co_filename == "<string>"


def _model_state(model: Any) -> tuple[Any, Any, Any]:
    # A cached property is kept among the fields once it was asked for.
    known = type(model).model_fields
    values = {name: value for name, value in model.__dict__.items() if name in known}
    return values, model.__pydantic_extra__, model.__pydantic_private__


def _same_number(left: Any, right: Any) -> bool:
    if _is_nan(left) or _is_nan(right):
        return _is_nan(left) and _is_nan(right)
    return bool(left == right)


def _is_nan(value: Any) -> bool:
    # Comparing a signalling Decimal NaN raises.
    return value.is_nan() if isinstance(value, Decimal) else bool(value != value)  # noqa: PLR0124


def _mapping_pairs(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool | Pairs:
    if len(left) != len(right):
        return False
    pairs: Pairs = []
    for key, value in left.items():
        if type(key) is not str:
            return _pairs_of_any_keys(left, right)
        if key not in right:
            return False
        pairs.append((value, right[key]))
    return pairs


def _pairs_of_any_keys(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool | Pairs:
    by_key = {_frozen_key(key): value for key, value in right.items()}
    pairs: Pairs = []
    for key, value in left.items():
        frozen = _frozen_key(key)
        if frozen not in by_key:
            return False
        pairs.append((value, by_key[frozen]))
    return pairs


def _frozen_key(key: Any) -> Any:
    kind = _kind(type(key))
    if kind == "str":
        return str.__str__(key)  # members of a StrEnum are the text they stand for
    if kind == "number":
        return ("nan",) if _is_nan(key) else key
    try:
        return freeze(key)
    except UnfreezableError:
        return ("as is", key)


def _same_set(left: Any, right: Any) -> bool:
    if len(left) != len(right):
        return False
    try:
        return bool(freeze(set(left)) == freeze(set(right)))
    except UnfreezableError:
        ones, others = list(left), list(right)
        pairs = maximum_matching(len(ones), len(others), lambda i, j: equal(ones[i], others[j]))
        return len(pairs) == len(ones)
