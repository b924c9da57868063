"""What adapters ask, and what of it a script can read."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from callsheet import ModelRequest
from callsheet._requests import ToolRequest, message_text


def test_a_tool_goes_by_its_agents_name_first():
    request = ToolRequest(name="search", args={}, agent="Desk", aliases=("crm.search",))
    assert request.names == ("Desk.crm.search", "Desk.search", "crm.search", "search")
    assert ToolRequest(name="search", args={}).names == ("search",)


def test_messages_and_tools_are_built_on_first_use_and_once():
    built = []

    def build():
        built.append(1)
        return [{"role": "user", "content": "x"}]

    request = ModelRequest(messages=build, tools=lambda: [{"name": "search"}])
    assert built == []
    assert request.messages == request.messages == [{"role": "user", "content": "x"}]
    assert built == [1]
    assert request.tools == [{"name": "search"}]


def test_a_script_can_not_change_the_conversation():
    said = [{"role": "user", "content": "x"}]
    ModelRequest(messages=said).messages[0]["content"] = "changed"
    assert said == [{"role": "user", "content": "x"}]


def test_the_last_user_message_is_the_users():
    messages = [
        {"role": "user", "content": "first"},
        {"role": "user", "content": [{"type": "text", "text": "second"}]},
        {"role": "assistant", "content": "answer"},
    ]
    assert ModelRequest(messages=messages).last_user_message == "second"
    assert ModelRequest().last_user_message == ""


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("text", "text"),
        ([], ""),
        (["a", {"text": "b"}, SimpleNamespace(text="c"), {"image": 1}, {"text": None}], "abc"),
        (5, "5"),
    ],
)
def test_content_is_read_as_text(content, text):
    assert message_text(content) == text
