"""Steps of a script are checked when they are written down."""

from __future__ import annotations

import pytest

from callsheet import FakeModel, MockConfigError, Usage
from callsheet._script import ModelReply, ScriptedCall, parse_step


def test_a_text_is_what_the_model_says():
    assert parse_step("hello") == ModelReply(content="hello")


def test_a_reply_stays_itself():
    reply = ModelReply(content="x")
    assert parse_step(reply) is reply


def test_every_key_has_its_place():
    reply = parse_step(
        {
            "content": "I will look",
            "tool_calls": [{"name": "search", "args": {"q": "rome"}, "id": "c1"}, {"name": "now"}, "ping"],
            "handoff": "Refunds",
            "output": {"a": 1},
            "refusal": "no",
            "thinking": "hm",
            "native": [object],
            "usage": {"input_tokens": 3, "output_tokens": 4},
            "finish_reason": "stop",
        }
    )
    assert reply == ModelReply(
        content="I will look",
        tool_calls=(
            ScriptedCall("search", {"q": "rome"}, '{"q": "rome"}', "c1"),
            ScriptedCall("now", {}, "{}"),
            ScriptedCall("ping", {}, "{}"),
        ),
        handoff="Refunds",
        output={"a": 1},
        refusal="no",
        thinking="hm",
        native=(object,),
        usage=Usage(1, 3, 4),
        finish_reason="stop",
    )


@pytest.mark.parametrize(
    ("text", "args"), [("{bad", None), ('{"q": 1}', {"q": 1}), ("[1]", None), ("", {}), ("null", None)]
)
def test_arguments_given_as_a_text_are_sent_as_they_are(text, args):
    (call,) = parse_step({"tool_calls": [{"name": "search", "args": text}]}).tool_calls
    assert (call.raw, call.args) == (text, args)


def test_usage_may_be_given_as_one():
    assert parse_step({"content": "x", "usage": Usage(1, 2, 3)}).usage == Usage(1, 2, 3)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (5, "is 5. Give a text, an exception, a callable, or a dict with 'content'"),
        (None, "is None"),
        ({}, "is empty: give"),
        ({"tool_call": []}, "unknown key 'tool_call'. Did you mean 'tool_calls'"),
        ({"xyz": 1}, "unknown key 'xyz'. Known keys: 'content'"),
        ({"content": 5}, "content=5. Give a text"),
        ({"handoff": ["A"]}, r"handoff=\['A'\]. Give a text"),
        ({"tool_calls": {"name": "a"}}, "Give a list"),
        ({"tool_calls": "search"}, "Give a list"),
        ({"tool_calls": [5]}, "calls 5. Give"),
        ({"tool_calls": [{"nam": "a"}]}, "unknown key 'nam'. Did you mean 'name'"),
        ({"tool_calls": [{"args": {}}]}, "a tool named None"),
        ({"tool_calls": [{"name": ""}]}, "a tool named ''"),
        ({"tool_calls": [{"name": "a", "args": [1]}]}, r"args \[1\], list. Give a dict, or a text"),
        ({"tool_calls": [{"name": "a", "args": {"x": {1}}}]}, "cannot write as JSON"),
        ({"tool_calls": [{"name": "a", "args": {"x": float("nan")}}]}, "cannot write as JSON"),
        ({"content": "x", "usage": 5}, "usage=5. Give"),
        ({"content": "x", "usage": {"input_tokens": "3"}}, "input_tokens='3'. Give a whole number"),
        ({"content": "x", "usage": {"output_tokens": True}}, "output_tokens=True. Give a whole number"),
        ({"content": "x", "usage": {"tokens": 5}}, "unknown key 'tokens'.*'input_tokens'"),
    ],
)
def test_a_step_that_is_none_says_what_to_write(step, message):
    with pytest.raises(MockConfigError, match=message):
        parse_step(step, where="Step 0 of responses")


def test_the_error_says_which_step():
    with pytest.raises(MockConfigError, match="Step 1 of responses of the script"):
        FakeModel(["fine", {"bad": 1}])
    with pytest.raises(MockConfigError, match=r"Step 0 of agents\['Desk'\]"):
        FakeModel(agents={"Desk": [5]})


def test_ids_go_to_the_calls_that_bring_none():
    reply = parse_step({"tool_calls": [{"name": "a", "id": "mine"}, {"name": "b"}], "handoff": "C"})
    given = reply.with_call_ids(lambda index: f"call_{index}")
    assert [call.id for call in given.tool_calls] == ["mine", "call_1"]
    assert given.handoff_id == "call_2"
    handed = given.with_handoff_call("transfer_to_c")
    assert handed.tool_calls[-1] == ScriptedCall("transfer_to_c", {}, "{}", "call_2")
    assert handed.handoff is None


def test_a_reply_without_handoff_gets_no_id_for_one():
    assert parse_step("x").with_call_ids(str).handoff_id is None


def test_a_reply_gives_its_step_back():
    step = {"content": "x", "tool_calls": [{"name": "a", "args": {"q": 1}}, {"name": "b", "args": "{bad"}]}
    assert parse_step(step).to_dict() == step
    assert parse_step("").to_dict() == {"content": ""}
    assert ModelReply().to_dict() == {"content": ""}
