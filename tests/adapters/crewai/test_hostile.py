"""Ways past a tool that someone may try: none of them runs the real one, and the test always fails."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from crewai import Crew
from crewai.events import crewai_event_bus
from crewai.events.types.llm_events import LLMCallStartedEvent
from crewai.lite_agent import LiteAgent
from crewai.tasks.conditional_task import ConditionalTask
from crewai.tools import BaseTool
from crewai.tools.agent_tools.delegate_work_tool import DelegateWorkTool
from crewai.tools.structured_tool import CrewStructuredTool

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS, Search, add_numbers
from tests.adapters.crewai.scripts import SEARCH, calls


def look(*_):
    return Search().run(q="x")


def structured():
    def search(q: str) -> str:
        """Search."""
        HITS["search"] += 1
        return "REAL"

    return CrewStructuredTool.from_function(search, name="search")


class OwnStructured(CrewStructuredTool):
    """A structured tool that invokes itself its own way."""

    def invoke(self, input, config=None, **kwargs):
        HITS["search"] += 1
        return "REAL"


class OwnDelegation(DelegateWorkTool):
    """Looks like CrewAI's own delegation, which runs unmocked, and is not."""

    def _run(self, **kwargs):
        HITS["search"] += 1
        return "REAL"


class DeferredToolResultReader(BaseTool):
    """Named like CrewAI's own plumbing, which runs unmocked, and is not."""

    name: str = "search"
    description: str = "Search."

    def _run(self, q: str) -> str:
        HITS["search"] += 1
        return "REAL"


def instance_with(name):
    tool = Search()
    object.__setattr__(tool, name, lambda **kwargs: HITS.update(["search"]) or "REAL")
    return tool


def kickoff(*tools, **options):
    return crews.agent(tools=list(tools), **options).kickoff("go")


def crew_of(*tasks, **options):
    return Crew(agents=[task.agent for task in tasks], tasks=list(tasks), **options)


def in_a_thread_of_before():
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        return pool.submit(look).result()


async def in_an_executor():
    return await asyncio.get_running_loop().run_in_executor(None, look)


def in_a_raw_thread():
    thread = threading.Thread(target=_quietly, args=[look])
    thread.start()
    thread.join()


def _quietly(function):
    with suppress(Exception):
        function()


def from_an_event_handler():
    with crewai_event_bus.scoped_handlers():
        crewai_event_bus.on(LLMCallStartedEvent)(lambda source, event: _quietly(look))
        kickoff()


class Greedy(BaseTool):
    name: str = "greedy"
    description: str = "Swallows whatever another tool raises."

    def _run(self) -> str:
        with suppress(BaseException):
            look()
        return "all is well"


def agent_with(**options):
    return crews.agent(tools=[], **options)


def function_for_a_model(function):
    tools = [{"type": "function", "function": {"name": "search", "description": "", "parameters": {}}}]
    return crews.native_llm().call("x", tools=tools, available_functions={"search": function})


def spoofed(q):
    HITS["search"] += 1
    return "REAL"


spoofed.__module__ = "crewai.spoofed"

# Name -> the attempt. Whoever makes it also swallows what it raises.
ATTEMPTS = {
    "body of a tool class": lambda: Search._run(Search(), q="x"),
    "copy of a tool": lambda: Search().model_copy().run(q="x"),
    "function of a decorated tool": lambda: add_numbers.func(1, 2),
    "async function of a decorated tool": lambda: asyncio.run(crews.slow_lookup.func("a")),
    "structured tool": lambda: structured().invoke({"q": "x"}),
    "structured tool, async": lambda: asyncio.run(structured().ainvoke({"q": "x"})),
    "function of a structured tool": lambda: structured().func(q="x"),
    "body of a structured tool": lambda: structured()._run(q="x"),
    "structured tool of one's own": lambda: OwnStructured(
        name="search", description="d", args_schema=Search().args_schema, func=spoofed
    ).invoke({"q": "x"}),
    "run replaced in the instance": lambda: kickoff(instance_with("run")),
    "body replaced in the instance": lambda: kickoff(instance_with("_run")),
    "class named like plumbing": lambda: kickoff(DeferredToolResultReader()),
    "delegation of one's own": lambda: OwnDelegation(agents=[], name="search", description="d").run(
        task="t", context="c", coworker="x"
    ),
    "raw thread": in_a_raw_thread,
    "pool of before": in_a_thread_of_before,
    "executor of a loop": lambda: asyncio.run(in_an_executor()),
    "step callback": lambda: crew_of(crews.task(crews.agent(), "x"), step_callback=look).kickoff(),
    "task callback": lambda: crew_of(crews.task(agent_with(), "x", callback=look)).kickoff(),
    "guardrail": lambda: agent_with(guardrail=lambda output: (True, look())).kickoff("x"),
    "condition of a task": lambda: crew_of(
        crews.task(who := agent_with(), "x"),
        ConditionalTask(description="d", expected_output="e", agent=who, condition=look),
    ).kickoff(),
    "callback before a kickoff": lambda: crew_of(
        crews.task(agent_with(), "x"), before_kickoff_callbacks=[look]
    ).kickoff(),
    "callback after a kickoff": lambda: crew_of(
        crews.task(agent_with(), "x"), after_kickoff_callbacks=[look]
    ).kickoff(),
    "event handler": from_an_event_handler,
    "task run by hand": lambda: crews.task(crews.agent(), "x").execute_sync(),
    "agent run by hand": lambda: (who := crews.agent()).execute_task(crews.task(who, "x")),
    "lite agent": lambda: LiteAgent(
        role="R", goal="g", backstory="b", llm=crews.llm_for(False), tools=[Search()]
    ).kickoff("x"),
    "function a model is given": lambda: function_for_a_model(lambda q: HITS.update(["search"])),
    "function that claims to be CrewAI's": lambda: function_for_a_model(spoofed),
    "method of a tool a model is given": lambda: function_for_a_model(Search().run),
}
NOT_ASKED_TO_SEARCH = (
    "step callback",
    "task callback",
    "guardrail",
    "condition of a task",
    "callback before a kickoff",
    "callback after a kickoff",
    "event handler",
)


@pytest.mark.filterwarnings("ignore:LiteAgent is deprecated")
@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_way_past_a_tool_runs_it(name):
    model = FakeModel(default_response="done" if name in NOT_ASKED_TO_SEARCH else SEARCH)
    with (
        pytest.raises(UnmockedToolError),
        CrewAIAdapter(crews.crew, model=model, strict=False).session(),
        suppress(Exception),
    ):
        ATTEMPTS[name]()
    assert not HITS


def test_tool_that_swallows_a_violation_does_not_hide_it():
    model = FakeModel([calls("greedy"), "done"])
    adapter = CrewAIAdapter(crews.agent(tools=[Greedy()]), tools=[MockTool.spy("greedy")], model=model)
    with pytest.raises(UnmockedToolError, match="search"):
        adapter.sync_invoke("go")
    assert not HITS


def test_thread_that_outlives_its_session_is_refused():
    goes_on, raised = threading.Event(), []

    def late():
        goes_on.wait(30)
        try:
            look()
        except Exception as error:
            raised.append(type(error).__name__)

    with CrewAIAdapter(crews.crew, model=FakeModel()).session():
        thread = threading.Thread(target=late)
        thread.start()
    goes_on.set()
    thread.join()
    assert (raised, dict(HITS)) == (["SessionAborted"], {})


@pytest.mark.parametrize(
    "run",
    [
        lambda: asyncio.run(Search().to_structured_tool().ainvoke({"q": "x"})),
        lambda: Search().to_structured_tool().invoke({"q": "x"}),
        lambda: Search().to_structured_tool().func(q="x"),
        lambda: Search().run(q="x"),
        lambda: asyncio.run(structured().ainvoke({"q": "x"})),
        lambda: structured().func("x"),
    ],
)
def test_tool_that_may_run_is_one_call_however_it_is_run(run):
    with CrewAIAdapter(lambda: None, tools=[MockTool.spy("search")], model=FakeModel()).session() as session:
        run()
    assert [(call.name, call.args) for call in session.tool_calls] == [("search", {"q": "x"})]
    assert HITS == {"search": 1}
