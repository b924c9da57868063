import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet import AgentResult, CallsheetError, ToolCall, TraceEntry
from callsheet._messages import parse_arguments, text_of

CONVERSATION = [
    {"role": "system", "content": "You book rooms."},
    {"role": "user", "content": "A room in Zürich and the weather, please."},
    {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "rooms", "arguments": '{"city": "Zürich"}'}},
            {"id": "b", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "[12]"},
    {"role": "tool", "tool_call_id": "b", "content": "snow"},
    {"role": "assistant", "content": "Room 12; bring boots."},
]


def reply(*wires, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(wires)}


def wire(name="search", arguments="{}", call_id="call_0"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(content, call_id="call_0"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def call_step(*args, turn=0, **options):
    return TraceEntry("tool", tool_call=ToolCall(*args, turn=turn, **options), turn=turn)


def test_a_conversation_survives_the_way_there_and_back():
    assert AgentResult.from_messages(CONVERSATION).to_messages() == CONVERSATION


def test_from_messages_fills_response_calls_and_turns():
    result = AgentResult.from_messages(CONVERSATION)
    assert result.response == "Room 12; bring boots."
    assert result.tool_calls == [
        ToolCall("rooms", {"city": "Zürich"}, response="[12]"),
        ToolCall("weather", {}, response="snow"),
    ]
    assert result.metadata == {"turns": 2}
    assert [[call.name for call in batch] for batch in result.batches] == [["rooms", "weather"]]


def test_from_messages_reads_a_generator_once():
    result = AgentResult.from_messages(message for message in CONVERSATION)
    assert result.metadata == {"turns": 2}
    assert result.tool_call_count == 2


def test_ids_that_start_anew_in_every_reply_join_the_nearest_answer():
    result = AgentResult.from_messages(
        [reply(wire()), answer("first"), reply(wire()), answer("second"), reply(wire())]
    )
    assert [call.response for call in result.tool_calls] == ["first", "second", None]


def test_a_tool_message_before_its_call_answers_nothing():
    assert AgentResult.from_messages([answer("stray"), reply(wire())]).tool_calls[0].response is None


def test_answers_without_ids_join_in_order():
    calls = [{"function": {"name": "a"}}, {"function": {"name": "b"}}]
    result = AgentResult.from_messages(
        [reply(*calls), {"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}]
    )
    assert [call.response for call in result.tool_calls] == ["1", "2"]


def test_parts_become_the_text_a_reader_sees():
    parts = [{"type": "text", "text": "Room "}, {"type": "image_url"}, {"type": "text", "text": "12"}]
    result = AgentResult.from_messages(
        [reply(wire()), answer(parts), {"role": "assistant", "content": parts}]
    )
    assert result.response == "Room 12"
    assert result.tool_calls[0].seen_by_model == "Room 12"


def test_a_users_parts_stay_whole():
    parts = [{"type": "image_url", "image_url": {"url": "data:"}}]
    assert AgentResult.from_messages([{"role": "user", "content": parts}]).trace[0].content == parts


def test_developer_messages_are_system_messages():
    assert AgentResult.from_messages([{"role": "developer", "content": "Be kind."}]).to_messages() == [
        {"role": "system", "content": "Be kind."}
    ]


def test_an_empty_reply_is_still_a_reply():
    result = AgentResult.from_messages([{"role": "assistant", "content": ""}])
    assert result.to_messages() == [{"role": "assistant", "content": ""}]
    assert result.response == ""


def test_an_unknown_role_is_refused_by_name_and_place():
    with pytest.raises(CallsheetError, match=r"Message 1 has the role 'function'; known roles: 'user', "):
        AgentResult.from_messages([{"role": "user", "content": "x"}, {"role": "function", "content": "y"}])


@pytest.mark.parametrize("broken", [{"id": "a"}, {"function": None}, {"function": {"arguments": "{}"}}])
def test_a_call_without_a_name_is_refused(broken):
    with pytest.raises(CallsheetError, match="Tool call 0 of reply 0 has no function name"):
        AgentResult.from_messages([reply(broken)])


@pytest.mark.parametrize(
    "written", ['{"city": ', "[1]", "null", "3", "[" * 100_000, '{"n": ' + "9" * 5000 + "}"]
)
def test_arguments_that_are_no_object_are_kept_as_written(written):
    call = AgentResult.from_messages([reply(wire(arguments=written))]).tool_calls[0]
    assert (call.args, call.raw_args, call.outcome) == ({}, written, "invalid")


def test_arguments_that_are_no_object_go_back_as_written():
    messages = [reply(wire(arguments="{oops")), answer("what?")]
    assert AgentResult.from_messages(messages).to_messages() == messages


@pytest.mark.parametrize(
    ("written", "args"), [({"n": 1}, {"n": 1}), ("", {}), (None, {}), ("  ", {}), ({}, {})]
)
def test_parsed_and_missing_arguments_are_understood(written, args):
    call = AgentResult.from_messages([reply(wire(arguments=written))]).tool_calls[0]
    assert (call.args, call.raw_args, call.outcome) == (args, None, "success")


def test_arguments_of_another_type_are_invalid_not_a_crash():
    call = AgentResult.from_messages([reply(wire(arguments=["n"]))]).tool_calls[0]
    assert (call.args, call.raw_args, call.outcome) == ({}, "['n']", "invalid")


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text()))
def test_any_object_written_as_json_is_read_back(args):
    assert parse_arguments(json.dumps(args)) == args


@given(st.text())
def test_no_text_breaks_the_argument_parser(text):
    assert parse_arguments(text) is None or isinstance(parse_arguments(text), dict)


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, None), ("a", "a"), ([], ""), ([{"type": "refusal", "text": None}, "loose"], ""), (3, "3")],
)
def test_content_as_text(content, text):
    assert text_of(content) == text


def test_what_a_sub_agent_did_is_inside_the_call_that_started_it():
    trace = [
        call_step("ask_expert", {"q": 1}, "done", id="outer"),
        TraceEntry("assistant", "inner thought", parent_id="outer", run=1, turn=0),
    ]
    assert [message["role"] for message in AgentResult(trace=trace).to_messages()] == ["assistant", "tool"]


def test_calls_without_ids_get_distinct_ones():
    trace = [call_step("a"), call_step("b")]
    head, first, second = AgentResult(trace=trace).to_messages()
    assert [wire["id"] for wire in head["tool_calls"]] == [first["tool_call_id"], second["tool_call_id"]]
    assert first["tool_call_id"] != second["tool_call_id"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"response": "plain"}, "plain"),
        ({"response": {"city": "Zürich"}}, '{"city": "Zürich"}'),
        ({"response": None}, "null"),
        ({"error": "no such room"}, "no such room"),
        ({"response": [1], "seen_by_model": "one"}, "one"),
        ({"response": {1j}}, '"{1j}"'),
        ({"response": {(1, 2): 3}}, "{(1, 2): 3}"),
    ],
)
def test_the_tool_message_is_what_the_model_was_told(options, text):
    assert AgentResult(trace=[call_step("a", **options)]).to_messages()[1]["content"] == text


def test_a_response_that_contains_itself_is_still_shown():
    loop = []
    loop.append(loop)
    assert AgentResult(trace=[call_step("a", response=loop)]).to_messages()[1]["content"] == "[[...]]"


def test_turns_that_start_anew_after_a_user_message_stay_apart():
    trace = [
        TraceEntry("user", "one"),
        TraceEntry("assistant", "1", turn=0),
        TraceEntry("user", "two"),
        TraceEntry("assistant", "2", turn=0),
    ]
    assert [message["content"] for message in AgentResult(trace=trace).to_messages()] == [
        "one",
        "1",
        "two",
        "2",
    ]


def test_two_texts_of_one_reply_are_both_kept():
    trace = [TraceEntry("assistant", "first", turn=0), TraceEntry("assistant", "second", turn=0)]
    assert [message["content"] for message in AgentResult(trace=trace).to_messages()] == ["first", "second"]


def test_text_after_a_call_joins_the_calls_reply():
    trace = [call_step("a"), TraceEntry("assistant", "meanwhile", turn=0)]
    assert AgentResult(trace=trace).to_messages()[0]["content"] == "meanwhile"


def test_steps_of_no_reply_stand_alone():
    trace = [
        TraceEntry("assistant", "a"),
        TraceEntry("assistant", "b"),
        TraceEntry("tool", tool_call=ToolCall("c")),
    ]
    assert [message["role"] for message in AgentResult(trace=trace).to_messages()] == [
        "assistant",
        "assistant",
        "assistant",
        "tool",
    ]


@pytest.mark.parametrize("role", ["error", "interrupt", "handoff"])
def test_steps_a_message_list_has_no_shape_for_are_left_out(role):
    assert AgentResult(trace=[TraceEntry(role, "x")]).to_messages() == []


def test_a_handoff_is_the_call_that_made_it():
    call = ToolCall("transfer_to_refunds", kind="handoff", turn=0)
    messages = AgentResult(trace=[TraceEntry("handoff", "Refunds", tool_call=call, turn=0)]).to_messages()
    assert messages[0]["tool_calls"][0]["function"]["name"] == "transfer_to_refunds"
