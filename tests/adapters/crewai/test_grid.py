"""Every entry point, with native calls and with calls as text: nothing real, nothing sent, nothing left."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

import pytest

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.watch import watched

SEARCH = {"tool_calls": [{"name": "search", "args": {"q": "rust"}}]}
DELEGATE = {
    "tool_calls": [
        {
            "name": "delegate_work_to_coworker",
            "args": {"coworker": "Researcher", "task": "Find", "context": "none"},
        }
    ]
}


async def _in_a_loop(run):
    return run()


def _drain(stream):
    for _ in stream:
        pass
    return stream.result


async def _adrain(stream):
    stream = await stream
    async for _ in stream:
        pass
    return stream.result


TOPIC = {"inputs": {"topic": "rust"}}
TOPICS = {"inputs": [{"topic": "rust"}, {"topic": "go"}]}
# Name -> how the application runs it, and how many calls of `search` its agents' model makes.
PATHS = {
    "Crew.kickoff": (lambda n: crews.crew(native=n).kickoff(**TOPIC), 1),
    "Crew.kickoff_async": (lambda n: asyncio.run(crews.crew(native=n).kickoff_async(**TOPIC)), 1),
    "Crew.akickoff": (lambda n: asyncio.run(crews.crew(native=n).akickoff(**TOPIC)), 1),
    "Crew.kickoff_for_each": (lambda n: crews.crew(native=n).kickoff_for_each(**TOPICS), 2),
    "Crew.kickoff_for_each_async": (
        lambda n: asyncio.run(crews.crew(native=n).kickoff_for_each_async(**TOPICS)),
        2,
    ),
    "Crew.akickoff_for_each": (lambda n: asyncio.run(crews.crew(native=n).akickoff_for_each(**TOPICS)), 2),
    "Crew.kickoff(stream=True)": (lambda n: _drain(crews.crew(native=n, stream=True).kickoff(**TOPIC)), 1),
    "Crew.kickoff_async(stream=True)": (
        lambda n: asyncio.run(_adrain(crews.crew(native=n, stream=True).kickoff_async(**TOPIC))),
        1,
    ),
    "hierarchical": (lambda n: crews.hierarchical(native=n).kickoff(), 1),
    "hierarchical akickoff": (lambda n: asyncio.run(crews.hierarchical(native=n).akickoff()), 1),
    "async_execution": (lambda n: crews.parallel_tasks(native=n).kickoff(), 3),
    "async_execution akickoff": (lambda n: asyncio.run(crews.parallel_tasks(native=n).akickoff()), 3),
    "max_execution_time": (
        lambda n: crews.Crew(
            agents=[who := crews.agent(native=n, max_execution_time=30)], tasks=[crews.task(who, "Research")]
        ).kickoff(),
        1,
    ),
    "Agent.kickoff": (lambda n: crews.agent(native=n).kickoff("rust?"), 1),
    "Agent.kickoff_async": (lambda n: asyncio.run(crews.agent(native=n).kickoff_async("rust?")), 1),
    "Flow.kickoff": (lambda n: crews.flow(native=n).kickoff(), 3),
    "Flow.kickoff_async": (
        lambda n: asyncio.run(crews.flow(native=n).kickoff_async()),
        3,
    ),
    "Flow.kickoff in a loop": (
        lambda n: asyncio.run(_in_a_loop(crews.flow(native=n).kickoff)),
        3,
    ),
}


class Script:
    """One search per run of an agent, then an answer; a manager delegates first."""

    def __init__(self):
        self.model = FakeModel(default_response=self.step)

    def step(self, request):
        told = str(request.messages[-2:])
        if request.agent == "Writer":
            return "Written"
        if request.agent == "Crew Manager":
            return "Managed" if "Found" in told else DELEGATE
        return "Found" if "MOCK" in told else SEARCH


@pytest.fixture(autouse=True)
def _fresh():
    HITS.clear()


def session(model, *mocks):
    return CrewAIAdapter(crews.crew, tools=mocks, model=model).session()


@pytest.mark.parametrize("native", [True, False], ids=["native", "text"])
@pytest.mark.parametrize("path", PATHS)
def test_mocked_tool_answers(path, native, capfd):
    run, searches = PATHS[path]
    with (
        watched() as (network, files),
        session(Script().model, MockTool("search", response="MOCK")) as open_one,
    ):
        run(native)
    calls = [call for call in open_one.tool_calls if call.name == "search"]
    printed = capfd.readouterr()
    line = f"{path:32} {'native' if native else 'text':7}"
    with capfd.disabled():
        sys.stdout.write(f"\n{line} hits={HITS.total()} connections={len(network)} files={len(files)}")
    assert [call.response for call in calls] == ["MOCK"] * searches
    assert all(call.mocked and call.outcome == "success" for call in calls)
    assert (dict(HITS), network, files) == ({}, [], [])
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.parametrize("native", [True, False], ids=["native", "text"])
@pytest.mark.parametrize("path", PATHS)
def test_unmocked_tool_never_runs(path, native):
    model = Script().model
    # Whatever the application makes of it, the session has the last word.
    with (
        watched() as (network, _),
        pytest.raises(UnmockedToolError, match="search"),
        session(model),
        suppress(Exception),
    ):
        PATHS[path][0](native)
    assert (dict(HITS), network) == ({}, [])
