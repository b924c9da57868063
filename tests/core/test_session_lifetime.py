"""However a session ends, and wherever, it undoes everything it did and says what was broken in it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import socket

import pytest

from callsheet import (
    FakeModel,
    MockTool,
    NetworkBlockedError,
    Session,
    SessionClosedError,
    UnmockedToolError,
    offline,
)
from callsheet._offline import _open_blocks
from callsheet._scope import SCOPE, active_scope, kept_in_reach, open_sessions
from callsheet.adapters import ToolRequest
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent, ToyTool

ASK = {"tool_calls": [{"name": "search", "args": {}}]}


def desk(canary=None, **options):
    def search():
        canary.append("search")

    tools = [ToyTool("search", search, {"type": "object"})]
    return ToyAdapter(ToyAgent("Desk", tools=tools), **{"model": FakeModel([ASK, "done"]), **options})


def never():
    raise AssertionError("the real tool ran")


def refused(session, name="refund"):
    with pytest.raises(UnmockedToolError):
        session.answer_tool(ToolRequest(name=name, args={}), never)


def reach_out():
    with pytest.raises(NetworkBlockedError), socket.socket() as client:
        client.connect(("127.0.0.1", 9))


def test_closing_a_session_that_was_never_left_takes_its_scope_and_its_closed_network_along():
    adapter = desk(strict=False)
    adapter.session().__enter__()
    assert active_scope() is not None
    adapter.close()
    assert active_scope() is None
    assert not _open_blocks
    assert not open_sessions


def test_a_session_may_end_in_another_context_than_it_began_in():
    session = Session(model=FakeModel(), offline=True)
    contextvars.Context().run(session.__enter__)
    contextvars.Context().run(session.__exit__, None, None, None)
    assert not session.is_open
    assert not _open_blocks


def test_a_session_that_ends_in_a_copy_of_its_context_is_gone_from_there():
    session = Session()
    began = contextvars.copy_context()
    began.run(session.__enter__)
    ends = began.copy()
    ends.run(session.__exit__, None, None, None)
    assert ends.run(SCOPE.get) is None


def test_a_nested_session_that_ends_in_a_copy_of_its_context_gives_way_to_the_one_around():
    outer, inner = Session(), Session()
    began = contextvars.copy_context()
    began.run(outer.__enter__)
    began.run(inner.__enter__)
    ends = began.copy()
    ends.run(inner.__exit__, None, None, None)
    scope = ends.run(SCOPE.get)
    assert scope is not None
    assert scope.session is outer
    began.run(outer.__exit__, None, None, None)


def test_one_session_that_raises_at_closing_keeps_no_other_open():
    adapter = desk(strict=False)
    one, two = adapter.session(), adapter.session()
    one.open()
    two.open()
    refused(one)
    refused(two)
    with pytest.raises(UnmockedToolError):
        adapter.close()
    assert not open_sessions


def test_an_interrupt_of_the_keyboard_is_not_replaced():
    def interrupted():
        with Session() as session:
            refused(session)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        interrupted()
    assert "UnmockedToolError" in caught.value.__notes__[0]


def test_a_violation_is_noted_once_however_often_it_is_raised():
    session = Session()
    session.open()
    refused(session)
    session.poison(UnmockedToolError("another"))
    for _ in range(2):
        with pytest.raises(UnmockedToolError) as caught:
            session.raise_violations()
    assert caught.value.__notes__ == ["Also: UnmockedToolError: another"]
    with pytest.raises(UnmockedToolError):
        session.close()


def test_a_violation_in_a_session_inside_a_tool_reaches_the_session_around():
    def outer_tool():
        try:
            desk([], model=FakeModel([ASK, "done"]), strict=False).sync_invoke("hi")
        except BaseException:
            return "swallowed"

    with pytest.raises(UnmockedToolError, match="search"), Session(tools=[MockTool.spy("outer")]) as outer:
        assert outer.answer_tool(ToolRequest(name="outer", args={}), outer_tool) == "swallowed"


def test_a_violation_in_a_session_of_the_test_itself_is_the_tests_to_judge():
    with Session(), pytest.raises(UnmockedToolError), Session() as inner:
        inner.answer_tool(ToolRequest(name="refund", args={}), never)


def test_a_swallowed_attempt_at_the_network_is_raised_when_the_session_ends():
    session = Session(offline=True)
    with pytest.raises(NetworkBlockedError), session:
        reach_out()
    assert not session.is_open
    assert active_scope() is None


def test_the_network_stays_closed_between_the_events_of_a_stream():
    met = []

    class Streaming(ToyAdapter):
        """Streams while a task of the run works on, as frameworks do."""

        async def _stream(self, session, message, history, options):
            async def work():
                await consuming.wait()
                reach_out()
                met.append("blocked")

            async def events():
                task = asyncio.create_task(work())
                yield "first"
                await task

            return events()

    consuming = asyncio.Event()

    async def main():
        async for _ in Streaming(ToyAgent("Desk"), model=FakeModel(), strict=False).stream("hi"):
            consuming.set()
            for _ in range(5):
                await asyncio.sleep(0)
            assert met == ["blocked"]

    with pytest.raises(NetworkBlockedError, match="Network blocked"):
        asyncio.run(main())


def test_a_session_whose_surroundings_fail_leaves_the_network_as_it_was():
    def around():
        raise RuntimeError("no surroundings")

    session = Session(offline=True, around=around)
    with pytest.raises(RuntimeError, match="no surroundings"):
        session.open()
    assert not _open_blocks
    assert not session.is_open


def test_a_session_that_can_not_close_the_network_leaves_its_surroundings():
    said = []

    @contextlib.contextmanager
    def around():
        said.append("entered")
        yield
        said.append("left")

    def refuse():
        raise RuntimeError("no audit hook")

    session = Session(offline=True, around=around)
    session._surroundings._network.open = refuse
    with pytest.raises(RuntimeError, match="no audit hook"):
        session.open()
    assert said == ["entered", "left"]


def test_code_could_belong_to_a_session_as_long_as_one_is_open_or_around_it():
    assert kept_in_reach() is None
    one, two = Session(), Session()
    one.open()
    two.open()
    assert kept_in_reach() == {}
    one.close()
    two.close()
    with Session() as session:
        late = contextvars.copy_context()
    assert late.run(kept_in_reach) is session.kept
    with pytest.raises(SessionClosedError):
        late.run(session.require_open, "A call")


def test_a_block_is_left_by_the_code_inside_and_still_holds_for_what_it_started():
    block = offline()
    block.open()
    block.join()
    started = contextvars.copy_context()
    block.part()
    started.run(reach_out)
    block.attempts.clear()
    block.close(None)
    assert not _open_blocks


@pytest.mark.parametrize(
    ("tools", "unmocked", "may"),
    [
        ((), "error", False),
        ((), "real", True),
        ((MockTool("search", response=1),), "real", False),
        ((MockTool("search", response=1, when={"q": 1}),), "real", True),
        ((MockTool.spy("Desk.search"),), "error", True),
    ],
)
def test_a_session_says_whether_a_tool_could_run_for_real(tools, unmocked, may):
    assert Session(tools=tools, unmocked=unmocked).may_run(["search"]) is may
