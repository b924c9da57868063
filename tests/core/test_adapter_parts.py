"""Parts of the core that only some frameworks need, each shown without one."""

from __future__ import annotations

import asyncio
import gc

import pytest

from callsheet import FakeModel, InvalidArgumentsError, MockTool, Session, pytest_plugin
from callsheet._patch import Patch
from callsheet._patching import PatchSet
from callsheet._recording import CallRecord, Recording
from callsheet._scope import SCOPE, kept_in_reach
from callsheet.adapters import Inventory, ToolRequest
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent


class Holder:
    pass


class Early:
    attribute = "early"


class Late:
    attribute = "late"


def never():
    raise AssertionError("the real tool ran")


def test_a_class_that_comes_late_is_patched_and_put_back_with_the_others():
    patches = PatchSet(lambda: [Patch(Early, "attribute", lambda _: "patched")])
    patches.add(Patch(Late, "attribute", lambda _: "patched"))
    assert Late.attribute == "late"
    holder = Holder()
    release = patches.hold(holder)
    patches.add(Patch(Late, "attribute", lambda _: "patched"))
    assert (Early.attribute, Late.attribute) == ("patched", "patched")
    release()
    gc.collect()
    assert (Early.attribute, Late.attribute) == ("early", "late")


def test_what_a_session_keeps_is_in_reach_or_it_is_not():
    assert kept_in_reach() is None
    with Session() as session:
        assert kept_in_reach() is session.kept
        token = SCOPE.set(None)
        assert kept_in_reach() is session.kept
        other = Session()
        other.open()
        assert kept_in_reach() == {}
        assert all(kept_in_reach() is not known.kept for known in (session, other))
        other.close()
        SCOPE.reset(token)


def test_a_session_tells_an_adapter_what_it_may_ask():
    inventory = Inventory({"Desk": ["search"]}, complete=False)
    with Session(unmocked="real", inventory=inventory) as session:
        session.note_tools("Desk", ["late"])
        assert session.lets_real_run
        assert session.tool_names == {"search", "late"}
        assert session.declared_tools == {"search", "Desk.search"}


def test_a_frameworks_own_argument_check_comes_before_the_schema():
    def check():
        raise InvalidArgumentsError("the framework does not take this")

    mock = MockTool("search", response=1)
    with Session(tools=[mock]) as session:
        with pytest.raises(InvalidArgumentsError, match="the framework does not take this"):
            session.answer_tool(ToolRequest(name="search", args={}, check=check), never)
        assert session.answer_tool(ToolRequest(name="search", args={}, check=lambda: None), never) == 1
    assert [call.outcome for call in session.tool_calls] == ["invalid", "success"]


def test_what_a_framework_raises_to_steer_is_no_failure():
    class Pause(Exception):
        pass

    with Session(tools=[MockTool("search", raises=Pause())]) as session:
        with pytest.raises(Pause):
            session.answer_tool(ToolRequest(name="search", args={}, control_flow=(Pause,)), never)
    (call,) = session.tool_calls
    assert (call.outcome, call.error) == ("interrupted", None)


def test_a_call_is_found_in_its_own_run_first():
    recording = Recording()
    first, second = recording.open_run(agent="A"), recording.open_run(agent="B")
    mine, theirs = CallRecord("c1", "search"), CallRecord("c1", "search")
    recording.add_reply(first, agent="A", content=None, calls=[mine])
    recording.add_reply(first, agent="A", content="later", calls=[])
    recording.add_reply(second, agent="B", content=None, calls=[theirs])
    assert recording.find_call("c1", first) is mine
    assert recording.find_call("c1", second) is theirs
    assert recording.find_call("c1") is theirs
    empty = recording.open_run(agent="C")
    assert recording.find_call("c1", empty) is theirs


def test_a_stream_whose_events_are_no_generator_is_only_left():
    class Events:
        def __init__(self):
            self.left = 2

        def __aiter__(self):
            return self

        async def __anext__(self):
            self.left -= 1
            if self.left < 0:
                raise StopAsyncIteration
            return self.left

    class Adapter(ToyAdapter):
        async def _stream(self, session, message, history, options):
            return Events()

    async def main():
        adapter = Adapter(ToyAgent("Desk"), model=FakeModel())
        return [event async for event in adapter.stream("hi")]

    assert asyncio.run(main()) == [1, 0]


def test_properties_of_other_plugins_are_not_counted():
    report = type(
        "Report", (), {"when": "teardown", "user_properties": [("theirs", 1), ("callsheet_runs", 2)]}
    )
    assert list(pytest_plugin._own_properties(report)) == [("runs", 2)]
