"""What CrewAI does around a tool: its cache, its counts and its hidden retries."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import nullcontext

import pytest
from crewai.utilities import agent_utils

from callsheet import FakeModel, MockTool
from callsheet_crewai import CrewAIAdapter
from callsheet_crewai._rate_limits import POLICY
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
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


STOPS_REPETITION = hasattr(agent_utils, "check_repeated_tool_call")


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


@BOTH
def test_same_call_with_the_same_answer_stops_the_run_where_crewai_stops_it(native):
    model = FakeModel([*[SEARCH] * 7, "done"])
    mock = MockTool("search", response="MOCK")
    adapter = CrewAIAdapter(crews.agent(native=native), tools=[mock], model=model)
    # Older versions let it go on.
    stopped = pytest.raises(Exception, match="search") if STOPS_REPETITION else nullcontext()
    with stopped as error:
        adapter.sync_invoke("rust?")
    assert adapter.last_result.tool_names == ["search"] * (7 - (2 if native else 1) * STOPS_REPETITION)
    assert error is None or type(error.value).__name__ == "ToolExecutionFailedError"


@BOTH
def test_tool_that_has_no_uses_left_is_told_to_the_model(native):
    search = crews.Search(max_usage_count=1)
    model = FakeModel([SEARCH, calls("search", q="go"), "done"])
    agent = crews.agent(native=native, tools=[search])
    mock = MockTool("search", response="MOCK")
    result = CrewAIAdapter(agent, tools=[mock], model=model).sync_invoke("rust?")
    assert "usage limit" in result.tool_calls[-1].seen_by_model
    assert mock.call_count == 1


@pytest.mark.parametrize("path", ["sync", "async"])
@BOTH
def test_agent_out_of_time_fails_as_it_would(native, path):
    who = crews.agent(native=native, max_execution_time=1)
    crew = crews.Crew(agents=[who], tasks=[crews.task(who, "Research")])
    slow = MockTool("search", response=lambda args: time.sleep(1.2))
    with (
        CrewAIAdapter(crew, tools=[slow], model=FakeModel(default_response=step)).session() as session,
        pytest.raises(TimeoutError, match="timed out after 1 seconds"),
    ):
        crew.kickoff() if path == "sync" else asyncio.run(crew.akickoff())
    assert session.result.tool_names == ["search"]
    assert not HITS


def step(request):
    return "done" if len(request.messages) > 2 else SEARCH


@BOTH
def test_agent_in_time_is_answered_in_the_thread_it_runs_in(native):
    who = crews.agent(native=native, max_execution_time=30)
    crew = crews.Crew(agents=[who], tasks=[crews.task(who, "Research")])
    mock = MockTool("search", response=lambda args: threading.current_thread() is threading.main_thread())
    result = CrewAIAdapter(crew, tools=[mock], model=FakeModel([SEARCH, "done"])).sync_invoke(None)
    assert [call.response for call in result.tool_calls] == [False]


@BOTH
def test_broken_arguments_are_one_call_the_tool_never_saw(native):
    broken = {"tool_calls": [{"name": "search", "args": "for rust"}]}
    mock = MockTool("search", response="MOCK")
    result = CrewAIAdapter(
        crews.agent(native=native), tools=[mock], model=FakeModel([broken, SEARCH, "done"])
    ).sync_invoke("rust?")
    first, second = result.tool_calls
    assert (first.outcome, first.raw_args, first.args) == ("invalid", "for rust", {})
    assert first.seen_by_model
    assert (second.outcome, mock.call_count) == ("success", 1)
