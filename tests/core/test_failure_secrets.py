"""No failure text and no error gives a secret away, wherever in a value it is."""

from __future__ import annotations

from collections import OrderedDict, UserDict
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from callsheet import (
    AgentResult,
    ToolCall,
    assert_calls,
    assert_headers,
    assert_response_equals,
    validate_tools,
)
from callsheet import assertions as ask
from callsheet.diff import format_tool_call_diff, format_value_diff
from callsheet.match import Called, OneOf, Partial, Regex
from callsheet.order import InOrder

SECRET, OTHER = "hunter2canary99", "0therCanary77x"


class Login(NamedTuple):
    token: Any
    user: int


@dataclass(frozen=True)
class Config:
    api_key: Any
    inner: Any = None


HIDDEN: list[Callable[[str], Any]] = [
    lambda secret: {("password", secret): 1},
    lambda secret: {(("password", secret), 1): 1},
    lambda secret: {frozenset([("password", secret)]): 1},
    lambda secret: {f"Bearer {secret}": 1},
    lambda secret: {"a": [{"b": {"password": secret}}]},
    lambda secret: {"password": {secret}},
    lambda secret: {"config": Config(secret)},
    lambda secret: {"config": Config([secret, 1])},
    lambda secret: {"config": Config("x", {"token": [secret]})},
    lambda secret: {"login": Login(secret, 1)},
    lambda secret: {"login": Login({"a": secret}, 1)},
    lambda secret: {"space": SimpleNamespace(password={"a": secret})},
    lambda secret: {"error": ValueError("password", secret)},
    lambda secret: UserDict({"password": [secret]}),
    lambda secret: OrderedDict({"password": secret}),
    lambda secret: MappingProxyType({"password": [secret]}),
    lambda secret: {"url": f"postgres://user:{secret}@db:5432/x"},
    lambda secret: {"url": f"https://host/path?sig=1&access_token={secret}"},
    lambda secret: {"headers": [["Authorization", f"Bearer {secret}"]]},
    lambda secret: {"headers": [("x-api-key", secret, "extra")]},
    lambda secret: {"headers": [(b"authorization", secret.encode())]},
    lambda secret: {"headers": [{"name": "X-Api-Key", "value": secret}]},
    lambda secret: {"headers": {"Set-Cookie": f"sid={secret}; Path=/"}},
    lambda secret: {"body": f'{{"password": ["{secret}"]}}'},
    lambda secret: {"text": f"password: {secret}\nuser: x"},
    lambda secret: {"text": "y" * 5_000 + f" secret = '''{secret}''' " + "z" * 5_000},
    lambda secret: {"password": secret * 1_000},
    lambda secret: {"password": OneOf(secret, Regex(secret))},
    lambda secret: {"x": Partial({"password": [secret]})},
    lambda secret: {"x": Called("a", password=secret)},
]


def looks(value: Any, other: Any) -> list[Callable[[], Any]]:
    """Give whatever shows one value or the other."""
    call, wanted = ToolCall("t", value, response=value, turn=1), {"name": "t", "args": other}
    result = AgentResult(str(value), [call], headers={"X": str(value)})
    flow = [ToolCall("s", response=other, turn=0), ToolCall("t", {"v": value}, turn=1)]
    return [
        lambda: format_value_diff(value, other),
        lambda: format_value_diff([value], [other]),
        lambda: format_tool_call_diff([wanted], [{"name": "t", "args": value}]),
        lambda: ask.assert_tool_calls([call], [wanted]),
        lambda: ask.assert_tool_calls([call], [ToolCall("t", other, response=other)], strict_order=False),
        lambda: ask.assert_tool_calls([call], [value]),
        lambda: ask.assert_tool_calls([call], value),
        lambda: ask.assert_tool_calls(value, []),
        lambda: ask.assert_tool_call_order([call], ["z"]),
        lambda: ask.assert_tool_args_contain([call], "t", other),
        lambda: ask.assert_no_tool_calls([call]),
        lambda: ask.assert_no_duplicate_calls([call, call]),
        lambda: ask.assert_no_loop([call] * 4),
        lambda: ask.assert_only_tools([call], ["x"]),
        lambda: ask.assert_confirmed([call], "t", by="z"),
        lambda: ask.assert_argument_flows(flow, "s", "t", argument="v"),
        lambda: ask.assert_response_consistent(result, lambda *_: False),
        lambda: ask.assert_trajectory([call], [{"role": "tool", **wanted}]),
        lambda: ask.assert_trajectory([call], [{"role": "user", "content": other}]),
        lambda: assert_calls([call], InOrder(wanted, "t")),
        lambda: assert_headers(result, {"X": str(other)}),
        lambda: assert_response_equals(result, str(other)),
        lambda: "\n".join(validate_tools([call], validate_args={"t": other}).failures),
        lambda: validate_tools([{"function": {"arguments": value}}]),
    ]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_secret_is_nowhere_in_what_is_shown(hidden: Callable[[str], Any]) -> None:
    for look in looks(hidden(SECRET), hidden(OTHER)):
        text = text_of(look)
        assert text
        assert SECRET not in text
        assert OTHER not in text


def text_of(look: Callable[[], Any]) -> str:
    try:
        return str(look())
    except (AssertionError, ValueError) as error:
        return str(error)


def test_an_error_about_an_expectation_is_bounded() -> None:
    for look in looks({"x": "y" * 100_000}, {"x": "z" * 100_000}):
        assert len(text_of(look)) < 9_000
