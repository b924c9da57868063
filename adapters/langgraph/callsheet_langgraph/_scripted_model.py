"""A copy of the graph's own model that gives a session's scripted replies.

The class stays, and with it everything LangChain asks of a model beside replies: how it binds tools, what
it is called, whether it streams.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterator
from copy import copy
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from callsheet.adapters import ModelReply, ModelRequest, Scope, ScriptError, did_you_mean, listed
from callsheet_langgraph._messages import call_ids, openai_messages
from callsheet_langgraph._places import Place
from callsheet_langgraph._replies import ai_message, chunks
from callsheet_langgraph._structured import offered_tools


def scripted(
    model: Any,
    scope: Scope,
    tools: frozenset[str],
    *,
    name: str,
    headers: dict[str, str],
    written: dict[str, str],
) -> Any:
    """Give a copy of a chat model that replies by the session's script.

    Args:
        model: The graph's model.
        scope: What the calling code belongs to.
        tools: The names of the graph's tools.
        name: The name of the model the graph is configured with.
        headers: The headers that would reach it.
        written: Is given the arguments of calls that are no JSON, by the call's id.
    """
    script = _Script(scope, tools, name, headers, written)
    copied = copy(model)
    vars(copied).update(
        _generate=_signed(script.generate),
        _agenerate=_signed(script.agenerate),
        _stream=script.stream,
        _astream=script.astream,
        # A cache or a limit between test and script would only ever be in the way.
        cache=False,
        rate_limiter=None,
        _stream_chat_model_events=None,
        _astream_chat_model_events=None,
    )
    return copied


class _Script:
    """The replies of one model call, in the four ways LangChain asks for them."""

    def __init__(
        self,
        scope: Scope,
        tools: frozenset[str],
        name: str,
        headers: dict[str, str],
        written: dict[str, str],
    ) -> None:
        self._session = scope.session
        self._place: Place | None = scope.place
        self._tools = tools
        self._name = name
        self._headers = headers
        self._written = written

    def generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        reply = self._session.answer_model(self._request(messages, options))
        return ChatResult(generations=[ChatGeneration(message=self._message(reply, options))])

    async def agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        reply = await self._session.answer_model_async(self._request(messages, options))
        return ChatResult(generations=[ChatGeneration(message=self._message(reply, options))])

    def stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._session.answer_model(self._request(messages, options))
        yield from chunks(self._message(reply, options))

    async def astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        reply = await self._session.answer_model_async(self._request(messages, options))
        for chunk in chunks(self._message(reply, options)):
            yield chunk

    def _request(self, messages: list[BaseMessage], options: dict[str, Any]) -> ModelRequest:
        return ModelRequest(
            messages=lambda: openai_messages(messages),
            tools=lambda: offered_tools(options),
            agent=self._agent(),
            model=self._name,
            headers=self._headers,
            turn=self._session.current_turn,
            place=self._place.label() if self._place is not None else None,
            call_ids=lambda: call_ids(messages),
        )

    def _agent(self) -> str | None:
        """Give the name the script of what runs here goes by."""
        if self._place is None:
            return None
        names = list(self._place.names())
        scripts = self._session.model.agent_names if self._session.model is not None else ()
        return next((name for name in names if name in scripts), names[0] if names else None)

    def _message(self, reply: ModelReply, options: dict[str, Any]) -> AIMessage:
        if reply.handoff is not None:
            reply = reply.with_handoff_call(self._handoff_tool(reply.handoff, options))
        self._written.update({str(call.id): call.raw for call in reply.tool_calls if call.args is None})
        return ai_message(reply, options, self._tools, self._name)

    def _handoff_tool(self, target: str, options: dict[str, Any]) -> str:
        names = [tool["name"] for tool in offered_tools(options)]
        wanted = _plain(target)
        for name in names:
            if (
                name == target
                or _plain(name).removeprefix("transfer_to_").removeprefix("handoff_to_") == wanted
            ):
                return str(name)
        error = ScriptError(
            f"The script of agent {self._agent()!r} hands over to {target!r}, but no offered tool is named "
            f"{target!r} or 'transfer_to_{wanted}'.{did_you_mean(target, names)} "
            f"Offered are: {listed(names)}."
        )
        self._session.poison(error)
        raise error


def _signed(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Give a method with its signature at hand: LangChain reads it at every call, and takes long to."""
    signed = partial(answer)
    vars(signed)["__signature__"] = _SIGNATURE
    return signed


_WHOLE = inspect.signature(_Script.generate)
# Without `self`, as a method's own is read.
_SIGNATURE = _WHOLE.replace(parameters=list(_WHOLE.parameters.values())[1:])


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
