"""The library desk under pytest: what it did, not only what it said."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any

import pytest
from library_desk import Reservation, Visitor, archivist, desk, serve

from callsheet import (
    Conversation,
    FakeModel,
    MockTool,
    UnmockedToolError,
    assert_no_tool_calls,
    assert_tool_call_order,
    assert_tool_calls,
    wrap,
)

FOUND = [{"isbn": "978-1", "title": "Moby-Dick"}]
BOOKING = {"number": "R7", "title": "Moby-Dick", "pick_up": "2027-05-03"}


class NoCatalogue:
    """Stands where the library's systems would be: a test that reaches them is wrong."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"catalogue.{name} was reached")


VISITOR = Visitor(card="C42", catalogue=NoCatalogue())


def call(name: str, **args: object) -> dict[str, object]:
    """A scripted reply that calls one tool."""
    return {"tool_calls": [{"name": name, "args": args}]}


def test_a_reservation_from_first_word_to_last() -> None:
    library = wrap(
        desk,
        model=FakeModel(
            [
                call("books_search", words="whale"),
                call("books_reserve", isbn="978-1", pick_up="2027-05-03"),
                {"output": BOOKING},
            ]
        ),
        tools=[MockTool("books_search", response=FOUND), MockTool("books_reserve", response="R7")],
    )

    result = library.sync_invoke("The one about the whale, on Monday", deps=VISITOR)

    assert_tool_calls(
        result,
        [
            {"name": "books_search", "args": {"words": "whale"}},
            {"name": "books_reserve", "args": {"isbn": "978-1", "pick_up": "2027-05-03"}},
        ],
    )
    assert result.output == Reservation(number="R7", title="Moby-Dick", pick_up=date(2027, 5, 3))
    assert result.model_used == "gpt-5"


def test_the_archivist_is_asked_and_uses_the_archive() -> None:
    library = wrap(
        desk,
        model=FakeModel(
            agents={
                "Desk": [call("ask_archivist", question="Who printed B-12?"), "Plantin printed it in 1570."],
                "Archivist": [call("look_up_print", signature="B-12"), "Plantin, 1570."],
            }
        ),
        tools=[
            MockTool.spy("ask_archivist"),
            MockTool("Archivist.look_up_print", response={"printer": "Plantin", "year": 1570}),
        ],
    )

    result = library.sync_invoke("Who printed B-12?", deps=VISITOR)

    asked, looked_up = result.tool_calls
    assert result.agents == ["Desk", "Archivist"]
    assert looked_up.parent_id == asked.id
    assert asked.response == "Plantin, 1570."


def test_a_search_without_a_hit_is_tried_again_with_fewer_words() -> None:
    search = MockTool(
        "books_search", error="Nothing matches. Try fewer words.", when={"words": "white whale book"}
    )
    library = wrap(
        desk,
        model=FakeModel(
            [
                call("books_search", words="white whale book"),
                call("books_search", words="whale"),
                "Moby-Dick, I would say.",
            ]
        ),
        tools=[search, MockTool("books_search", response=FOUND)],
    )

    result = library.sync_invoke("The white whale book", deps=VISITOR)

    first, second = result.get_all_tool_calls("books_search")
    assert (first.outcome, second.outcome) == ("failed", "success")
    assert "Try fewer words" in str(first.seen_by_model)


def test_a_sunday_is_sent_back_by_the_desks_own_rule() -> None:
    library = wrap(
        desk,
        model=FakeModel([{"output": {**BOOKING, "pick_up": "2027-05-02"}}, {"output": BOOKING}]),
    )
    result = library.sync_invoke("On Sunday", deps=VISITOR)
    answers = [entry.tool_call for entry in result.trace if entry.tool_call is not None]
    assert [answer.outcome for answer in answers] == ["retried", "success"]
    assert "closed on Sundays" in str(answers[0].seen_by_model)
    assert_no_tool_calls(result)


def test_a_day_that_is_none_never_reaches_the_reservation() -> None:
    reserve = MockTool("books_reserve", response="R7")
    library = wrap(
        desk,
        model=FakeModel([call("books_reserve", isbn="978-1", pick_up="soon"), "Which day, please?"]),
        tools=[reserve],
    )
    result = library.sync_invoke("Soon", deps=VISITOR)
    assert result.tool_calls[0].outcome == "invalid"
    assert reserve.call_count == 0


def test_nothing_is_reserved_that_a_test_did_not_allow() -> None:
    library = wrap(desk, model=FakeModel([call("books_reserve", isbn="978-1", pick_up="2027-05-03")]))
    with pytest.raises(UnmockedToolError, match="books_reserve"):
        library.sync_invoke("Just reserve it", deps=VISITOR)


def test_the_application_itself_is_tested_through_a_session() -> None:
    library = wrap(
        desk,
        model=FakeModel([call("books_search", words="whale"), "It is here."]),
        tools=[MockTool("books_search", response=FOUND)],
    )
    with library.session() as session:
        said = asyncio.run(serve("Do you have the one about the whale?", VISITOR))
    assert said == "It is here."
    assert_tool_call_order(session.result, ["books_search"])


def test_a_conversation_remembers() -> None:
    model = FakeModel(["Which day?", {"output": BOOKING}])
    with Conversation(wrap(desk, model=model)) as talk:
        talk.say_sync("Moby-Dick, please", deps=VISITOR)
        assert talk.say_sync("Monday", deps=VISITOR).output.number == "R7"
    said = [message["content"] for message in model.call_log[1]["messages"]]
    assert said[1:] == ["Moby-Dick, please", "Which day?", "Monday"]


def test_the_archivist_alone() -> None:
    alone = wrap(
        archivist,
        model=FakeModel([call("look_up_print", signature="B-12"), "Plantin, 1570."]),
        tools=[MockTool("look_up_print", response={"year": 1570})],
    )
    assert alone.sync_invoke("B-12?", deps=VISITOR).response == "Plantin, 1570."
