"""Crews, agents and flows for the tests; every real body and every real model call is counted."""

from __future__ import annotations

import asyncio
from collections import Counter

from crewai import LLM, Agent, Crew, Process, Task
from crewai.flow.flow import Flow, listen, start
from crewai.llms.base_llm import BaseLLM
from crewai.tools import BaseTool, tool
from pydantic import PrivateAttr

HITS: Counter[str] = Counter()


class TextLLM(BaseLLM):
    """A model without function calling: its agents write their calls as text."""

    def supports_function_calling(self):
        return False

    def call(self, messages, *args, **kwargs):
        HITS["model"] += 1
        return "Thought: done\nFinal Answer: REAL"


def native_llm(name="gpt-4o", **options):
    return LLM(model=name, provider="openai", api_key="none", **options)


def llm_for(native):
    return native_llm() if native else TextLLM(model="text-model")


class Search(BaseTool):
    name: str = "search"
    description: str = "Search the web."
    _runs: int = PrivateAttr(default=0)

    def _run(self, q: str) -> str:
        HITS["search"] += 1
        return f"REAL {q}"


class Rude(BaseTool):
    """Overrides `run` itself."""

    name: str = "rude"
    description: str = "Does as it likes."

    def run(self, *args, **kwargs):
        HITS["rude"] += 1
        return "REAL"

    def _run(self, **kwargs):
        return self.run(**kwargs)


@tool("Add Numbers")
def add_numbers(a: int, b: int) -> int:
    """Add two numbers."""
    HITS["add_numbers"] += 1
    return a + b


@tool
async def slow_lookup(key: str) -> str:
    """Look something up."""
    HITS["slow_lookup"] += 1
    await asyncio.sleep(0)
    return f"REAL {key}"


def agent(role="Researcher", *, native=True, tools=None, **options):
    tools = [Search(), add_numbers] if tools is None else tools
    return Agent(role=role, goal="Find out", backstory="Curious", llm=llm_for(native), tools=tools, **options)


def task(who, description="Research {topic}", **options):
    return Task(description=description, expected_output="A fact", agent=who, **options)


def crew(*, native=True, tools=None, **options):
    """Give a researcher with tools and a writer without."""
    researcher, writer = agent(native=native, tools=tools), agent("Writer", native=native, tools=[])
    tasks = [task(researcher), task(writer, "Write about {topic}")]
    return Crew(agents=[researcher, writer], tasks=tasks, **options)


def hierarchical(*, native=True, **options):
    researcher = agent(native=native)
    work = Task(description="Research rust", expected_output="A fact")
    return Crew(
        agents=[researcher],
        tasks=[work],
        process=Process.hierarchical,
        manager_llm=llm_for(native),
        **options,
    )


def parallel_tasks(*, native=True):
    first, second, last = (agent(role, native=native) for role in ("First", "Second", "Last"))
    one, two = (task(who, "Research rust", async_execution=True) for who in (first, second))
    return Crew(agents=[first, second, last], tasks=[one, two, task(last, "Sum up", context=[one, two])])


def flow(*, native=True, **options):
    """Give a flow that runs an agent, then a crew, then calls a tool itself."""

    class ResearchFlow(Flow):
        @start()
        def ask(self):
            return agent(native=native).kickoff("rust?")

        @listen(ask)
        def write(self, answer):
            return crew(native=native).kickoff(inputs={"topic": "rust"}).raw

        @listen(write)
        def look(self, text):
            return f"{text}/{Search().run(q='direct')}"

    return ResearchFlow(**options)
