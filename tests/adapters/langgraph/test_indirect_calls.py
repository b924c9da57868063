"""Roundabout ways for a node to call the function of a tool past the tool, and what only looks like one."""

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph import late_tools
from tests.adapters.langgraph.styles import HITS, MODEL

MOCK = MockTool("lookup", response="mocked")


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
    yield
    assert not HITS


def body(city: str) -> str:
    """Look a city up."""
    HITS["lookup"] += 1
    return f"REAL {city}"


class Plain(BaseTool):
    """A tool class whose body was taken before any session."""

    name: str = "own"
    description: str = "Look a city up."

    def _run(self, city: str) -> str:
        HITS["own"] += 1
        return f"REAL {city}"


plain = StructuredTool.from_function(body, name="lookup")
own = Plain()
TABLE = {"lookup": body}
TAKEN = own._run
BOUND = partial(body, "Oslo")


def run_it(function, times=1):
    return [function("Oslo") for _ in range(times)]


def describe(function):
    return f"{function.__name__}: {function.__doc__}"


def pass_on(function):
    return describe(function) + str(run_it(function))


def noted(function):
    @wraps(function)
    def around(*args):
        return function(*args)

    return around


NOTED, NOTED_LEN = noted(body), noted(len)


class Clerk:
    def __init__(self):
        self.fetch = body
        self.table = {"fetch": body}

    def by_attribute(self, state):
        return said(self.fetch("Oslo"))

    def by_table(self, state):
        return said(self.table["fetch"]("Oslo"))

    def __call__(self, state):
        return said(self.fetch("Oslo"))


class Desk:
    """Has a tool that is made of a method."""

    def __init__(self):
        self.tool = StructuredTool.from_function(self.find)

    def find(self, city: str) -> str:
        """Look a city up."""
        HITS["lookup"] += 1
        return f"REAL {city}"

    def act(self, state):
        return said(self.find("Oslo"))

    def from_the_command_line(self):
        return self.find("Oslo")

    def ask(self, state):
        return said("nothing")


def said(value):
    return {"messages": [AIMessage(str(value))]}


def in_a_pool(state):
    with ThreadPoolExecutor(1) as pool:
        return said(pool.submit(body, "Oslo").result())


def in_a_thread(state):
    thread = threading.Thread(target=body, args=("Oslo",))
    thread.start()
    thread.join()


async def to_a_thread(state):
    return said(await asyncio.to_thread(body, "Oslo"))


def under_another_name(state):
    fetch = body
    return said(fetch("Oslo"))


def in_a_loop(state):
    found = ""
    for name, fetch in TABLE.items():
        found += name + fetch("Oslo")
    return said(found)


def by_default(state, fetch=body):
    return said(fetch("Oslo"))


def imported_late(state):
    from tests.adapters.langgraph.late_tools import helper

    return said(helper())


PAST_THE_TOOL = {
    "pool": in_a_pool,
    "thread": in_a_thread,
    "to_thread": to_a_thread,
    "alias": under_another_name,
    "loop": in_a_loop,
    "comprehension": lambda state: said([fetch("Oslo") for fetch in [body]]),
    "default": by_default,
    "table.get": lambda state: said(TABLE.get("lookup")("Oslo")),
    "map": lambda state: said(list(map(body, ["Oslo"]))),
    "partial": lambda state: said(BOUND()),
    "partial made there": lambda state: said(partial(body, "Oslo")()),
    "partial node": partial(lambda fetch, state: said(fetch("Oslo")), body),
    "runnable": lambda state: said(RunnableLambda(body).invoke("Oslo")),
    "method": Clerk().by_attribute,
    "table of an object": Clerk().by_table,
    "callable object": Clerk(),
    "method that is a tool": Desk().act,
    "helper": lambda state: said(run_it(body)),
    "helper by keyword": lambda state: said(run_it(function=body)),
    "helper of a helper": lambda state: said(pass_on(body)),
    "wrapper": lambda state: said(NOTED("Oslo")),
    "module": lambda state: said(late_tools.helper()),
    "import": imported_late,
    "body taken from a class": lambda state: said(TAKEN("Oslo")),
}


def graph_of(run):
    graph = StateGraph(MessagesState)
    graph.add_node("act", run)
    graph.add_node("tools", ToolNode([plain, own]))
    graph.add_edge(START, "act")
    return graph.compile()


@pytest.mark.parametrize("way", PAST_THE_TOOL)
def test_node_that_calls_the_function_of_a_tool_in_a_roundabout_way_is_refused(way):
    adapter = LangGraphAdapter(graph_of(PAST_THE_TOOL[way]), tools=[MOCK, MockTool("own", response="mocked")])
    with pytest.raises(UnmockedToolError, match=r"Node 'act' calls '(body|_run|find)'.*tool\.invoke"):
        asyncio.run(adapter.invoke("?"))


def makes_a_tool(state):
    return said(tool("lookup")(body).invoke({"city": "Oslo"}))


def keeps_it(state):
    kept = []
    kept.append(body)
    return said(len(kept))


ONLY_TOLD = {
    "described": lambda state: said(describe(body)),
    "converted": lambda state: said(convert_to_openai_tool(body)["type"]),
    "bound": lambda state: {"messages": [MODEL.bind_tools([body]).invoke("?")]},
    "made a tool": makes_a_tool,
    "kept": keeps_it,
    "printed": lambda state: said(repr(body)),
    "method beside one that calls it": Desk().ask,
    "logged": lambda state: said(logging.getLogger("desk").info("have %s", body)),
    "wrapper of another": lambda state: said(NOTED_LEN("Oslo")),
    "counted": lambda state: said([name for name, _ in TABLE.items()]),
}


@pytest.mark.parametrize("way", ONLY_TOLD)
def test_node_that_only_speaks_of_the_function_of_a_tool_is_not_refused(way):
    model = FakeModel(default_response="hi")
    result = LangGraphAdapter(graph_of(ONLY_TOLD[way]), tools=[MOCK], model=model).sync_invoke("?")
    assert result.response
