"""Every kind of tool an agent can have, with bodies that count, and every way to run an agent."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from fastmcp.server import FastMCP
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.result import StreamedRunResultSync
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import (
    AbstractToolset,
    ApprovalRequiredToolset,
    CombinedToolset,
    ExternalToolset,
    FunctionToolset,
    WrapperToolset,
)
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

hits: Counter[str] = Counter()

# Version 2.0 leaves the run of run_stream_sync open, so that its last reply is never over.
SYNC_STREAMS_STAY_OPEN = not hasattr(StreamedRunResultSync, "__enter__")


def unreachable(messages: Any, info: Any) -> Any:
    raise AssertionError("the agent's own model was asked")


def own_model(name: str = "own-model") -> FunctionModel:
    return FunctionModel(unreachable, model_name=name)


def agent(**options: Any) -> Agent[Any, Any]:
    return Agent(own_model(), **{"name": "Clerk", **options})


def refund(order: str) -> str:
    """Refund an order."""
    hits["refund"] += 1
    return f"REAL {order}"


async def refund_async(order: str) -> str:
    """Refund an order."""
    hits["refund"] += 1
    return f"REAL {order}"


def refund_with_context(ctx: RunContext[Any], order: str) -> str:
    """Refund an order."""
    hits["refund"] += 1
    return f"REAL {order}"


def hand_over(reason: str) -> str:
    """Hand over to a person."""
    hits["hand_over"] += 1
    return "REAL"


def toolset() -> FunctionToolset[Any]:
    return FunctionToolset([Tool(refund, name="refund")])


class CustomLeaf(AbstractToolset[Any]):
    """A toolset that runs its tools itself."""

    @property
    def id(self) -> str | None:
        return "custom"

    async def get_tools(self, ctx: Any) -> dict[str, ToolsetTool[Any]]:
        schema = {"type": "object", "properties": {"order": {"type": "string"}}}
        return {
            "refund": ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(name="refund", parameters_json_schema=schema),
                max_retries=1,
                args_validator=SchemaValidator(core_schema.any_schema()),
            )
        }

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        hits["refund"] += 1
        return "REAL"


class OwnInit(WrapperToolset[Any]):
    """A wrapper that dataclasses.replace can not copy."""

    def __init__(self, inner: AbstractToolset[Any]) -> None:
        self.wrapped = inner


@dataclass(init=False)
class RefundCapability(AbstractCapability[Any]):
    def __init__(self) -> None:
        self.id = None
        self.description = None
        self.defer_loading = False

    def get_toolset(self) -> Any:
        return toolset()


@dataclass
class CodeMode(WrapperToolset[Any]):
    """One tool whose body calls the others by a tool manager of its own, as code-mode toolsets do."""

    async def get_tools(self, ctx: Any) -> dict[str, ToolsetTool[Any]]:
        schema = {"type": "object", "properties": {"order": {"type": "string"}}}
        return {
            "run_code": ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(name="run_code", parameters_json_schema=schema),
                max_retries=1,
                args_validator=SchemaValidator(core_schema.any_schema()),
            )
        }

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        hits["run_code"] += 1
        inner = await super().get_tools(ctx)
        part = ToolCallPart("refund", tool_args, tool_call_id="inside")
        return await self.wrapped.call_tool(
            "refund", tool_args, replace(ctx, tool_call_id=part.tool_call_id), inner["refund"]
        )


@dataclass(init=False)
class CodeModeCapability(AbstractCapability[Any]):
    def __init__(self) -> None:
        self.id = None
        self.description = None
        self.defer_loading = False

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        return CodeMode(toolset)


@dataclass
class Kind:
    """A kind of tool: how to build an agent with one, and how it is called."""

    build: Callable[[], Agent[Any, Any]]
    tool: str = "refund"
    run_options: Callable[[], dict[str, Any]] = dict
    final: bool = False
    # How many agents deep the tool is, each called in a tool of the one before.
    depth: int = 0
    # The first run ends with a call that waits for its approval.
    waits: bool = False
    closed: bool = False
    # A stream ends with a deferred call, before a capability that would resolve it is asked.
    streams: bool = True
    recorded_as: str = "function"
    args: dict[str, Any] = field(default_factory=lambda: {"order": "A1"})


def in_memory() -> Any:
    server = FastMCP("shop")
    server.tool(refund)
    return MCPToolset(server, id="shop")


class Resolving(AbstractCapability[Any]):
    """Resolves deferred calls in the process, as an application may: answers some, approves others."""

    async def handle_deferred_tool_calls(self, ctx: Any, *, requests: Any) -> Any:
        hits["refund"] += len(requests.calls)
        return DeferredToolResults(
            calls={call.tool_call_id: "REAL" for call in requests.calls},
            approvals={call.tool_call_id: True for call in requests.approvals},
        )


def external() -> ExternalToolset[Any]:
    schema = {"type": "object", "properties": {"order": {"type": "string"}}}
    return ExternalToolset([ToolDefinition(name="refund", parameters_json_schema=schema)])


def waiting(**options: Any) -> Agent[Any, Any]:
    return agent(output_type=[str, DeferredToolRequests], **options)


def deferring(order: str) -> str:
    """Refund an order."""
    hits["refund"] += 1
    raise CallDeferred


def by_decorator(decorator: str, function: Any) -> Agent[Any, Any]:
    clerk = agent()
    getattr(clerk, decorator)(function, name="refund")
    return clerk


def with_dynamic(*, per_run_step: bool) -> Agent[Any, Any]:
    clerk = agent()

    @clerk.toolset(per_run_step=per_run_step)
    def tools(ctx: RunContext[Any]) -> Any:
        return toolset()

    return clerk


async def keep(ctx: RunContext[Any], definition: ToolDefinition) -> ToolDefinition:
    return definition


def accept(ctx: RunContext[Any], order: str) -> None:
    assert order


async def keep_all(ctx: RunContext[Any], definitions: list[ToolDefinition]) -> list[ToolDefinition]:
    return definitions


def with_nested(depth: int) -> Agent[Any, Any]:
    """Build agents that call each other in tools; all of them run in a variable of one name."""
    assistant = agent(tools=[Tool(refund, name="refund")], name=None)
    for _ in range(depth):
        assistant = _asking(assistant)
    return assistant


def _asking(assistant: Agent[Any, Any]) -> Agent[Any, Any]:
    outer = agent(name=None)

    @outer.tool_plain
    async def delegate(order: str) -> str:
        return str((await assistant.run(order)).output)

    return outer


KINDS = {
    "agent.tool": Kind(lambda: by_decorator("tool", refund_with_context)),
    "agent.tool_plain": Kind(lambda: by_decorator("tool_plain", refund)),
    "async function": Kind(lambda: by_decorator("tool_plain", refund_async)),
    "Tool object": Kind(lambda: agent(tools=[Tool(refund, name="refund")])),
    "plain function": Kind(lambda: agent(tools=[refund])),
    "prepared tool": Kind(lambda: agent(tools=[Tool(refund, prepare=keep)])),
    "sequential tool": Kind(lambda: agent(tools=[Tool(refund, sequential=True)])),
    "tool with timeout": Kind(lambda: agent(tools=[Tool(refund_async, name="refund", timeout=5)])),
    "FunctionToolset": Kind(lambda: agent(toolsets=[toolset()])),
    "prefixed": Kind(lambda: agent(toolsets=[toolset().prefixed("shop")]), tool="shop_refund"),
    "renamed": Kind(lambda: agent(toolsets=[toolset().renamed({"pay_back": "refund"})]), tool="pay_back"),
    "filtered": Kind(lambda: agent(toolsets=[toolset().filtered(lambda ctx, tool: True)])),
    "prepared": Kind(lambda: agent(toolsets=[toolset().prepared(keep_all)])),
    "combined": Kind(lambda: agent(toolsets=[CombinedToolset([toolset()])])),
    "prefixed in combined in renamed": Kind(
        lambda: agent(
            toolsets=[CombinedToolset([toolset().prefixed("a")]).prefixed("b").renamed({"pay": "b_a_refund"})]
        ),
        tool="pay",
    ),
    "dynamic": Kind(lambda: with_dynamic(per_run_step=False)),
    "dynamic per step": Kind(lambda: with_dynamic(per_run_step=True)),
    "of the run": Kind(agent, run_options=lambda: {"toolsets": [toolset()]}),
    "of a capability": Kind(lambda: agent(capabilities=[RefundCapability()])),
    "of a capability of the run": Kind(agent, run_options=lambda: {"capabilities": [RefundCapability()]}),
    "custom toolset": Kind(lambda: agent(toolsets=[CustomLeaf()])),
    "wrapper with its own init": Kind(lambda: agent(toolsets=[OwnInit(toolset())])),
    "approval already given": Kind(
        lambda: agent(
            toolsets=[ApprovalRequiredToolset(toolset(), approval_required_func=lambda *about: False)]
        )
    ),
    "hidden in code mode": Kind(
        lambda: agent(toolsets=[toolset()], capabilities=[CodeModeCapability()]), tool="run_code"
    ),
    "validated": Kind(lambda: agent(tools=[Tool(refund, args_validator=accept)])),
    "CallDeferred": Kind(lambda: waiting(tools=[Tool(deferring, name="refund")])),
    "external, resolved inside": Kind(
        lambda: agent(toolsets=[external()], capabilities=[Resolving()]), streams=False
    ),
    "approved inside": Kind(
        lambda: agent(tools=[Tool(refund, requires_approval=True)], capabilities=[Resolving()]), streams=False
    ),
    "approved and resumed": Kind(lambda: waiting(tools=[Tool(refund, requires_approval=True)]), waits=True),
    "toolset approved and resumed": Kind(
        lambda: waiting(toolsets=[ApprovalRequiredToolset(toolset())]), waits=True
    ),
    "MCP in memory": Kind(lambda: agent(toolsets=[in_memory()]), closed=True, recorded_as="mcp"),
    "MCP in memory, prefixed": Kind(
        lambda: agent(toolsets=[in_memory().prefixed("shop")]),
        tool="shop_refund",
        closed=True,
        recorded_as="mcp",
    ),
    "of an agent in a tool": Kind(lambda: with_nested(1), depth=1),
    "two agents deep": Kind(lambda: with_nested(2), depth=2),
    "output function": Kind(
        lambda: agent(output_type=refund), tool="final_result", final=True, recorded_as="output"
    ),
    "one of two output functions": Kind(
        lambda: agent(output_type=[refund, hand_over]),
        tool="final_result_refund",
        final=True,
        recorded_as="output",
    ),
}


@contextmanager
def own_loop() -> Iterator[None]:
    """Close the loop that the framework's sync calls make and leave open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def by_run(clerk: Any, prompt: Any = "Refund A1", **options: Any) -> Any:
    return (await clerk.run(prompt, **options)).output


def by_run_sync(clerk: Any, prompt: Any = "Refund A1", **options: Any) -> Any:
    with own_loop():
        return clerk.run_sync(prompt, **options).output


async def by_run_stream(clerk: Any, prompt: Any = "Refund A1", **options: Any) -> Any:
    async with clerk.run_stream(prompt, **options) as result:
        return await result.get_output()


async def by_stream_output(clerk: Any, prompt: Any = "Refund A1", **options: Any) -> Any:
    async with clerk.run_stream(prompt, **options) as result:
        seen = [output async for output in result.stream_output(debounce_by=None)]
        return seen[-1]


def by_run_stream_sync(clerk: Any, prompt: Any = "Refund A1", **options: Any) -> Any:
    with own_loop():
        # A context manager or, before it was one, the result itself.
        result = clerk.run_stream_sync(prompt, **options)
        if not hasattr(result, "__enter__"):
            return result.get_output()
        with result as entered:
            return entered.get_output()


async def by_run_stream_events(clerk: Any, prompt: Any = "Refund A1", **options: Any) -> Any:
    async with clerk.run_stream_events(prompt, **options) as events:
        last = [event async for event in events][-1]
    return last.result.output


async def by_iter(clerk: Any, prompt: Any = "Refund A1", **options: Any) -> Any:
    async with clerk.iter(prompt, **options) as run:
        async for _ in run:
            pass
    return run.result.output


async def by_next(clerk: Any, prompt: Any = "Refund A1", **options: Any) -> Any:
    async with clerk.iter(prompt, **options) as run:
        node = run.next_node
        while not run.is_end_node(node) if hasattr(run, "is_end_node") else not clerk.is_end_node(node):
            node = await run.next(node)
    return run.result.output


def in_a_loop(path: Callable[..., Any]) -> Callable[..., Any]:
    def run(clerk: Any, **options: Any) -> Any:
        return asyncio.run(path(clerk, **options))

    return run


def drive(kind: Kind, clerk: Any, path: str) -> Any:
    """Run an agent with a kind of tool, approving what waits for it."""
    options = kind.run_options()
    if not kind.waits:
        return PATHS[path](clerk, **options)
    asking = asyncio.run(clerk.run("Refund A1", **options))
    approvals = {call.tool_call_id: True for call in asking.output.approvals}
    assert approvals
    results = DeferredToolResults(approvals=approvals)
    history = asking.all_messages()
    return PATHS[path](clerk, prompt=None, message_history=history, deferred_tool_results=results, **options)


PATHS: dict[str, Callable[..., Any]] = {
    "run": in_a_loop(by_run),
    "run_sync": by_run_sync,
    "run_stream": in_a_loop(by_run_stream),
    "stream_output": in_a_loop(by_stream_output),
    "run_stream_sync": by_run_stream_sync,
    "run_stream_events": in_a_loop(by_run_stream_events),
    "iter": in_a_loop(by_iter),
    "next": in_a_loop(by_next),
}
