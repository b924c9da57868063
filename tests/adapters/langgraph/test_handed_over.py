"""What a node hands to threads and pools is told in the order it was handed over, whatever ends first."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import cycle

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from callsheet import FakeModel, MockTool
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.styles import HITS, MODEL, lookup

CITIES = ["Rome", "Oslo", "Bern", "Oslo"]
DELAYS = cycle([0.03, 0.0, 0.02, 0.01, 0.0])


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


def look_up(city):
    time.sleep(next(DELAYS))
    return lookup.invoke({"city": city})


def pool(state):
    with ThreadPoolExecutor(4) as workers:
        list(workers.map(look_up, CITIES))


def pool_with_contexts(state):
    with ThreadPoolExecutor(4) as workers:
        for work in [workers.submit(copy_context().run, look_up, city) for city in CITIES]:
            work.result()


def threads(state):
    started = [threading.Thread(target=look_up, args=[city]) for city in CITIES]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def batch(state):
    lookup.batch([{"city": city} for city in CITIES])


async def executor(state):
    loop = asyncio.get_running_loop()
    await asyncio.gather(*[loop.run_in_executor(None, look_up, city) for city in CITIES])


async def to_thread(state):
    await asyncio.gather(*[asyncio.to_thread(look_up, city) for city in CITIES])


async def one_after_the_other(state):
    for city in CITIES:
        await asyncio.to_thread(look_up, city)


def pools_and_own_calls(state):
    lookup.invoke({"city": "first"})
    pool(state)
    lookup.invoke({"city": "between"})
    pool(state)
    lookup.invoke({"city": "last"})


def graph_of(work):
    # A plain function, so that it is the node whose code is read.
    if asyncio.iscoroutinefunction(work):

        async def act(state):
            await work(state)
            return {"messages": [AIMessage("done")]}
    else:

        def act(state):
            work(state)
            return {"messages": [AIMessage("done")]}

    graph = StateGraph(MessagesState)
    graph.add_node("act", act)
    graph.add_edge(START, "act")
    return graph.compile()


def slow(city):
    time.sleep(next(DELAYS))
    return "mocked"


def told(work):
    adapter = LangGraphAdapter(graph_of(work), tools=[MockTool("lookup", response=slow)])
    result = asyncio.run(adapter.invoke("go"))
    return [(call.args["city"], call.id) for call in result.tool_calls], result.trace


@pytest.mark.parametrize(
    "work", [pool, pool_with_contexts, threads, batch, executor, to_thread, one_after_the_other]
)
def test_calls_are_told_as_they_were_handed_over(work):
    calls, trace = told(work)
    assert [city for city, _ in calls] == CITIES
    assert all(told(work) == (calls, trace) for _ in range(3))


def test_the_nodes_own_calls_stand_between():
    calls, _ = told(pools_and_own_calls)
    assert [city for city, _ in calls] == ["first", *CITIES, "between", *CITIES, "last"]


def test_models_asked_side_by_side_are_told_in_the_order_they_were_handed_over():
    def echo(request):
        time.sleep(next(DELAYS))
        return f"heard {request.messages[-1]['content']}"

    def ask(state):
        MODEL.batch([[("user", city)] for city in CITIES])

    for _ in range(3):
        adapter = LangGraphAdapter(graph_of(ask), model=FakeModel(default_response=echo))
        trace = adapter.sync_invoke("go").trace
        assert [entry.content for entry in trace if entry.role == "assistant"] == [
            f"heard {city}" for city in CITIES
        ]


def test_a_context_that_is_at_work_is_left_alone():
    """Python refuses it the second time; that is not for us to turn into something else."""
    entered, leave = threading.Event(), threading.Event()

    def stay():
        entered.set()
        leave.wait(10)

    def share(state):
        context = copy_context()
        with ThreadPoolExecutor(2) as workers:
            first = workers.submit(context.run, stay)
            assert entered.wait(10)
            second = workers.submit(context.run, look_up, "Rome")
            with pytest.raises(RuntimeError, match="already entered"):
                second.result()
            leave.set()
            first.result()

    assert told(share)[0] == []
