"""What a session costs a crew, an agent and their tools: medians of interleaved runs, in processor time.

And how soon a run is over whose script is wrong.

python benchmarks/crewai.py [rounds]
"""

import asyncio
import gc
import logging
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time

# This script's own folder stands first on the path, and in it this script would be `crewai`.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

import callsheet_crewai  # noqa: E402, F401, I001 - before crewai, which it silences
from crewai import Agent, Crew, Task  # noqa: E402
from crewai.events.event_bus import crewai_event_bus  # noqa: E402
from crewai.events.types.llm_events import LLMCallType  # noqa: E402
from crewai.flow.flow import Flow, start  # noqa: E402
from crewai.llms.base_llm import BaseLLM, llm_call_context  # noqa: E402
from crewai.tools import tool  # noqa: E402
from crewai_core.printer import set_suppress_console_output  # noqa: E402

from callsheet import FakeModel, MockTool, ScriptExhaustedError  # noqa: E402
from callsheet.adapters import CrewAIAdapter  # noqa: E402

WARM_UP = 2
CALL = {"name": "search", "args": {"q": "rust"}}
NATIVE = [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "rust"}'}}]
TEXT = 'Thought: search\nAction: search\nAction Input: {"q": "rust"}'
SCRIPT = [{"tool_calls": [CALL]}, "Found"]


class Canned(BaseLLM):
    """Answers at once, and counts and sends the events as CrewAI's own models do."""

    native: bool = True

    def supports_function_calling(self):
        return self.native

    def get_input_tokens_count(self, messages, *args, **kwargs):
        return 1

    def call(self, messages, tools=None, *, from_task=None, from_agent=None, **kwargs):
        source = {"from_task": from_task, "from_agent": from_agent}
        with llm_call_context():
            self._emit_call_started_event(messages=messages, tools=tools, **source)
            answer = NATIVE if self.native else TEXT
            if "MOCK" in str(messages[-3:]):
                answer = "Thought: done\nFinal Answer: Found"
            self._track_token_usage_internal({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
            self._emit_call_completed_event(answer, LLMCallType.LLM_CALL, messages=messages, **source)
        return answer


@tool
def search(q: str) -> str:
    """Search."""
    return "MOCK"


def agent(native):
    llm = Canned(model="canned", native=native)
    return Agent(role="Researcher", goal="g", backstory="b", llm=llm, tools=[search])


def crew(native, *, side_by_side=False, **options):
    agents = [agent(native), agent(native)]
    tasks = [Task(description="d", expected_output="e", agent=who) for who in agents]
    tasks[0].async_execution = side_by_side
    return Crew(agents=agents, tasks=tasks, **options)


class Ask(Flow):
    def __init__(self, native):
        super().__init__()
        self._native = native

    @start()
    def ask(self):
        return agent(self._native).kickoff("rust?").raw


CASES = {
    "crew, native": (lambda: crew(True).kickoff(), 2),
    "crew, text": (lambda: crew(False).kickoff(), 2),
    "agent, native": (lambda: agent(True).kickoff("rust?"), 1),
}


# How an application gets at them, for what a mistake in a script costs.
ENTRY_POINTS = {
    "kickoff": lambda native: crew(native).kickoff(),
    "kickoff_async": lambda native: asyncio.run(crew(native).kickoff_async()),
    "akickoff": lambda native: asyncio.run(crew(native).akickoff()),
    "kickoff_for_each": lambda native: crew(native).kickoff_for_each(inputs=[{}, {}]),
    "stream": lambda native: list(crew(native, stream=True).kickoff()),
    "async tasks": lambda native: crew(native, side_by_side=True).kickoff(),
    "agent": lambda native: agent(native).kickoff("rust?"),
    "agent, async": lambda native: asyncio.run(agent(native).kickoff_async("rust?")),
    "flow": lambda native: Ask(native).kickoff(),
}


def bare(run, _):
    run()
    # CrewAI goes on with its own events in threads; a session waits for them, so whoever measures has to.
    crewai_event_bus.flush()


def captured(run, _):
    with CrewAIAdapter(lambda: None, unmocked="real").session():
        run()


def scripted(run, agents):
    mock, model = MockTool("search", response="MOCK"), FakeModel(SCRIPT * agents)
    with CrewAIAdapter(lambda: None, tools=[mock], model=model).session():
        run()


def script_error(run, native):
    """Give the model calls and the seconds until a run without a script was over."""
    model = FakeModel(responses=[])
    started = perf_counter()
    with suppress(ScriptExhaustedError), CrewAIAdapter(lambda: None, model=model).session():
        with suppress(Exception):  # whatever the application makes of it
            run(native)
    return model.call_count, perf_counter() - started


def print_script_errors(rounds):
    ends = {}
    for _ in range(rounds + 1):
        for name, run in ENTRY_POINTS.items():
            for native in (True, False):
                calls, seconds = script_error(run, native)
                ends.setdefault((name, native), []).append((seconds, calls))
    # The first time CrewAI still imports what it needs for a flow.
    slowest, where = max((max(each[1:])[0], name) for (name, _), each in ends.items())
    calls = max(calls for each in ends.values() for _, calls in each)
    print(
        f"script error at {len(ends)} entry points: over after {calls} model call{'s' * (calls > 1)}, "
        f"at the latest in {slowest * 1000:.0f} ms ({where})"
    )


def main(rounds):
    logging.disable()  # CrewAI logs what ends a run
    set_suppress_console_output(True)  # the bare runs print, which is not what is measured
    ways = {"bare": bare, "captured": captured, "mocked+scripted": scripted}
    for case, (run, agents) in CASES.items():
        seconds = {way: [] for way in ways}
        order, dice = list(ways), Random(1)
        for _ in range(rounds + 2):
            dice.shuffle(order)
            for way in order:
                gc.collect()
                # What ran before (a collection, patches going in or out) leaves cold caches behind.
                for _ in range(WARM_UP):
                    ways[way](run, agents)
                started = process_time()
                ways[way](run, agents)
                seconds[way].append(process_time() - started)
        base = median(seconds["bare"][2:])
        told = (f"{way} {median(taken[2:]) / base:.2f}" for way, taken in seconds.items())
        print(f"{case}: bare {base * 1000:.1f} ms; " + " : ".join(told))
    print_script_errors(5)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
