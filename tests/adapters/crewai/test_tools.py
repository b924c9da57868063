"""Tools of every kind and every way to run one."""

from __future__ import annotations

import asyncio
import inspect
from contextlib import suppress
from importlib.util import find_spec

import pytest
from crewai import Crew
from crewai.tools import BaseTool, tool

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.scripts import BOTH, SEARCH, calls


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


def test_tool_class_that_keeps_its_definition_to_itself_is_answered_in_the_next_session():
    class Quiet:
        def __init_subclass__(cls, **options):
            """Tell no other base."""

    with CrewAIAdapter(crews.crew, model=FakeModel(), strict=False).session():
        pass

    class Hidden(Quiet, BaseTool):
        name: str = "quiet"
        description: str = "Says nothing."

        def run(self) -> str:
            HITS["quiet"] += 1
            return "REAL"

        def _run(self) -> str:
            return self.run()

    with CrewAIAdapter(crews.crew, tools=[MockTool("quiet", response="MOCK")], model=FakeModel()).session():
        assert Hidden().run() == "MOCK"
    assert not HITS


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


@BOTH
def test_sync_body_is_what_an_agent_runs_and_the_async_one_is_answered_too(native):
    class Both(BaseTool):
        name: str = "both"
        description: str = "Has two bodies."

        def _run(self) -> str:
            HITS["sync"] += 1
            return "sync"

        async def _arun(self) -> str:
            HITS["async"] += 1
            return "async"

    def go(mock, use):
        agent = crews.agent(native=native, tools=[Both()])
        adapter = CrewAIAdapter(agent, tools=[mock], model=FakeModel([calls("both"), "done"]), strict=False)
        with adapter.session() as session:
            use(agent)
        return [call.response for call in session.tool_calls]

    def kickoff(agent):
        agent.kickoff("go")

    def kickoff_async(agent):
        asyncio.run(agent.kickoff_async("go"))

    def directly(agent):
        asyncio.run(agent.tools[0].arun())

    mock, spy = MockTool("both", response="MOCK"), MockTool.spy("both")
    assert [go(mock, use) for use in (kickoff, kickoff_async, directly)] == [["MOCK"]] * 3
    assert not HITS
    assert [go(spy, use) for use in (kickoff, kickoff_async, directly)] == [["sync"], ["sync"], ["async"]]
    assert HITS == {"sync": 2, "async": 1}


@BOTH
def test_result_as_answer_ends_a_crew_and_only_where_the_tool_says_so(native):
    final = crews.Search(result_as_answer=True)
    who = crews.agent(native=native, tools=[final])
    crew = Crew(agents=[who], tasks=[crews.task(who, "Research")])
    mock = MockTool("search", response="MOCK")
    result = CrewAIAdapter(crew, tools=[mock], model=FakeModel([SEARCH])).sync_invoke(None)
    assert (result.response, result.tool_names) == ("MOCK", ["search"])


@BOTH
def test_failed_tool_is_an_answer_only_where_crewai_makes_it_one(native):
    final = crews.Search(result_as_answer=True)
    agent = crews.agent(native=native, tools=[final])
    mock = MockTool("search", raises=RuntimeError("boom"))
    model = FakeModel(responses=[SEARCH], default_response="done")
    result = CrewAIAdapter(agent, tools=[mock], model=model).sync_invoke("go")
    # CrewAI 1.15.3 makes the failure's text the answer.
    assert (result.response == "done") is (find_spec("crewai.tools.tool_failure") is not None)
    assert "boom" in result.tool_calls[0].seen_by_model
