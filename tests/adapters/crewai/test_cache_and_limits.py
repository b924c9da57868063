"""What CrewAI does around a tool: its cache, its counts and its hidden retries."""

from __future__ import annotations

import asyncio

import pytest

from callsheet import FakeModel, MockTool
from callsheet_crewai import CrewAIAdapter
from callsheet_crewai._rate_limits import POLICY
from tests.adapters.crewai import crews
from tests.adapters.crewai.scripts import BOTH, SEARCH, calls


@BOTH
def test_mock_does_not_stay_in_the_crews_cache(native):
    crew = crews.crew(native=native, cache=True)
    for answer in ("one", "two"):
        model = FakeModel(agents={"Researcher": [SEARCH, "done"], "Writer": ["w"]})
        adapter = CrewAIAdapter(crew, tools=[MockTool("search", response=answer)], model=model)
        assert adapter.sync_invoke({"topic": "x"}).tool_calls[0].response == answer
    assert crew._cache_handler.read("search", '{"q": "rust"}') is None


@BOTH
def test_cache_hit_is_marked_and_takes_no_answer(native):
    one_at_a_time = [SEARCH, calls("search", q="go"), SEARCH]
    model = FakeModel(agents={"Researcher": [*one_at_a_time, "done"], "Writer": ["w"]})
    mock = MockTool("search", responses=["first", "second"])
    result = CrewAIAdapter(crews.crew(native=native, cache=True), tools=[mock], model=model).sync_invoke(
        {"topic": "x"}
    )
    assert [call.response for call in result.tool_calls] == ["first", "second", "first"]
    assert [call.metadata.get("from_cache", False) for call in result.tool_calls] == [False, False, True]
    assert mock.call_count == 2


SEEN = []


def keep_nothing(args, answer):
    SEEN.append(answer)
    return False


def test_cache_function_sees_the_mocks_answer():
    SEEN.clear()
    crew = crews.crew(tools=[crews.Search(cache_function=keep_nothing)], cache=True)
    model = FakeModel(agents={"Researcher": [SEARCH, SEARCH, "done"], "Writer": ["w"]})
    CrewAIAdapter(crew, tools=[MockTool("search", responses=["one", "two"])], model=model).sync_invoke(
        {"topic": "x"}
    )
    assert SEEN == ["one", "two"]


@BOTH
def test_hidden_retries_of_a_raising_tool_are_one_call(native):
    failing = MockTool("search", responses=[RuntimeError("boom"), "second call"])
    model = FakeModel([SEARCH, calls("search", q="again"), "done"])
    result = CrewAIAdapter(crews.agent(native=native), tools=[failing], model=model).sync_invoke("rust?")
    first, second = result.tool_calls
    assert (first.outcome, first.error) == ("failed", "boom")
    assert "boom" in first.seen_by_model
    assert (first.attempts, failing.call_count) == ((1 if native else 6), 2)
    assert (second.outcome, second.response) == ("success", "second call")


@BOTH
def test_usage_limit_counts_as_the_framework_counts(native):
    """As text each use counts twice, so that of two uses allowed one is had."""
    search = crews.Search(max_usage_count=2)
    model = FakeModel([calls("search", q="1"), calls("search", q="2"), calls("search", q="3"), "done"])
    mock = MockTool("search", response="MOCK")
    agent = crews.agent(native=native, tools=[search])
    result = CrewAIAdapter(agent, tools=[mock], model=model).sync_invoke("rust?")
    outcomes = [call.outcome for call in result.tool_calls]
    assert outcomes == (["success", "success", "denied"] if native else ["success", "denied", "denied"])
    assert search.current_usage_count == 0


class RateLimited(Exception):
    status_code = 429


@pytest.mark.parametrize(
    "run", [lambda a: a.sync_invoke("go"), lambda a: asyncio.run(a.invoke("go"))], ids=["sync", "async"]
)
def test_rate_limits_are_tried_again_without_waiting(run, monkeypatch):
    if POLICY is not None:
        monkeypatch.setattr(POLICY.time, "sleep", lambda seconds: pytest.fail("slept"))
    model = FakeModel([RateLimited("slow down"), "done"] if POLICY is not None else ["done"])
    assert run(CrewAIAdapter(crews.agent(), model=model)).response == "done"
