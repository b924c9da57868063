"""Every entry point of CrewAI, as an application would use it."""

from __future__ import annotations

import asyncio

from callsheet import FakeModel
from tests.adapters.crewai import crews
from tests.adapters.crewai.scripts import DELEGATE, SEARCH


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
