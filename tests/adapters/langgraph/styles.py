"""The same small agent in every style: it is asked, looks a city up, and says what it found.

Each style's real tool is a canary that counts.
"""

import asyncio
import operator
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, tool
from langgraph import prebuilt
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, create_react_agent, tools_condition
from langgraph.pregel import Pregel
from langgraph.types import Command, Send
from typing_extensions import TypedDict

from tests.adapters.langgraph.models import ProviderModel

# LangGraph 1.0.0 has no ToolRuntime yet.
ToolRuntime = getattr(prebuilt, "ToolRuntime", None)
HITS: Counter[str] = Counter()
MODEL = ProviderModel()


@tool
def lookup(city: str) -> str:
    """Look a city up."""
    HITS["lookup"] += 1
    return f"REAL {city}"


@tool
async def async_lookup(city: str) -> str:
    """Look a city up."""
    HITS["async_lookup"] += 1
    return f"REAL {city}"


BY_NAME = {"lookup": lookup}


def ask(state):
    return {"messages": [MODEL.bind_tools([lookup]).invoke(state["messages"])]}


async def ask_async(state):
    return {"messages": [await MODEL.bind_tools([lookup]).ainvoke(state["messages"])]}


ASK = RunnableLambda(ask, afunc=ask_async)


def loop(act, state=MessagesState, **options):
    """Give a graph of a model node and a node that acts."""
    graph = StateGraph(state)
    graph.add_node("llm", ASK)
    graph.add_node("tools", act)
    graph.add_edge(START, "llm")
    graph.add_conditional_edges("llm", tools_condition)
    graph.add_edge("tools", "llm")
    return graph.compile(**options)


def answer_by_hand(state):
    calls = state["messages"][-1].tool_calls
    return {
        "messages": [ToolMessage(BY_NAME[c["name"]].invoke(c["args"]), tool_call_id=c["id"]) for c in calls]
    }


def answer_in_a_pool(state):
    calls = state["messages"][-1].tool_calls
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda c: BY_NAME[c["name"]].invoke(c["args"]), calls))
    return {"messages": [ToolMessage(f, tool_call_id=c["id"]) for f, c in zip(found, calls, strict=True)]}


async def answer_in_an_executor(state):
    running = asyncio.get_running_loop()
    calls = state["messages"][-1].tool_calls
    found = [await running.run_in_executor(None, BY_NAME[c["name"]].invoke, c["args"]) for c in calls]
    return {"messages": [ToolMessage(f, tool_call_id=c["id"]) for f, c in zip(found, calls, strict=True)]}


def answer_by_the_function(state):
    calls = state["messages"][-1].tool_calls
    return {"messages": [ToolMessage(lookup.func(**c["args"]), tool_call_id=c["id"]) for c in calls]}


@task
def ask_task(messages):
    return MODEL.bind_tools([lookup]).invoke(messages)


@task
def lookup_task(call):
    return lookup.invoke({**call, "type": "tool_call"})


@entrypoint()
def functional(given):
    messages = given["messages"]
    reply = ask_task(messages).result()
    while reply.tool_calls:
        found = [lookup_task(call) for call in reply.tool_calls]
        messages = [*messages, reply, *(future.result() for future in found)]
        reply = ask_task(messages).result()
    return {"messages": [*messages, reply]}


@task
async def ask_async_task(messages):
    return await MODEL.bind_tools([lookup]).ainvoke(messages)


@task
async def lookup_async_task(call):
    return await lookup.ainvoke({**call, "type": "tool_call"})


@entrypoint()
async def async_functional(given):
    messages = given["messages"]
    reply = await ask_async_task(messages)
    while reply.tool_calls:
        found = await asyncio.gather(*(lookup_async_task(call) for call in reply.tool_calls))
        messages = [*messages, reply, *found]
        reply = await ask_async_task(messages)
    return {"messages": [*messages, reply]}


class Passing(AgentMiddleware):
    """Wraps every call of model and tool, and lets it pass."""

    def wrap_model_call(self, request, handler):
        return handler(request)

    async def awrap_model_call(self, request, handler):
        return await handler(request)

    def wrap_tool_call(self, request, handler):
        return handler(request)

    async def awrap_tool_call(self, request, handler):
        return await handler(request)


class Dynamic(AgentMiddleware):
    """Offers a tool the agent was not built with, and runs it."""

    def wrap_model_call(self, request, handler):
        return handler(request.override(tools=[*request.tools, lookup]))

    async def awrap_model_call(self, request, handler):
        return await handler(request.override(tools=[*request.tools, lookup]))

    def wrap_tool_call(self, request, handler):
        return handler(request.override(tool=lookup))

    async def awrap_tool_call(self, request, handler):
        return await handler(request.override(tool=lookup))


class FanState(TypedDict):
    messages: Annotated[list, operator.add]


def fan_out():
    def spread(state):
        calls = state["messages"][-1].tool_calls
        return [Send("work", {"call": call}) for call in calls] or END

    def work(state):
        return {"messages": [lookup.invoke({**state["call"], "type": "tool_call"})]}

    graph = StateGraph(FanState)
    graph.add_node("llm", ASK)
    graph.add_node("work", work)
    graph.add_edge(START, "llm")
    graph.add_conditional_edges("llm", spread, ["work", END])
    graph.add_edge("work", "llm")
    return graph.compile()


def as_subgraph():
    graph = StateGraph(MessagesState)
    graph.add_node("inner", loop(ToolNode([lookup])))
    graph.add_edge(START, "inner")
    return graph.compile()


def called_in_a_node():
    inner = loop(ToolNode([lookup]))

    def run(state):
        return {"messages": inner.invoke({"messages": state["messages"]})["messages"]}

    async def run_async(state):
        return {"messages": (await inner.ainvoke({"messages": state["messages"]}))["messages"]}

    graph = StateGraph(MessagesState)
    graph.add_node("outer", RunnableLambda(run, afunc=run_async))
    graph.add_edge(START, "outer")
    return graph.compile()


class OwnRun(BaseTool):
    """A tool class that runs in a way of its own."""

    name: str = "lookup"
    description: str = "Look a city up."

    def run(self, tool_input, *args, **kwargs):
        HITS["lookup"] += 1
        return f"REAL {tool_input}"

    async def arun(self, tool_input, *args, **kwargs):
        HITS["lookup"] += 1
        return f"REAL {tool_input}"

    def _run(self, city: str) -> str:
        HITS["lookup"] += 1
        return f"REAL {city}"


class OwnInvoke(BaseTool):
    """A tool class that is invoked in a way of its own."""

    name: str = "lookup"
    description: str = "Look a city up."

    def invoke(self, input, config=None, **kwargs):
        HITS["lookup"] += 1
        return ToolMessage("REAL", tool_call_id=input["id"])

    async def ainvoke(self, input, config=None, **kwargs):
        return self.invoke(input)

    def _run(self, city: str) -> str:
        HITS["lookup"] += 1
        return f"REAL {city}"


class OwnBody(BaseTool):
    """An ordinary tool class."""

    name: str = "lookup"
    description: str = "Look a city up."

    def _run(self, city: str) -> str:
        HITS["lookup"] += 1
        return f"REAL {city}"


def _injected():
    @tool("lookup")
    def injected(
        city: str, state: Annotated[dict, InjectedState], call_id: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Look a city up."""
        HITS["lookup"] += 1
        return f"REAL {city}"

    return injected


def _with_runtime():
    @tool("lookup")
    def with_runtime(city: str, runtime: ToolRuntime) -> str:
        """Look a city up."""
        HITS["lookup"] += 1
        return f"REAL {city}"

    return with_runtime


def _with_artifact():
    @tool("lookup", response_format="content_and_artifact")
    def artifact(city: str):
        """Look a city up."""
        HITS["lookup"] += 1
        return f"REAL {city}", {"city": city}

    return artifact


def _json_schema_tool():
    def body(**kwargs):
        HITS["lookup"] += 1
        return "REAL"

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return StructuredTool(name="lookup", description="Look a city up.", args_schema=schema, func=body)


def _returning_direct():
    @tool("lookup", return_direct=True)
    def direct(city: str) -> str:
        """Look a city up."""
        HITS["lookup"] += 1
        return f"REAL {city}"

    return direct


def _prebuilt():
    with warnings.catch_warnings():
        # Deprecated for create_agent, and what applications written before that use.
        warnings.simplefilter("ignore")
        return create_react_agent(MODEL, [lookup])


def handing_over():
    @tool
    def transfer_to_expert(call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Hand over to the expert."""
        told = ToolMessage("Over to you", tool_call_id=call_id)
        return Command(goto="expert", graph=Command.PARENT, update={"messages": [told]})

    front = create_agent(MODEL, [transfer_to_expert], name="front")
    expert = create_agent(MODEL, [lookup], name="expert")
    graph = StateGraph(MessagesState)
    graph.add_node("front", front, destinations=("expert",))
    graph.add_node("expert", expert)
    graph.add_edge(START, "front")
    graph.add_edge("expert", END)
    return graph.compile()


STYLES: dict[str, Any] = {
    "create_agent": lambda: create_agent(MODEL, [lookup]),
    "create_agent-named": lambda: create_agent(MODEL, [lookup], name="Guide"),
    "create_agent-function": lambda: create_agent(MODEL, [lookup.func]),
    "middleware": lambda: create_agent(MODEL, [lookup], middleware=[Passing()]),
    "create_react_agent": _prebuilt,
    "tool-node": lambda: loop(ToolNode([lookup])),
    "tool-node-handling-errors": lambda: loop(ToolNode([lookup], handle_tool_errors=True)),
    "by-hand": lambda: loop(answer_by_hand),
    "in-a-pool": lambda: loop(answer_in_a_pool),
    "in-an-executor": lambda: loop(answer_in_an_executor),
    "by-the-function": lambda: loop(answer_by_the_function),
    "functional": lambda: functional,
    "async-functional": lambda: async_functional,
    "sub-graph": as_subgraph,
    "called-in-a-node": called_in_a_node,
    "fan-out": fan_out,
    "own-body": lambda: create_agent(MODEL, [OwnBody()]),
    "own-run": lambda: create_agent(MODEL, [OwnRun()]),
    "own-invoke": lambda: create_agent(MODEL, [OwnInvoke()]),
    "injected": lambda: create_agent(MODEL, [_injected()]),
    "artifact": lambda: create_agent(MODEL, [_with_artifact()]),
    "json-schema": lambda: create_agent(MODEL, [_json_schema_tool()]),
    "return-direct": lambda: create_agent(MODEL, [_returning_direct()]),
}
if ToolRuntime is not None:
    STYLES["tool-runtime"] = lambda: create_agent(MODEL, [_with_runtime()])
FIRST_VERSION = version("langgraph") == "1.0.0"
# What LangGraph can not do itself, without any session: before 1.2 give the results of tasks while events are
# streamed, and in 1.0.0 inject the state (with today's pydantic).
BROKEN_UPSTREAM = (
    set()
    if "stream_events" in vars(Pregel)
    else {("functional", "astream-events"), ("async-functional", "astream-events")}
)
if FIRST_VERSION:
    del STYLES["injected"]
else:
    # LangChain 1.0.0 refuses tools it was not built with.
    STYLES["dynamic"] = lambda: create_agent(MODEL, [async_lookup], middleware=[Dynamic()])
ONLY_ASYNC = {"in-an-executor", "async-functional"}
HUMAN = HumanMessage
REPLY = AIMessage
