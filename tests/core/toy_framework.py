"""A small agent framework, as a stranger could have written it. It knows nothing of callsheet."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any


class TurnLimitError(Exception):
    """A run took more model calls than it may."""


@dataclass
class ToyTool:
    name: str
    body: Callable[..., Any]
    parameters: dict[str, Any]
    on_error: Callable[[Exception], str] | None = None
    timeout: float | None = None
    agent: ToyAgent | None = None

    async def execute(self, args: dict[str, Any]) -> Any:
        """Run the body; its failures are told to the model where `on_error` says how."""
        try:
            given = self.body(**args)
            return await given if inspect.isawaitable(given) else given
        except Exception as error:
            if self.on_error is None:
                raise
            return self.on_error(error)


@dataclass
class ToyAgent:
    name: str
    model: str = "toy-model"
    tools: list[ToyTool] = field(default_factory=list)
    dynamic: bool = False
    blunt: bool = False

    def as_tool(self, name: str) -> ToyTool:
        """Give a tool that runs this agent."""

        async def run(input: str) -> str:
            return (await ToyRunner().run(self, input)).output

        schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
        return ToyTool(name, run, schema, agent=self)


@dataclass
class ToyCall:
    id: str
    name: str
    arguments: str


@dataclass
class ToyReply:
    text: str | None
    calls: list[ToyCall] = field(default_factory=list)


@dataclass
class ToyResult:
    output: str
    messages: list[dict[str, Any]]


class ToyModel:
    """The provider. There is none here, so a call of it is a failure."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def reply(
        self, agent: ToyAgent, messages: list[dict[str, Any]], headers: dict[str, str]
    ) -> ToyReply:
        raise ConnectionError(f"no provider for {self.name} with {len(messages)} messages and {headers}")


class ToyRunner:
    """The loop: ask the model, run the tools it asks for at once, tell it what they said."""

    async def run(self, agent: ToyAgent, message: str, **options: Any) -> ToyResult:
        events = [event async for event in self.events(agent, message, **options)]
        return events[-1]

    async def events(
        self,
        agent: ToyAgent,
        message: str,
        *,
        history: list[dict[str, Any]] | None = None,
        max_turns: int = 10,
        headers: dict[str, str] | None = None,
    ) -> AsyncIterator[Any]:
        messages = [*(history or []), {"role": "user", "content": message}]
        model = ToyModel(agent.model)
        for turn in count():
            if turn == max_turns and agent.blunt:
                yield ToyResult("That is all.", messages)
                return
            if turn == max_turns:
                raise TurnLimitError(f"{agent.name} took {max_turns} turns")
            reply = await model.reply(agent, messages, dict(headers or {}))
            yield reply
            wire = [
                {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
                for call in reply.calls
            ]
            messages.append(
                {"role": "assistant", "content": reply.text, **({"tool_calls": wire} if wire else {})}
            )
            if not reply.calls:
                yield ToyResult(reply.text or "", messages)
                return
            answers = await asyncio.gather(*(self.call(agent, call) for call in reply.calls))
            for call, answer in zip(reply.calls, answers, strict=True):
                text = answer if isinstance(answer, str) else json.dumps(answer)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})

    async def call(self, agent: ToyAgent, call: ToyCall) -> Any:
        """Run one call; what the model wrote wrongly is told to it."""
        tool = next((tool for tool in agent.tools if tool.name == call.name), None)
        if tool is None and agent.blunt:
            raise LookupError(f"There is no tool {call.name}")
        if tool is None:
            return f"There is no tool {call.name}"
        try:
            args = json.loads(call.arguments)
        except ValueError as error:
            return f"That is no JSON: {error}"
        return await self.execute(agent, tool, call, args)

    async def execute(self, agent: ToyAgent, tool: ToyTool, call: ToyCall, args: dict[str, Any]) -> Any:
        """Run a tool."""
        return await tool.execute(args)
