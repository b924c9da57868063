"""Whatever the order of arrival, a recording tells one story."""

from __future__ import annotations

from callsheet import ModelRequest, TraceEntry
from callsheet._recording import CallRecord, Recording


def test_replies_come_in_their_order_however_they_arrive():
    def told(*arrivals):
        recording = Recording()
        run = recording.open_run(agent="Graph")
        for order, text in arrivals:
            recording.add_reply(run, agent="Node", content=text, calls=[], order=order)
        return [entry.content for entry in recording.trace()]

    assert told(((2,), "b"), ((1,), "a"), ((2, "x"), "c")) == ["a", "b", "c"]
    assert told(((), "first"), ((), "second")) == ["first", "second"]


def test_a_call_told_of_before_its_reply_is_filed_under_it():
    recording = Recording()
    run = recording.open_run(agent="Desk")
    early = recording.add_loose_call(run, CallRecord("c1", "search", {"q": 1}))
    early.outcome = "success"
    recording.add_loose_call(run, CallRecord("c0", "by hand", {}, outcome="success"))
    recording.add_reply(
        run, agent="Desk", content=None, calls=[CallRecord("c1", "search"), CallRecord("c2", "late")]
    )
    calls = [(entry.tool_call.name, entry.turn, entry.tool_call.outcome) for entry in recording.trace()]
    assert calls == [("by hand", None, "success"), ("search", 0, "success"), ("late", 0, "skipped")]


def test_a_call_of_no_tool_on_offer_is_unknown():
    recording = Recording()
    run = recording.open_run(agent="Desk")
    run.offered = frozenset(["search"])
    recording.add_reply(
        run, agent="Desk", content="", calls=[CallRecord("1", "search"), CallRecord("2", "serch")]
    )
    assert [entry.tool_call.outcome for entry in recording.trace()] == ["skipped", "unknown"]


def test_ids_are_the_same_for_the_same_place_and_never_twice():
    recording = Recording()
    run = recording.open_run(agent="Desk")
    assert [recording.new_call_id(run, "0_0") for _ in range(3)] == [
        "call_1_0_0",
        "call_1_0_0_2",
        "call_1_0_0_3",
    ]
    assert Recording().new_call_id(Recording().open_run(agent=None), "0_0") == "call_1_0_0"


def test_an_id_from_elsewhere_is_not_given_again() -> None:
    recording = Recording()
    recording.reserve(["call_1_0_0"])
    assert recording.new_call_id(recording.open_run(agent=None), "0_0") == "call_1_0_0_2"


def test_a_nested_run_stands_under_the_call_that_started_it():
    recording = Recording()
    run = recording.open_run(agent="Desk", opening=[TraceEntry("user", "hi")])
    outer = CallRecord("c1", "ask", {}, outcome="success")
    recording.add_reply(run, agent="Desk", content="", calls=[outer])
    nested = recording.open_run(agent="Weather", parent=outer)
    recording.add_reply(nested, agent="Weather", content="sun", calls=[])
    nested.add(TraceEntry("interrupt", "wait"))
    nested.error = "ValueError: x"
    told = [(entry.role, entry.content, entry.run, entry.parent_id) for entry in recording.trace()]
    assert told == [
        ("user", "hi", 0, None),
        ("tool", None, 0, None),
        ("assistant", "sun", 1, "c1"),
        ("interrupt", "wait", 1, "c1"),
        ("error", "ValueError: x", 1, "c1"),
    ]
    assert nested.path == "c1.1"
    assert [reply.content for reply in recording.replies()] == ["", "sun"]


def test_a_handoff_says_where_to():
    recording = Recording()
    run = recording.open_run(agent="Desk")
    call = CallRecord("c1", "transfer_to_refunds", {}, kind="handoff", handed_to="Refunds", outcome="success")
    recording.add_reply(run, agent="Desk", content=None, calls=[call])
    (entry,) = recording.trace()
    assert (entry.role, entry.content, entry.agent) == ("handoff", "Refunds", "Desk")


def test_the_next_unanswered_call_is_the_first_of_the_latest_reply():
    recording = Recording()
    run = recording.open_run(agent="Desk")
    assert run.next_unanswered("search") is None
    recording.add_reply(run, agent="Desk", content=None, calls=[CallRecord("old", "search")])
    done, waiting = CallRecord("a", "search", attempts=1), CallRecord("b", "search")
    recording.add_reply(run, agent="Desk", content=None, calls=[done, CallRecord("x", "other"), waiting])
    assert run.next_unanswered("search") is waiting
    assert run.next_unanswered("nothing") is None


def test_what_the_model_wrote_is_kept_where_it_was_rejected():
    def told(**fields):
        return CallRecord("c", "search", raw_args="{raw", **fields).to_tool_call(
            run=0, turn=0, index=0, parent_id=None
        )

    assert told(args={"q": 1}, outcome="success").raw_args is None
    assert told(args={"q": 1}, outcome="invalid").raw_args == "{raw"
    assert told(args={"q": 1}, outcome="unknown").raw_args == "{raw"
    assert (told(args=None).raw_args, told(args=None).args) == ("{raw", {})


def test_calls_outside_every_run_share_one():
    recording = Recording()
    assert recording.outside is recording.outside
    assert len(recording.runs) == 1
    assert recording.find_call(None) is None


def test_runs_that_begin_at_random_are_told_in_their_order():
    recording = Recording()
    second = recording.open_run(agent="Second", opening=[TraceEntry("user", "two")], order=(1, 2))
    first = recording.open_run(agent="First", opening=[TraceEntry("user", "one")], order=(1, 1))
    for run in (second, first):
        recording.add_reply(run, agent=run.agent, content=run.agent, calls=[])
    assert [entry.content for entry in recording.trace()] == ["one", "First", "two", "Second"]
    assert [reply.agent for reply in recording.replies()] == ["First", "Second"]
    assert recording.latest_run is second
    assert recording.new_call_id(first, "0_0") == "call_1.1_0_0"


def test_calls_of_two_runs_that_count_alike_are_found_in_their_own():
    recording = Recording()
    runs = [recording.open_run(agent=name) for name in ("One", "Other")]
    filed = [[CallRecord("c0", "search"), CallRecord("c1", "search")] for _ in runs]
    for run, calls in zip(runs, filed, strict=True):
        recording.add_reply(run, agent=run.agent, content=None, calls=calls)
    for run, calls in zip(runs, filed, strict=True):
        assert [recording.find_call(call.id, run) for call in calls] == calls
    assert recording.find_call("c1") is filed[1][1]


def test_ids_the_conversation_has_are_those_of_its_messages_unless_an_adapter_says_so():
    messages = [
        {"role": "assistant", "tool_calls": [{"id": "c1"}, {"name": "none"}]},
        {"role": "tool", "tool_call_id": "c2"},
    ]
    assert list(ModelRequest(messages=messages).taken_call_ids()) == ["c1"]
    assert list(ModelRequest(messages=messages, call_ids=lambda: ["c9"]).taken_call_ids()) == ["c9"]
