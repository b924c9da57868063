"""`AgentRunner`: a plain agent loop, for agents that have no framework."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from callsheet._adapter import Tools
from callsheet._data_files import load_data_file
from callsheet._errors import (
    CallsheetError,
    InvalidArgumentsError,
    MockConfigError,
    OptionError,
    ScriptError,
)
from callsheet._fake_model import FakeModel
from callsheet._inventory import Inventory
from callsheet._options import check_history, headers_of, mapping_of
from callsheet._recording import CallRecord, RunRecord
from callsheet._requests import ModelRequest, ToolRequest
from callsheet._result import AgentResult
from callsheet._script import ModelReply, ScriptedCall, parse_step
from callsheet._server import MockMCPServer
from callsheet._session import Session
from callsheet._sync import finish
from callsheet._values import TraceEntry

_MAX_TURNS = 10


class AgentRunner:
    """Asks a model, runs the tools it calls against mocks, and goes on until it answers.

    Args:
        mcp_server: The mocks: a `MockMCPServer`, or a list of `MockTool`. They are all the tools there are.
        model: A `FakeModel`, or any object with `generate(messages, tools, headers)`, sync or async, that
            gives a step as FakeModel takes it. None answers an empty text.
        config: The agent's configuration, a mapping or the path of a YAML or JSON file. Of it are used
            `model_name`, `default_headers`, `max_turns`, and `timeout` in seconds for each tool call.
        model_name: What `result.model_used` says. Wins over the configuration, as do the following.
        default_headers: Headers of every model request.
        offline: Whether the network is closed during a run.
        max_turns: How often the model is asked at most, 10 when nothing says otherwise.

    Raises:
        OptionError: The configuration can not be read, or a value in it can not work.
        MockConfigError: A mock or the model is none.
    """

    __module__ = "callsheet"

    framework_name = "callsheet"

    def __init__(
        self,
        mcp_server: Tools | None = None,
        model: Any = None,
        config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        model_name: str | None = None,
        default_headers: Mapping[str, str] | None = None,
        offline: bool = True,  # noqa: FBT001, FBT002 - a position of the published signature
        max_turns: int | None = None,
    ) -> None:
        self.config = _configuration(config)
        self.mcp_server = (
            mcp_server if isinstance(mcp_server, MockMCPServer) else MockMCPServer(mcp_server or ())
        )
        self.model = FakeModel() if model is None else model
        if not callable(getattr(self.model, "generate", None)):
            raise MockConfigError(
                f"model is {type(model).__name__}. Give a FakeModel, or an object with generate()."
            )
        self.model_name: str | None = model_name or self.config.get("model_name")
        self.default_headers = {
            **mapping_of(self.config.get("default_headers"), "default_headers"),
            **headers_of(default_headers),
        }
        self.max_turns = _turns(self.config.get("max_turns", _MAX_TURNS) if max_turns is None else max_turns)
        self.last_result: AgentResult | None = None
        self._offline = offline
        self._timeout: float | None = self.config.get("timeout")

    async def invoke(
        self,
        message: Any,
        *,
        access_token: str | None = None,
        site_id: str | None = None,
        headers: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        tools: Tools | None = None,
        history: Sequence[Mapping[str, Any]] | None = None,
    ) -> AgentResult:
        """Run the agent on a message.

        A tool that fails, or that does not exist, is told to the model. Stopping at `max_turns` sets
        `result.error`.

        Args:
            message: What the user says.
            access_token: Sent as the header X-Access-Token.
            site_id: Sent as the header X-Site-Id.
            headers: Further headers; they win over all others.
            metadata: What the test wants in `result.metadata`.
            tools: Mocks for this run, looked up before the runner's own.
            history: Messages that came before, OpenAI-style.

        Raises:
            OptionError: The headers, the metadata or the history are none.
            Violation: The test does not allow what the agent did.
            BaseException: What the model raises; `last_result` then holds what happened up to there.
        """
        rights = {"X-Access-Token": access_token, "X-Site-Id": site_id}
        sent = {name: value for name, value in rights.items() if value is not None}
        session = self._session(tools, {**self.default_headers, **sent, **headers_of(headers)}, metadata)
        check_history(history)
        messages = [*map(dict, history or ()), {"role": "user", "content": message}]
        try:
            with session, session.run(agent=None, opening=[TraceEntry("user", message)]) as run:
                await self._converse(session, run, messages)
        finally:
            self.last_result = session.result
        return self.last_result

    def sync_invoke(self, message: Any, **options: Any) -> AgentResult:
        """Like `invoke`, from code that does not await, inside a running event loop too.

        Args:
            message: What the user says.
            **options: Those of `invoke`.
        """
        return finish(self.invoke(message, **options))

    def check_used_up(self) -> None:
        """Raise for scripted steps nobody asked for.

        Raises:
            UnusedScriptError: With the number of steps left.
        """
        if isinstance(self.model, FakeModel):
            self.model.check_used_up()

    def _session(
        self, tools: Tools | None, headers: dict[str, str], metadata: Mapping[str, Any] | None
    ) -> Session:
        offered = self.mcp_server if tools is None else self.mcp_server.overlaid(tools)
        return Session(
            tools=offered,
            model=self.model if isinstance(self.model, FakeModel) else None,
            # One script may serve several runs, such as the turns of a conversation.
            strict=False,
            offline=self._offline,
            inventory=Inventory({"": offered.tool_names}),
            headers=headers,
            metadata=metadata,
        )

    async def _converse(self, session: Session, run: RunRecord, messages: list[dict[str, Any]]) -> None:
        run.offered = frozenset(session.tools.tool_names)
        for turn in range(self.max_turns):
            reply = await self._ask(session, run, messages, turn)
            if not reply.tool_calls:
                content = reply.content or reply.refusal or ""
                session.finish(response=content, output=content if reply.output is None else reply.output)
                return
            records = next(run.replies_backwards()).calls
            answers = [
                await self._answer(session, call, record)
                for call, record in zip(reply.tool_calls, records, strict=True)
            ]
            messages.append(_assistant_message(reply))
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": answer}
                for call, answer in zip(reply.tool_calls, answers, strict=True)
            ]
        run.error = f"Stopped after max_turns={self.max_turns} model replies without a final answer."

    async def _ask(
        self, session: Session, run: RunRecord, messages: list[dict[str, Any]], turn: int
    ) -> ModelReply:
        request = ModelRequest(
            messages=list(messages),
            tools=[_offered(tool) for tool in session.tools.list_tools()],
            model=self.model_name,
            headers=session.headers,
            turn=turn,
        )
        reply = await self._reply(session, run, request)
        if reply.handoff is not None or reply.native:
            raise ScriptError(
                "An AgentRunner is one agent without a framework: no handoff and no native items."
            )
        session.recording.add_reply(
            run,
            agent=None,
            content=reply.content or reply.refusal,
            calls=[
                CallRecord(str(call.id), call.name, args=call.args, raw_args=call.raw)
                for call in reply.tool_calls
            ],
            usage=reply.usage,
        )
        return reply

    async def _reply(self, session: Session, run: RunRecord, request: ModelRequest) -> ModelReply:
        if isinstance(self.model, FakeModel):
            return await session.answer_model_async(request)
        session.note_request(request)
        step = self.model.generate(request.messages, tools=request.tools, headers=request.headers)
        reply = parse_step(await step if inspect.isawaitable(step) else step, where="A reply")
        return reply.with_call_ids(lambda index: session.recording.new_call_id(run, f"{run.turns}_{index}"))

    async def _answer(self, session: Session, call: ScriptedCall, record: CallRecord) -> str:
        """Run one tool call and give what the model is told."""
        if record.outcome == "unknown":
            answer: dict[str, Any] = {"error": f"Unknown tool: {call.name}"}
            session.tools.call_log.append({"name": call.name, "args": call.args, **answer})
        else:
            answer = await self._tool_answer(session, call)
        told = answer.get("result", answer)
        record.seen_by_model = (
            told if isinstance(told, str) else json.dumps(told, ensure_ascii=False, default=str)
        )
        return record.seen_by_model

    async def _tool_answer(self, session: Session, call: ScriptedCall) -> dict[str, Any]:
        async def no_real_tool() -> Any:
            raise MockConfigError(
                f"AgentRunner has no real tool {call.name!r} to spy on. "
                f"Give MockTool({call.name!r}, response=...)."
            )

        request = ToolRequest(
            name=call.name, args=call.args, call_id=call.id, raw_args=call.raw, timeout=self._timeout
        )
        try:
            return {"result": await session.answer_tool_async(request, no_real_tool)}
        except CallsheetError:
            raise
        except InvalidArgumentsError as error:
            return {"error": str(error)}
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is for the model to hear
            code = getattr(error, "code", None)
            known = {} if code is None else {"code": code}
            return {"error": {**known, "message": str(error) or type(error).__name__}}


def _configuration(config: Mapping[str, Any] | str | os.PathLike[str] | None) -> dict[str, Any]:
    given = load_data_file(Path(config)) if isinstance(config, (str, os.PathLike)) else config
    return mapping_of(given, "config")


def _turns(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise OptionError(f"max_turns is {value!r}; give a number of model calls, 1 or more.")
    return value


def _offered(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}


def _assistant_message(reply: ModelReply) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
        for call in reply.tool_calls
    ]
    return {"role": "assistant", "content": reply.content, "tool_calls": calls}
