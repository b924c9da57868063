"""What is recorded stays what it was, and belongs to the call it happened to."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

from callsheet import (
    AgentResult,
    Conversation,
    FakeModel,
    MockTool,
    Session,
    ToolTimedOutError,
    UnmockedToolError,
)
from callsheet._recording import Recording
from callsheet.adapters import CallRecord, ToolRequest, TraceEntry
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent, ToyRunner, ToyTool


def never():
    raise AssertionError("the real tool ran")


def asking(*calls):
    return {"tool_calls": [{"name": name, "args": args, "id": "c"} for name, args in calls]}


def tool(name, **options):
    return ToyTool(name, lambda **args: never(), {"type": "object"}, **options)


def test_a_callable_answer_that_changes_its_arguments_changes_no_record():
    def answer(args):
        args["tags"].append("seen")
        return args.pop("q")

    mock = MockTool("search", response=answer)
    with Session(tools=[mock]) as session:
        session.answer_tool(ToolRequest(name="search", args={"q": 1, "tags": []}), never)
    assert session.tool_calls[0].args == {"q": 1, "tags": []}
    assert session.tools.call_log[0]["args"] == {"q": 1, "tags": []}
    assert mock.calls == [{"q": 1, "tags": []}]


def test_an_async_answer_that_changes_its_arguments_changes_no_record():
    async def answer(args):
        return args.pop("q")

    async def main():
        with Session(tools=[MockTool("search", response=answer)]) as session:
            await session.answer_tool_async(ToolRequest(name="search", args={"q": 1}), never)
        return session

    assert asyncio.run(main()).tool_calls[0].args == {"q": 1}


def test_what_an_agent_does_to_an_answer_changes_no_record():
    with Session(tools=[MockTool("search", response=["DY1"])]) as session:
        session.answer_tool(ToolRequest(name="search", args={}), never).append("changed")
    assert session.tool_calls[0].response == ["DY1"]


def test_an_answer_that_can_not_be_copied_is_recorded_itself():
    lock = threading.Lock()
    with Session(tools=[MockTool("search", response=lambda args: lock)]) as session:
        session.answer_tool(ToolRequest(name="search", args={}), never)
    assert session.tool_calls[0].response is lock


def test_a_when_that_fails_is_a_violation_and_no_failure_of_the_tool():
    class Broken:
        def __eq__(self, other):
            raise TypeError("can not compare")

        __hash__ = None

    adapter = ToyAdapter(
        ToyAgent("Desk", tools=[tool("search", on_error=str)]),
        tools=[MockTool("search", when={"q": Broken()}, response=1)],
        model=FakeModel([asking(("search", {"q": 1})), "done"]),
    )
    with pytest.raises(UnmockedToolError, match=r"when= of a mock of tool 'search' failed.*can not compare"):
        adapter.sync_invoke("hi")
    assert adapter.last_result.tool_calls[0].outcome == "denied"


def test_a_call_that_timed_out_virtually_counts_as_a_call():
    mock = MockTool("search", response=1, delay=10)
    with Session(tools=[mock]) as session, pytest.raises(ToolTimedOutError):
        session.answer_tool(ToolRequest(name="search", args={"q": 1}, timeout=1), never)
    assert mock.calls == [{"q": 1}]


def test_calls_of_one_reply_that_share_an_id_are_filed_one_by_one():
    adapter = ToyAdapter(
        ToyAgent("Desk", tools=[tool("search")]),
        tools=[MockTool("search", responses=["one", "two"])],
        model=FakeModel([asking(("search", {"n": 1}), ("search", {"n": 2})), "done"]),
    )
    calls = adapter.sync_invoke("hi").tool_calls
    assert [(call.args["n"], call.response, call.outcome) for call in calls] == [
        (1, "one", "success"),
        (2, "two", "success"),
    ]


def test_runs_whose_models_count_ids_alike_keep_their_own_calls():
    weather = ToyAgent("Weather", tools=[tool("forecast")])
    adapter = ToyAdapter(
        ToyAgent("Desk", tools=[weather.as_tool("weather")]),
        tools=[MockTool("forecast", response="sun")],
        model=FakeModel(
            agents={
                "Desk": [asking(("weather", {"input": "Rome"})), "done"],
                "Weather": [asking(("forecast", {})), "sunny"],
            }
        ),
    )
    calls = adapter.sync_invoke("hi").tool_calls
    assert [(call.name, call.seen_by_model) for call in calls] == [("weather", "sunny"), ("forecast", "sun")]


def test_a_run_that_fails_has_no_answer_of_the_run_before():
    adapter = ToyAdapter(ToyAgent("Desk"), model=FakeModel(["first", ConnectionError("gone")]))
    with pytest.raises(ConnectionError), adapter.session() as session:
        asyncio.run(ToyRunner().run(adapter.agent, "one"))
        asyncio.run(ToyRunner().run(adapter.agent, "two"))
    assert session.result.error == "ConnectionError: gone"
    assert session.result.response == ""
    assert session.result.native is None


def test_a_call_outside_every_run_does_not_hide_how_the_run_ended():
    adapter = ToyAdapter(
        ToyAgent("Desk", tools=[tool("search")]),
        tools=[MockTool("search", response=1)],
        model=FakeModel([ConnectionError("gone")]),
    )
    with adapter.session() as session:
        with pytest.raises(ConnectionError):
            asyncio.run(ToyRunner().run(adapter.agent, "one"))
        session.answer_tool(ToolRequest(name="search", args={}), never)
    assert session.result.error == "ConnectionError: gone"


def test_a_conversation_tells_the_model_of_every_turn_before():
    seen = []

    def step(request):
        seen.append([message["content"] for message in request.messages])
        return f"answer {len(seen)}"

    conversation = Conversation(ToyAdapter(ToyAgent("Desk"), model=FakeModel([step] * 3)))
    for message in ("one", "two", "three"):
        conversation.say_sync(message)
    assert seen[-1] == ["one", "answer 1", "two", "answer 2", "three"]


@pytest.mark.parametrize("outcome", ["skipped", "interrupted"])
def test_a_call_that_nobody_answered_is_answered_by_no_message(outcome):
    with Session() as session:
        run = session.open_run(agent="Desk", opening=[TraceEntry("user", "hi")])
        call = CallRecord("c1", "search", {}, "{}", outcome=outcome)
        session.recording.add_reply(run, agent="Desk", content=None, calls=[call])
    messages = session.result.to_messages()
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert AgentResult.from_messages(messages).tool_calls[0].response is None


class TakesTurns(set):
    """A set that lets another thread look while this one looks, where nothing keeps the other out."""

    def __init__(self):
        super().__init__()
        self._both = threading.Barrier(2)

    def __contains__(self, item):
        known = super().__contains__(item)
        with contextlib.suppress(threading.BrokenBarrierError):
            self._both.wait(0.2)
        return known


def test_threads_of_one_session_never_get_one_id_twice():
    recording = Recording()
    recording._issued = TakesTurns()
    run = recording.open_run(agent="Desk")
    ids = []
    threads = [threading.Thread(target=lambda: ids.append(recording.new_call_id(run, "x"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids)) == 2
