"""What core lends frameworks that load classes late, check arguments themselves and change what they run."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from callsheet import FakeModel, MockTool, Session, UnknownMockError
from callsheet.adapters import (
    InvalidArgumentsError,
    Inventory,
    ToolRequest,
    any_session_open,
)


def test_frameworks_own_check_comes_before_the_mock():
    mock = MockTool("search", response="found")

    def check():
        raise InvalidArgumentsError("q is missing")

    with Session(tools=[mock]) as session, pytest.raises(InvalidArgumentsError, match="q is missing"):
        session.answer_tool(ToolRequest(name="search", args={}, check=check), lambda: "real")
    assert mock.call_count == 0
    assert session.tool_calls[0].outcome == "invalid"


def test_mock_bound_to_a_settled_agent_is_judged_before_the_run():
    inventory = Inventory({"Desk": ["search"]}, complete=False, settled=frozenset({"Desk"}))
    with pytest.raises(UnknownMockError, match=r"Desk\.book"):
        Session(tools=[MockTool("Desk.book")], inventory=inventory).open()
    grown = inventory.joined("Weather", ["forecast"])
    assert (grown.settled, grown.tool_names()) == (frozenset({"Desk"}), {"search", "forecast"})


def test_script_of_an_agent_that_never_came_is_judged_at_the_end():
    def session(**options):
        model = FakeModel(agents={"Wether": ["x"]})
        return Session(model=model, inventory=Inventory({"Weather": []}, complete=False), **options)

    with pytest.raises(UnknownMockError, match=r"Wether.*Weather"), session():
        pass
    with session(strict=False):
        pass


def test_surroundings_last_as_long_as_the_session():
    told = []

    @contextmanager
    def around():
        told.append(("in", any_session_open()))
        yield
        told.append(("out", any_session_open()))

    session = Session(around=around, unmocked="real")
    assert told == []
    with session:
        assert told == [("in", False)]
        session.note_tools("Desk", ["search"])
        assert session.lets_real_run
        assert session.tool_names == {"search"}
    assert told == [("in", False), ("out", True)]
    assert not any_session_open()
