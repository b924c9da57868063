"""A session decides, remembers broken promises, and lets nothing through once it is closed."""

from __future__ import annotations

import asyncio
import socket

import pytest

from callsheet import (
    AmbiguousSessionError,
    FakeModel,
    InvalidArgumentsError,
    MockConfigError,
    MockMCPServer,
    MockTool,
    NetworkBlockedError,
    ScriptExhaustedError,
    Session,
    SessionClosedError,
    SessionError,
    ToolTimedOutError,
    UnknownMockError,
    UnmockedToolError,
    UnusedScriptError,
)
from callsheet._scope import SCOPE, Scope, active_scope
from callsheet.adapters import CallRecord, Inventory, ModelRequest, ToolRequest


def never():
    raise AssertionError("the real tool ran")


def call(session, name="search", args=None, **options):
    request = ToolRequest(name=name, args={"q": 1} if args is None else args, **options)
    return session.answer_tool(request, never)


def test_a_mock_answers_sync_and_async():
    async def really():
        never()

    async def code(session):
        return await session.answer_tool_async(ToolRequest(name="search", args={}), really)

    with Session(tools=[MockTool("search", response="mocked")]) as session:
        assert call(session) == "mocked"
        assert asyncio.run(code(session)) == "mocked"
    assert [tool_call.response for tool_call in session.tool_calls] == ["mocked", "mocked"]


class Basket:
    def __init__(self, *fruit):
        self.fruit = list(fruit)


@pytest.mark.parametrize("answer", [Basket("apple"), {"fruit": ["apple"]}], ids=["object", "dict"])
def test_what_an_agent_does_to_an_answer_does_not_change_the_record(answer):
    with Session(tools=[MockTool("search", response=lambda args: answer)]) as session:
        given = call(session)
        assert given is answer
        (given.fruit if isinstance(given, Basket) else given["fruit"]).append("worm")
    [recorded] = session.tool_calls
    assert (recorded.response.fruit if isinstance(given, Basket) else recorded.response["fruit"]) == ["apple"]


def test_the_real_tool_runs_where_it_may():
    async def really():
        return "real"

    async def code(session):
        return await session.answer_tool_async(ToolRequest(name="b", args={}), really)

    with Session(tools=[MockTool.spy("a")], unmocked="error") as session:
        assert session.answer_tool(ToolRequest(name="a", args={"q": 1}), lambda: "spied") == "spied"
        assert (
            session.answer_tool(ToolRequest(name="sub", args={}, runs_unmocked=True), lambda: "sub") == "sub"
        )
    with Session(unmocked="real") as free:
        assert asyncio.run(code(free)) == "real"
    assert [(c.name, c.response, c.mocked) for c in session.tool_calls] == [
        ("a", "spied", False),
        ("sub", "sub", False),
    ]


def test_a_tool_nobody_mocked_is_refused_and_the_session_poisoned():
    with (
        pytest.raises(UnmockedToolError, match=r"No mock for tool 'search' \(agent 'Desk'\); mocked: 'book'"),
        Session(tools=[MockTool("book")]) as session,
    ):
        with pytest.raises(UnmockedToolError):
            call(session, agent="Desk")
        # Every later call fails too, mocked or not.
        with pytest.raises(UnmockedToolError):
            call(session, "book")


def test_a_refusal_says_when_a_mock_was_for_other_arguments():
    with (
        pytest.raises(
            UnmockedToolError, match=r"No mock of tool 'search' accepts \{'q': 1\}; mocked: 'search'"
        ),
        Session(tools=[MockTool("search", when={"q": 2})]) as session,
    ):
        call(session)


def test_a_refusal_says_when_nothing_is_mocked():
    with pytest.raises(UnmockedToolError, match="mocked: nothing. Add MockTool"), Session() as session:
        call(session)


def test_several_violations_are_told_together():
    with pytest.raises(UnmockedToolError) as raised, Session(model=FakeModel([])) as session:
        with pytest.raises(UnmockedToolError):
            call(session)
        session.poison(ScriptExhaustedError("and that"))
        session.poison(session._violations.all[0])
    assert raised.value.__notes__ == ["Also: ScriptExhaustedError: and that"]


def test_a_violation_comes_before_what_the_framework_made_of_it():
    with pytest.raises(UnmockedToolError) as raised, Session() as session:
        try:
            call(session)
        except UnmockedToolError as violation:
            raise RuntimeError("the framework wraps it") from violation
    assert isinstance(raised.value.__cause__, RuntimeError)


def test_a_violation_on_its_way_out_stays_itself():
    with pytest.raises(UnmockedToolError) as raised, Session() as session:
        call(session)
    assert raised.value.__cause__ is None
    assert not hasattr(raised.value, "__notes__")


def test_a_closed_session_refuses_everything():
    session = Session(model=FakeModel(["x"]), strict=False)
    with session:
        pass
    with pytest.raises(SessionClosedError, match="A call of tool 'search' came after its session was closed"):
        call(session)
    with pytest.raises(SessionClosedError, match="A model call"):
        session.answer_model(ModelRequest())
    assert not session.is_open


def test_a_session_that_never_opened_refuses_nothing_and_closes_as_it_is():
    session = Session(model=FakeModel(["never asked for"]))
    session.close()
    assert not session.is_open


def test_closing_twice_is_closing_once():
    session = Session(model=FakeModel(["left"]))
    session.open()
    with pytest.raises(UnusedScriptError):
        session.close()
    session.close()


def test_a_session_opens_once():
    session = Session()
    with session:
        pass
    with pytest.raises(SessionError, match="opened once"):
        session.open()


def test_sessions_nest_unless_they_are_one_adapters():
    owner = object()
    with Session(owner=owner), Session(owner=object()), Session():
        pass
    with Session(owner=owner), pytest.raises(SessionError, match="already has a session open here"):
        Session(owner=owner).open()
    with Session(owner=owner):
        pass
    with Session(owner=owner):
        pass


def test_async_with_works_too():
    async def code():
        async with Session(tools=[MockTool("search", response=1)]) as session:
            return call(session)

    assert asyncio.run(code()) == 1


def test_left_over_steps_do_not_hide_a_failing_test():
    with pytest.raises(ZeroDivisionError), Session(model=FakeModel(["left"])):
        raise ZeroDivisionError


def test_unknown_names_are_refused_at_the_start_where_all_are_known():
    inventory = Inventory({"Desk": ["search"]})
    with pytest.raises(UnknownMockError, match="serch"):
        Session(tools=[MockTool("serch")], inventory=inventory).open()
    with pytest.raises(UnknownMockError, match="Desk2"):
        Session(model=FakeModel(agents={"Desk2": []}), inventory=inventory).open()
    with Session(tools=[MockTool("search")], inventory=inventory):
        pass


def test_unknown_names_are_refused_at_the_end_where_tools_appear_while_running():
    def session():
        return Session(tools=[MockTool("late")], inventory=Inventory({"Desk": ["search"]}, complete=False))

    with session() as seen:
        seen.note_tools("Desk", ["late"])
    with pytest.raises(UnknownMockError, match="No tool is named 'late'"), session():
        pass
    with Session(inventory=Inventory({"Desk": []})) as complete:
        complete.note_tools("Desk", ["late"])
    assert complete.result.metadata["known_tools"] == []


def test_arguments_are_checked_before_a_mock_answers():
    mock = MockTool("search", response=1)
    schema = {"type": "object", "required": ["city"]}
    with Session(tools=[mock]) as session:
        with pytest.raises(InvalidArgumentsError, match="Missing required parameters: city"):
            call(session, schema=schema)
        with pytest.raises(InvalidArgumentsError, match="not a JSON object: '{bad'"):
            session.answer_tool(ToolRequest(name="search", args=None, raw_args="{bad"), never)
    assert mock.call_count == 0
    assert [c.outcome for c in session.tool_calls] == ["invalid", "invalid"]
    assert session.tool_calls[1].raw_args == "{bad"


def test_arguments_that_no_longer_parse_are_refused_whatever_the_reply_was_recorded_with():
    with Session(tools=[MockTool("search", response=1)]) as session:
        run = session.open_run(agent="Desk")
        session.recording.add_reply(
            run, agent="Desk", content=None, calls=[CallRecord("c1", "search", {"q": 1})]
        )
        with session.inside(run), pytest.raises(InvalidArgumentsError, match="not a JSON object: '{bad'"):
            session.answer_tool(ToolRequest(name="search", args=None, call_id="c1", raw_args="{bad"), never)
    assert session.tool_calls[0].outcome == "invalid"


def test_a_delay_over_the_tools_timeout_times_out_without_waiting():
    with Session(tools=[MockTool("search", response=1, delay=30)]) as session:
        with pytest.raises(ToolTimedOutError, match="'search' timed out after 5 seconds") as raised:
            call(session, timeout=5)
        assert call(session, timeout=60) == 1
        assert call(session) == 1
    assert raised.value.timeout == 5
    assert session.tool_calls[0].outcome == "failed"
    assert session.tool_calls[1].duration >= 30


def test_failures_are_recorded_as_they_are_raised():
    class Silent(Exception):
        pass

    with Session(tools=[MockTool("a", raises=ValueError("no")), MockTool("b", raises=Silent())]) as session:
        for name in "ab":
            with pytest.raises((ValueError, Silent)):
                call(session, name)
    assert [(c.error, c.outcome) for c in session.tool_calls] == [("no", "failed"), ("Silent", "failed")]
    assert session.tools.call_log == [
        {"name": "a", "args": {"q": 1}, "error": "no"},
        {"name": "b", "args": {"q": 1}, "error": "Silent"},
    ]


def test_a_second_attempt_of_one_call_replaces_the_first():
    mock = MockTool("search", responses=[ValueError("first"), "second"])
    with Session(tools=[mock]) as session:
        with pytest.raises(ValueError, match="first"):
            call(session, call_id="c1", metadata={"node": "a"})
        assert call(session, call_id="c1") == "second"
    (only,) = session.tool_calls
    assert (only.attempts, only.error, only.response, only.outcome) == (2, None, "second", "success")
    assert only.metadata == {"node": "a"}


def test_a_call_without_an_id_joins_the_one_the_model_asked_for():
    with Session(tools=[MockTool("search", response=1)]) as session, session.run(agent="Desk") as run:
        session.recording.add_reply(run, agent="Desk", content="", calls=[CallRecord("c1", "search")])
        call(session)
        call(session)
    assert [(c.id, c.turn) for c in session.tool_calls] == [("c1", 0), ("call_1_direct_search", None)]


def test_structured_answers_are_no_tool_calls():
    with Session() as session, session.run(agent="Desk") as run:
        session.recording.add_reply(
            run, agent="Desk", content=None, calls=[CallRecord("c1", "final_result", kind="output")]
        )
    assert session.tool_calls == session.result.tool_calls == []
    assert len(session.trace) == 1


def test_the_model_answers_with_ids_and_poisons_when_it_can_not():
    with pytest.raises(ScriptExhaustedError):
        with Session(model=FakeModel([{"tool_calls": ["a", "b"]}, "text", {"handoff": "X"}])) as session:
            with session.run(agent="Desk"):
                assert session.current_turn == 0
                assert [c.id for c in session.answer_model(ModelRequest()).tool_calls] == [
                    "call_1_0_0",
                    "call_1_0_1",
                ]
                assert session.answer_model(ModelRequest()).content == "text"
                assert session.answer_model(ModelRequest()).handoff_id == "call_1_0_0_2"
            assert session.current_turn == 0
            with pytest.raises(ScriptExhaustedError):
                session.answer_model(ModelRequest())


def test_the_model_answers_async():
    async def code(session):
        return (await session.answer_model_async(ModelRequest(model="m", headers={"X-A": "1"}))).content

    with Session(model=FakeModel(["hi"])) as session:
        assert asyncio.run(code(session)) == "hi"
    assert (session.result.model_used, session.result.headers) == ("m", {"X-A": "1"})


def test_a_session_without_a_script_has_no_reply():
    with Session() as session, pytest.raises(MockConfigError, match="no FakeModel to answer with"):
        session.answer_model(ModelRequest())


def test_an_exception_that_ends_a_run_is_its_error():
    with Session() as session, pytest.raises(KeyError), session.run(agent="Desk"):
        raise KeyError("x")
    assert session.result.error == "KeyError: 'x'"
    assert session.trace[-1].role == "error"


def test_the_response_is_the_last_thing_said_unless_the_framework_says_otherwise():
    with Session() as session, session.run(agent="Desk") as run:
        session.recording.add_reply(run, agent="Desk", content="said", calls=[])
        assert session.result.response == "said"
        session.finish(response="final", output={"a": 1}, native=run)
        assert (session.result.response, session.result.output, session.result.native) == (
            "final",
            {"a": 1},
            run,
        )
    with Session() as silent:
        pass
    assert silent.result.response == ""


def test_the_network_is_closed_with_a_script_and_open_without():
    def connects(session):
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as plug:
            try:
                with session:
                    plug.connect(server.getsockname())
            except NetworkBlockedError:
                return False
            return True

    assert not connects(Session(model=FakeModel()))
    assert connects(Session())
    assert connects(Session(model=FakeModel(), offline=False))
    assert not connects(Session(offline=True))


def test_a_swallowed_connection_fails_the_session_at_its_end():
    with pytest.raises(NetworkBlockedError), Session(model=FakeModel()):
        try:
            with socket.socket() as plug:
                plug.connect(("192.0.2.1", 9))
        except OSError:
            pass


def test_options_are_checked():
    with pytest.raises(MockConfigError, match='unmocked=\'maybe\' is not known. Give "error" or "real"'):
        Session(unmocked="maybe")
    server = MockMCPServer([MockTool("search")])
    assert Session(tools=server).tools is server


def test_code_outside_belongs_to_the_only_open_session():
    assert active_scope() is None
    with Session() as session:
        token = SCOPE.set(None)
        assert active_scope() == Scope(session)
        with Session():
            SCOPE.set(None)
            with pytest.raises(AmbiguousSessionError, match="in none of the 2 open sessions"):
                active_scope()
            # Both are poisoned; this test provokes it and forgives them.
            for one in (session, *[s for s in _open() if s is not session]):
                one._violations.all.clear()
        SCOPE.reset(token)


def _open():
    from callsheet._scope import open_sessions

    return list(open_sessions.values())
