"""What CrewAI does that a test would trip over, one by one; each was seen."""

from __future__ import annotations

import asyncio
import inspect
import os
from contextlib import suppress
from pathlib import Path

import pytest
from crewai import Agent, Crew
from crewai.tools import BaseTool, tool

from callsheet import FakeModel, MockTool, ScriptExhaustedError, SessionError, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from callsheet_crewai._rate_limits import POLICY
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.test_grid import PATHS
from tests.adapters.crewai.watch import watched


def calls(name, *several, **args):
    return {"tool_calls": [{"name": name, "args": each} for each in (several or (args,))]}


SEARCH = calls("search", q="rust")
BOTH = pytest.mark.parametrize("native", [True, False], ids=["native", "text"])


@pytest.fixture(autouse=True)
def _fresh():
    HITS.clear()


# 1


@pytest.mark.parametrize("kind", ["class", "function"])
def test_method_bound_before_the_session_is_refused(kind):
    tool, args = (crews.Search(), {"q": "x"}) if kind == "class" else (crews.add_numbers, {"a": 1, "b": 2})
    # As it is when no session is alive, whatever the other tests have left for the garbage collector.
    early = inspect.unwrap(type(tool).run).__get__(tool)
    adapter = CrewAIAdapter(crews.crew, model=FakeModel())
    # Whatever the application makes of it, the session has the last word.
    with (
        pytest.raises(UnmockedToolError, match="bound before the session"),
        adapter.session(),
        suppress(Exception),
    ):
        early(**args)
    assert not HITS


def test_every_way_to_run_a_tool_is_answered():
    search = crews.Search()
    adapter = CrewAIAdapter(crews.crew, tools=[MockTool("search", response="MOCK")], model=FakeModel())
    with adapter.session() as session:
        structured = search.to_structured_tool()
        answers = [search.run(q="x"), search.run("x"), search._run(q="x"), structured.invoke({"q": "x"})]
        answers.append(asyncio.run(structured.ainvoke({"q": "x"})))
        answers.append(asyncio.run(search.arun(q="x")))
    assert answers == ["MOCK"] * 6
    assert [call.args for call in session.tool_calls] == [{"q": "x"}] * 6
    assert not HITS


@BOTH
def test_agent_that_ran_before_is_answered_by_the_session(native):
    """Its executor is kept, and with it the tool methods of its first run."""
    crew = crews.crew(native=native)
    for answer in ("one", "two"):
        model = FakeModel(agents={"Researcher": [SEARCH, answer], "Writer": ["w"]})
        with CrewAIAdapter(
            crews.crew, tools=[MockTool("search", response=answer)], model=model
        ).session() as s:
            crew.kickoff(inputs={"topic": "x"})
        assert s.tool_calls[0].response == answer
    assert not HITS


# 2 and 12


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


# 3


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


# 4


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


# 6


def test_concurrent_runs_of_one_crew_are_refused_naming_the_factory():
    crew = crews.crew()

    async def main():
        adapters = [CrewAIAdapter(crew, model=FakeModel(default_response="x")) for _ in range(2)]
        return await asyncio.gather(*(a.invoke({"topic": "x"}) for a in adapters), return_exceptions=True)

    errors = [error for error in asyncio.run(main()) if isinstance(error, BaseException)]
    assert [type(error) for error in errors] == [SessionError]
    assert "CrewAIAdapter(build_crew)" in str(errors[0])


def test_concurrent_runs_of_a_factory_keep_apart():
    async def one(number):
        model = FakeModel(agents={"Researcher": [SEARCH, f"found {number}"], "Writer": [f"written {number}"]})
        adapter = CrewAIAdapter(crews.crew, tools=[MockTool("search", response=number)], model=model)
        return await adapter.invoke({"topic": "x"})

    async def main():
        return await asyncio.gather(*(one(number) for number in range(4)))

    results = asyncio.run(main())
    assert [result.tool_calls[0].response for result in results] == [0, 1, 2, 3]
    assert [result.response for result in results] == [f"written {number}" for number in range(4)]


# 8 and 9


def state_of(crew):
    parts = [crew, *crew.agents, *crew.tasks, *(agent.llm for agent in crew.agents)]
    return [
        {
            name: (id(value), repr(value) if isinstance(value, str | list | dict) else None)
            for name, value in _all(part)
        }
        for part in parts
    ] + [each.current_usage_count for agent in crew.agents for each in agent.tools]


def _all(part):
    yield from vars(part).items()
    yield from (part.__pydantic_private__ or {}).items()


@BOTH
def test_everything_a_kickoff_changes_is_put_back(native):
    crew = crews.crew(native=native)
    before = state_of(crew)
    model = FakeModel(agents={"Researcher": [SEARCH, "done"], "Writer": ["w"]})
    result = CrewAIAdapter(crew, tools=[MockTool("search", response=1)], model=model).sync_invoke(
        {"topic": "x"}
    )
    assert result.native.tasks_output[0].raw == "done"
    assert state_of(crew) == before
    assert crew.tasks[0].description == "Research {topic}"


def test_one_crew_twice_is_like_two_crews():
    def run(crew, topic):
        model = FakeModel(agents={"Researcher": [calls("search", q=topic), "done"], "Writer": ["w"]})
        return CrewAIAdapter(crew, tools=[MockTool("search", response=topic)], model=model).sync_invoke(
            {"topic": topic}
        )

    crew = crews.crew()
    assert [run(crew, topic).trace for topic in ("a", "b")] == [
        run(crews.crew(), topic).trace for topic in ("a", "b")
    ]


def test_what_a_real_body_notes_in_its_tool_stays():
    class Counting(BaseTool):
        name: str = "count"
        description: str = "Count."
        seen: int = 0

        def _run(self) -> str:
            self.seen += 1
            return "ok"

    counting = Counting()
    agent = crews.agent(tools=[counting])
    CrewAIAdapter(agent, tools=[MockTool.spy("count")], model=FakeModel([calls("count"), "x"])).sync_invoke(
        "go"
    )
    assert counting.seen == 1


def test_mocked_mcp_server_is_not_started():
    from crewai.mcp import MCPServerStdio

    agent = crews.agent(tools=[], mcps=[MCPServerStdio(command="/no/such/server", args=[])])
    lookup = MockTool("lookup", parameters={"key": {"type": "string"}}, response="MOCK")
    model = FakeModel([calls("lookup", key="a"), "done"])
    result = CrewAIAdapter(agent, tools=[lookup], model=model).sync_invoke("go")
    assert [(call.name, call.kind, call.response) for call in result.tool_calls] == [
        ("lookup", "mcp", "MOCK")
    ]
    assert agent.tools == []
    assert [offered["name"] for offered in model.call_log[0]["tools"]] == ["lookup"]


# 10


def test_memory_is_empty_and_asks_no_provider():
    model = FakeModel(agents={"Researcher": [SEARCH, "done"], "Writer": ["w"]})
    with watched() as (network, files):
        adapter = CrewAIAdapter(
            lambda: crews.crew(memory=True), tools=[MockTool("search", response=1)], model=model
        )
        assert adapter.sync_invoke({"topic": "x"}).response == "w"
    assert (network, files) == ([], [])


# 14


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


# 15


def test_storage_is_a_temporary_folder():
    from crewai.memory.storage.kickoff_task_outputs_storage import KickoffTaskOutputsSQLiteStorage

    assert Path(KickoffTaskOutputsSQLiteStorage().db_path).is_relative_to(os.environ["CREWAI_STORAGE_DIR"])


# What hangs


@BOTH
@pytest.mark.parametrize("path", PATHS)
def test_script_error_ends_a_run_at_its_first_model_call(path, native):
    model = FakeModel(agents={"Nobody": ["x"]})
    adapter = CrewAIAdapter(crews.crew, model=model)
    # Whatever the application makes of it, the session has the last word.
    with pytest.raises(ScriptExhaustedError), adapter.session(), suppress(Exception):
        PATHS[path][0](native)
    # Tasks that run beside each other may each have asked before the first was refused.
    assert model.call_count <= (
        2 if path.startswith(("async_execution", "Crew.kickoff_for_each_async")) else 1
    ) or (path == "Crew.akickoff_for_each" and model.call_count <= 2)


def test_script_that_runs_out_of_items_does_not_hang():
    items = iter(())
    adapter = CrewAIAdapter(
        crews.parallel_tasks(), model=FakeModel(default_response=lambda request: next(items))
    )
    with pytest.raises(RuntimeError, match="StopIteration"):
        adapter.sync_invoke(None)


@BOTH
def test_violation_of_a_delegated_agent_reaches_the_test(native):
    delegate = calls("delegate_work_to_coworker", coworker="Researcher", task="Find", context="none")
    model = FakeModel(agents={"Crew Manager": [delegate, "never"], "Researcher": [SEARCH, "never"]})
    with pytest.raises(UnmockedToolError, match="search"):
        CrewAIAdapter(crews.hierarchical(native=native), model=model).sync_invoke(None)
    assert model.call_count == 2
    assert not HITS


# Classes that come to be inside a session


def test_tool_class_defined_inside_a_session_is_answered():
    with CrewAIAdapter(crews.crew, tools=[MockTool("late", response="MOCK")], model=FakeModel()).session():

        class Late(BaseTool):
            name: str = "late"
            description: str = "Comes late."

            def _run(self) -> str:
                HITS["late"] += 1
                return "REAL"

        assert Late().run() == "MOCK"
    assert not HITS
    assert Late().run() == "REAL"


def test_model_class_defined_inside_a_session_is_scripted():
    with CrewAIAdapter(crews.crew, model=FakeModel(["scripted"])).session():

        class Late(crews.BaseLLM):
            def call(self, messages, *args, **kwargs):
                HITS["late"] += 1
                return "REAL"

        late = Late(model="late")
        assert late.call("hello") == "scripted"
    assert not HITS
    assert late.call("hello") == "REAL"


# Tools of every kind


@BOTH
def test_tool_that_overrides_run_is_answered(native):
    model = FakeModel([calls("rude"), "done"])
    agent = crews.agent(native=native, tools=[crews.Rude()])
    result = CrewAIAdapter(agent, tools=[MockTool("rude", response="MOCK")], model=model).sync_invoke("go")
    assert result.tool_calls[0].response == "MOCK"
    assert not HITS


@BOTH
def test_async_tool_is_answered_and_spied(native):
    for mock, answer in (
        (MockTool("slow_lookup", response="MOCK"), "MOCK"),
        (MockTool.spy("slow_lookup"), "REAL a"),
    ):
        model = FakeModel([calls("slow_lookup", key="a"), "done"])
        agent = crews.agent(native=native, tools=[crews.slow_lookup])
        result = CrewAIAdapter(agent, tools=[mock], model=model).sync_invoke("go")
        assert result.tool_calls[0].response == answer
    assert HITS == {"slow_lookup": 1}


@BOTH
def test_mock_may_use_the_name_the_author_gave_or_the_one_the_model_sees(native):
    for name in ("Add Numbers", "add_numbers", "Researcher.add_numbers"):
        model = FakeModel([calls("add_numbers", a=1, b=2), "done"])
        result = CrewAIAdapter(
            crews.agent(native=native), tools=[MockTool(name, response=9)], model=model
        ).sync_invoke("?")
        assert [(call.name, call.response) for call in result.tool_calls] == [("add_numbers", 9)]


@BOTH
def test_result_as_answer_ends_the_run(native):
    @tool("lookup", result_as_answer=True)
    def lookup(key: str) -> str:
        """Look up."""
        HITS["lookup"] += 1
        return "REAL"

    model = FakeModel([calls("lookup", key="a")])
    agent = crews.agent(native=native, tools=[lookup])
    result = CrewAIAdapter(agent, tools=[MockTool("lookup", response="MOCK")], model=model).sync_invoke("go")
    assert "MOCK" in result.response
    assert not HITS


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


def test_function_given_to_a_model_call_is_judged():
    def charge(amount: int) -> str:
        HITS["charge"] += 1
        return "REAL"

    tools = [{"type": "function", "function": {"name": "charge", "description": "", "parameters": {}}}]
    model = FakeModel([calls("charge", amount=5)])
    adapter = CrewAIAdapter(crews.crew, tools=[MockTool("charge", response="MOCK")], model=model)
    with adapter.session():
        answer = crews.native_llm().call("pay", tools=tools, available_functions={"charge": charge})
    assert answer == "MOCK"
    assert not HITS


def test_handles_objects_and_only_the_adapter_takes_factories():
    import callsheet
    from callsheet import MockConfigError

    assert not CrewAIAdapter.handles(crews.crew)
    with pytest.raises(MockConfigError):
        callsheet.wrap(crews.crew)
    assert type(callsheet.wrap(crews.crew())) is CrewAIAdapter
    with pytest.raises(MockConfigError, match="wraps"):
        CrewAIAdapter(lambda needed: None)
    with pytest.raises(MockConfigError, match="built"):
        CrewAIAdapter(lambda: 5, model=FakeModel()).sync_invoke("x")
    assert isinstance(crews.crew(), Crew)
    assert isinstance(crews.agent(), Agent)
