"""What a session costs a LangGraph run of three model calls and three tool calls: medians of interleaved
runs, in processor time.

python -P benchmarks/langgraph.py [rounds]
"""

import asyncio
import gc
import sys
from statistics import median
from time import process_time

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from callsheet import FakeModel, MockTool
from callsheet_langgraph import LangGraphAdapter

BATCHES = [
    [{"name": "weather", "args": {"city": "Oslo"}}, {"name": "add", "args": {"a": 1, "b": 2}}],
    [{"name": "book", "args": {"flight": "DY1"}}],
]
WARM_UP, TIMED = 4, 6
ASKED = {"messages": [("user", "Oslo?")]}


@tool
async def weather(city: str) -> str:
    """Get the weather."""
    return "sunny"


@tool
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
async def book(flight: str) -> str:
    """Book a flight."""
    return "booked"


TOOLS = [weather, add, book]


class Canned(BaseChatModel):
    """Asks for two tools, for the third, and then says that it is done."""

    @property
    def _llm_type(self):
        return "canned"

    def bind_tools(self, tools, **options):
        return self.bind(tools=[{"name": bound.name} for bound in tools])

    def _generate(self, messages, stop=None, run_manager=None, **options):
        turn = sum(message.type == "ai" for message in messages)
        batch = BATCHES[turn] if turn < len(BATCHES) else []
        calls = [{**call, "id": f"c{turn}_{index}"} for index, call in enumerate(batch)]
        message = AIMessage("" if calls else "done", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages, stop=None, run_manager=None, **options):
        return self._generate(messages)


def build():
    model = Canned().bind_tools(TOOLS)

    async def llm(state):
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("llm", llm)
    graph.add_node("tools", ToolNode(TOOLS))
    graph.add_edge(START, "llm")
    graph.add_conditional_edges("llm", tools_condition)
    graph.add_edge("tools", "llm")
    return graph.compile()


async def bare(graph):
    await graph.ainvoke(ASKED)


async def captured(graph):
    with CAPTURING.session():
        await graph.ainvoke(ASKED)


async def mocked(graph):
    SCRIPT.reset()
    with MOCKED.session():
        await graph.ainvoke(ASKED)


GRAPH = build()
SCRIPT = FakeModel([*[{"tool_calls": batch} for batch in BATCHES], "done"])
MOCKS = [
    MockTool("weather", response="sunny"),
    MockTool("add", response=3),
    MockTool("book", response="booked"),
]
MOCKED = LangGraphAdapter(GRAPH, tools=MOCKS, model=SCRIPT)
CAPTURING = LangGraphAdapter(GRAPH, unmocked="real")


async def timed(run, graph):
    # What ran before (a collection, patches going in or out, another kind of run) leaves cold caches behind.
    for _ in range(WARM_UP):
        await run(graph)
    taken = []
    for _ in range(TIMED):
        begun = process_time()
        await run(graph)
        taken.append(process_time() - begun)
    return taken


async def main(rounds):
    graph = GRAPH
    other = build()
    times = {"bare": [], "patched, no session": [], "captured": [], "mocked and scripted": []}
    for run in (bare, captured, mocked):
        await run(graph)
    for _ in range(rounds):
        # Without a living session nothing is patched; what a run leaves behind goes in two rounds.
        gc.collect()
        gc.collect()
        assert not LangGraphAdapter.patches.installed
        times["bare"] += await timed(bare, graph)
        held = LangGraphAdapter(other, unmocked="real").session()
        release = LangGraphAdapter.patches.hold(held)
        times["patched, no session"] += await timed(bare, graph)
        times["captured"] += await timed(captured, graph)
        times["mocked and scripted"] += await timed(mocked, graph)
        release()
        del held
    base = median(times["bare"])
    print(f"bare: {base * 1000:.2f} ms, medians of {rounds} interleaved rounds of {TIMED} runs")
    for name, taken in times.items():
        print(f"{name:22} {median(taken) / base:.3f} x bare")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50))
