"""What a session costs a crew, an agent and their tools: medians of interleaved runs, in processor time.

python benchmarks/crewai.py [rounds]
"""

import sys
from pathlib import Path
from statistics import median
from time import process_time

# This script's own folder stands first on the path, and in it this script would be `crewai`.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

import callsheet_crewai  # noqa: E402, F401, I001 - before crewai, which it silences
from crewai import Agent, Crew, Task  # noqa: E402
from crewai.events.types.llm_events import LLMCallType  # noqa: E402
from crewai.llms.base_llm import BaseLLM, llm_call_context  # noqa: E402
from crewai.tools import tool  # noqa: E402
from crewai_core.printer import set_suppress_console_output  # noqa: E402

from callsheet import FakeModel, MockTool  # noqa: E402
from callsheet.adapters import CrewAIAdapter  # noqa: E402

CALL = {"name": "search", "args": {"q": "rust"}}
NATIVE = [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "rust"}'}}]
TEXT = 'Thought: search\nAction: search\nAction Input: {"q": "rust"}'
SCRIPT = [{"tool_calls": [CALL]}, "Found"]


class Canned(BaseLLM):
    """Answers at once and sends the events CrewAI's own models send."""

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
            self._emit_call_completed_event(answer, LLMCallType.LLM_CALL, messages=messages, **source)
        return answer


@tool
def search(q: str) -> str:
    """Search."""
    return "MOCK"


def agent(native):
    llm = Canned(model="canned", native=native)
    return Agent(role="Researcher", goal="g", backstory="b", llm=llm, tools=[search])


def crew(native):
    agents = [agent(native), agent(native)]
    tasks = [Task(description="d", expected_output="e", agent=who) for who in agents]
    return Crew(agents=agents, tasks=tasks)


CASES = {
    "crew, native": (lambda: crew(True).kickoff(), 2),
    "crew, text": (lambda: crew(False).kickoff(), 2),
    "agent, native": (lambda: agent(True).kickoff("rust?"), 1),
}


def bare(run, _):
    run()


def captured(run, _):
    with CrewAIAdapter(lambda: None, unmocked="real").session():
        run()


def scripted(run, agents):
    mock, model = MockTool("search", response="MOCK"), FakeModel(SCRIPT * agents)
    with CrewAIAdapter(lambda: None, tools=[mock], model=model).session():
        run()


def main(rounds):
    set_suppress_console_output(True)  # the bare runs print, which is not what is measured
    ways = {"bare": bare, "captured": captured, "mocked+scripted": scripted}
    for case, (run, agents) in CASES.items():
        seconds = {way: [] for way in ways}
        for _ in range(rounds + 2):
            for way, go in ways.items():
                started = process_time()
                go(run, agents)
                seconds[way].append(process_time() - started)
        base = median(seconds["bare"][2:])
        told = (f"{way} {median(taken[2:]) / base:.2f}" for way, taken in seconds.items())
        print(f"{case}: bare {base * 1000:.1f} ms; " + " : ".join(told))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
