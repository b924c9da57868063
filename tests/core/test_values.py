import copy
import dataclasses
import inspect
import pickle

import pytest

from callsheet import ToolCall, TraceEntry, Usage

EVIDENCE = {
    "id": "call_1",
    "agent": "Desk",
    "parent_id": "call_0",
    "run": 2,
    "turn": 1,
    "index": 3,
    "mocked": True,
    "raw_args": "{",
    "kind": "mcp",
    "outcome": "failed",
    "attempts": 2,
    "duration": 1.5,
    "seen_by_model": "text",
    "metadata": {"node": "tools"},
}


def test_the_constructor_takes_every_field_as_it_is_declared():
    fields = dataclasses.fields(ToolCall)
    parameters = [p for p in inspect.signature(ToolCall.__init__).parameters.values() if p.name != "self"]
    assert [p.name for p in parameters] == [field.name for field in fields]
    assert [p.kind is p.KEYWORD_ONLY for p in parameters] == [field.kw_only for field in fields]
    assert [p.annotation for p in parameters if p.default is p.empty] == [str]
    made = ToolCall("a")
    for field in fields[1:]:
        wanted = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        assert getattr(made, field.name) == wanted, field.name
    assert made.args is not ToolCall("a").args
    given = {field.name: object() for field in fields}
    assert vars(ToolCall(**given)) == given


def test_evidence_covers_every_field_outside_equality():
    outside = {field.name for field in dataclasses.fields(ToolCall) if not field.compare}
    assert outside == EVIDENCE.keys()


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_is_keyword_only_and_outside_equality(name):
    assert ToolCall("a", {"x": 1}, **{name: EVIDENCE[name]}) == ToolCall("a", {"x": 1})
    assert {field.name: field.kw_only for field in dataclasses.fields(ToolCall)}[name]


@pytest.mark.parametrize(
    "other", [ToolCall("b"), ToolCall("a", {"x": 2}), ToolCall("a", response=1), ToolCall("a", error="no")]
)
def test_name_args_response_and_error_make_calls_different(other):
    assert ToolCall("a") != other


def test_a_call_can_not_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ToolCall("a").name = "b"


def test_two_calls_do_not_share_their_default_args():
    first, second = ToolCall("a"), ToolCall("a")
    first.args["x"] = 1
    assert second.args == {}


def test_the_short_dict_has_response_and_error_only_where_set():
    assert ToolCall("a", {"x": 1}, id="call_1").to_dict() == {"name": "a", "args": {"x": 1}}
    assert ToolCall("a", response=0).to_dict() == {"name": "a", "args": {}, "response": 0}
    assert ToolCall("a", error="").to_dict() == {"name": "a", "args": {}, "error": ""}


def test_the_full_dict_builds_the_same_call_again():
    call = ToolCall("a", {"x": 1}, response=2, error="e", **EVIDENCE)
    full = call.to_dict(full=True)
    assert full == {"name": "a", "args": {"x": 1}, "response": 2, "error": "e", **EVIDENCE}
    assert ToolCall.from_dict(full).to_dict(full=True) == full


def test_from_dict_refuses_a_key_it_does_not_know():
    with pytest.raises(TypeError, match="nmae"):
        ToolCall.from_dict({"nmae": "a"})


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))], ids=["copy", "pickle"]
)
@pytest.mark.parametrize(
    "value", [ToolCall("a", {"x": 1}), TraceEntry("user", "hi"), Usage(1, 2, 3)], ids=str
)
def test_values_can_be_copied_and_pickled(value, again):
    assert again(value) == value


def test_an_entry_survives_the_way_through_a_dict():
    entry = TraceEntry(
        "tool", tool_call=ToolCall("a", turn=1), metadata={"k": 1}, agent="Desk", run=1, turn=1
    )
    again = TraceEntry.from_dict(entry.to_dict())
    assert again == entry
    assert again.to_dict() == entry.to_dict()
    assert TraceEntry.from_dict(TraceEntry("user", "hi").to_dict()) == TraceEntry("user", "hi")


def test_a_dict_of_an_entry_does_not_share_its_metadata():
    entry = TraceEntry("user", metadata={"k": 1})
    entry.to_dict()["metadata"]["k"] = 2
    assert entry.metadata == {"k": 1}


def test_where_a_step_happened_is_outside_equality_but_the_agent_is_not():
    assert TraceEntry("user", "hi", run=1, turn=2, parent_id="c") == TraceEntry("user", "hi")
    assert TraceEntry("user", "hi", agent="Desk") != TraceEntry("user", "hi")


@pytest.mark.parametrize(
    ("entry", "name", "args", "content"),
    [
        (TraceEntry("user", "hi"), None, None, "hi"),
        (TraceEntry("tool", tool_call=ToolCall("a", {"x": 1}, response=[1])), "a", {"x": 1}, [1]),
        (TraceEntry("tool", tool_call=ToolCall("a", response="late", error="no")), "a", {}, "no"),
        (TraceEntry("tool", "result text"), None, None, "result text"),
        (TraceEntry("handoff", "Refunds"), "Refunds", {}, None),
        (
            TraceEntry("handoff", "Refunds", tool_call=ToolCall("transfer", {"why": 1})),
            "Refunds",
            {"why": 1},
            None,
        ),
        (TraceEntry("error", "max turns"), None, None, "max turns"),
    ],
)
def test_a_normalized_step_has_no_envelope(entry, name, args, content):
    expected = {"role": entry.role, "name": name, "args": args, "content": content, "agent": None}
    assert entry.normalized() == expected


def test_usage_adds_up():
    assert Usage(1, 10, 5) + Usage(2, 1, 1) == Usage(3, 11, 6)
    assert sum([Usage(1, 2, 3), Usage(1, 2, 3)], Usage()).to_dict() == {
        "requests": 2,
        "input_tokens": 4,
        "output_tokens": 6,
        "total_tokens": 10,
    }


def test_usage_adds_to_nothing_else():
    with pytest.raises(TypeError, match="unsupported operand"):
        Usage() + 1
