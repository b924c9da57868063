"""Models: every `call` and `acall` of every LLM class asks the session first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any

from crewai.events.types.llm_events import LLMCallType
from crewai.llms import base_llm
from crewai.llms.base_llm import BaseLLM
from crewai.utilities.string_utils import sanitize_tool_name

from callsheet.adapters import ModelReply, ModelRequest, RunRecord, ScriptError, Session, Usage
from callsheet_crewai import _rate_limits
from callsheet_crewai._abort import aborting, current_scope
from callsheet_crewai._replies import recorded, said, scripted_calls, spoken
from callsheet_crewai._streaming import is_streamed, words
from callsheet_crewai._tools import answered_function

# The model whose real call runs: a provider's class may call that of its base class.
_CALLING: ContextVar[int] = ContextVar("callsheet_crewai_calling", default=0)

_ARGUMENTS = (
    "messages",
    "tools",
    "callbacks",
    "available_functions",
    "from_task",
    "from_agent",
    "response_model",
)


def answered_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `call` of an LLM class."""

    @wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        asked = _asked(self, args, kwargs)
        if asked is None:
            return original(self, *args, **kwargs)
        if asked.session.model is not None:
            return _rate_limits.retried(lambda: asked.answer(asked.reply()))
        model = _own_or_given(asked)
        with _calling(model):
            before = asked.usage_of(model)
            if model is self:
                return asked.record(model, before, original(self, *args, **kwargs))
            return asked.record(model, before, model.call(**asked.given))

    return call


def answered_acall(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `acall` of an LLM class."""

    @wraps(original)
    async def acall(self: Any, *args: Any, **kwargs: Any) -> Any:
        asked = _asked(self, args, kwargs)
        if asked is None:
            return await original(self, *args, **kwargs)
        if asked.session.model is not None:

            async def scripted() -> Any:
                return asked.answer(await asked.reply_async())

            return await _rate_limits.aretried(scripted)
        model = _own_or_given(asked)
        with _calling(model):
            before = asked.usage_of(model)
            if model is self:
                return asked.record(model, before, await original(self, *args, **kwargs))
            return asked.record(model, before, await model.acall(**asked.given))

    return acall


def counted_offline(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `get_input_tokens_count`, for which some providers are asked over the network."""

    @wraps(original)
    def get_input_tokens_count(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None or scope.session.model is None:
            return original(self, messages, *args, **kwargs)
        # The estimate of CrewAI's own base class.
        return (len(messages if isinstance(messages, str) else str(messages)) + 3) // 4

    return get_input_tokens_count


def given_abilities(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `supports_function_calling`: the test's own model, where it brings one, decides."""

    @wraps(original)
    def supports_function_calling(self: Any) -> Any:
        scope = current_scope()
        given = scope.session.native_model if scope is not None else None
        if given is None or given is self:
            return original(self)
        ask = getattr(given, "supports_function_calling", None)
        return bool(ask()) if ask is not None else False

    return supports_function_calling


def with_headers(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace what settles the parameters of a request: the session's headers go with it."""

    @wraps(original)
    def prepare(self: Any, *args: Any, **kwargs: Any) -> Any:
        params = original(self, *args, **kwargs)
        scope = current_scope()
        if scope is None or not scope.session.headers or not _sends_extra_headers(self):
            return params
        return {**params, "extra_headers": {**(params.get("extra_headers") or {}), **scope.session.headers}}

    return prepare


def judged_functions(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseLLM._handle_tool_execution`, by which an LLM runs a function it was given."""

    @wraps(original)
    def _handle_tool_execution(
        self: Any, function_name: str, function_args: Any, available_functions: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if current_scope() is not None and function_name in (available_functions or {}):
            function = answered_function(function_name, available_functions[function_name])
            available_functions = {**available_functions, function_name: function}
        return original(self, function_name, function_args, available_functions, *args, **kwargs)

    return _handle_tool_execution


@dataclass(frozen=True)
class _Asked:
    """One model call in a session."""

    llm: Any
    session: Session
    run: RunRecord
    given: dict[str, Any]

    @property
    def agent(self) -> str | None:
        """The role of the agent that asks; CrewAI does not say it for a converter's call, for one."""
        role = getattr(self.given.get("from_agent"), "role", None)
        return role.strip() if isinstance(role, str) else self.run.agent

    @property
    def messages(self) -> list[Any]:
        messages = self.given["messages"]
        return [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)

    def request(self) -> ModelRequest:
        messages, tools = [dict(message) for message in self.messages], self.given.get("tools")
        headers = {**(getattr(self.llm, "default_headers", None) or {}), **self.session.headers}
        return ModelRequest(
            messages=messages,
            tools=lambda: [_described(tool) for tool in tools or ()],
            agent=self.agent,
            model=str(self.llm.model),
            headers=headers,
            turn=self.run.turns,
        )

    def reply(self) -> ModelReply:
        with aborting(), _no_stop_iteration():
            return self.session.answer_model(self.request())

    async def reply_async(self) -> ModelReply:
        with aborting(), _no_stop_iteration():
            return await self.session.answer_model_async(self.request())

    def answer(self, reply: ModelReply) -> Any:
        """File a scripted reply and say it, with the events CrewAI's own models send."""
        llm, given = self.llm, self.given
        source = {"from_task": given.get("from_task"), "from_agent": given.get("from_agent")}
        with base_llm.llm_call_context():
            llm._emit_call_started_event(messages=self.messages, tools=given.get("tools"), **source)
            with aborting():
                answer = self._spoken(reply)
            usage = reply.usage or Usage(requests=1)
            self._file(said(reply), scripted_calls(reply, self.agent), usage)
            llm._track_token_usage_internal(_counts(usage))
            if is_streamed(llm) and isinstance(answer, str):
                for chunk in words(answer):
                    llm._emit_stream_chunk_event(chunk=chunk, **source)
            kind = LLMCallType.TOOL_CALL if reply.tool_calls else LLMCallType.LLM_CALL
            llm._emit_call_completed_event(response=answer, call_type=kind, messages=self.messages, **source)
        return self._function_result(reply, answer)

    def _spoken(self, reply: ModelReply) -> Any:
        given = self.given
        try:
            return spoken(
                reply,
                agent=self.agent,
                tools=given.get("tools"),
                messages=self.messages,
                response_model=given.get("response_model"),
            )
        except ScriptError as error:
            self.session.poison(error)
            raise

    def _function_result(self, reply: ModelReply, answer: Any) -> Any:
        """Run the function the model called where the caller gave it functions to run, as its LLM would."""
        functions = self.given.get("available_functions")
        if not functions or not isinstance(answer, list) or not reply.tool_calls:
            return answer
        call = reply.tool_calls[0]
        source = (self.given.get("from_task"), self.given.get("from_agent"))
        name = sanitize_tool_name(call.name)
        return self.llm._handle_tool_execution(name, call.args or {}, functions, *source)

    def record(self, model: Any, before: tuple[int, int], answer: Any) -> Any:
        """File what a real model answered."""
        after = self.usage_of(model)
        content, calls = recorded(
            answer,
            self.messages,
            self.agent,
            lambda: self.session.recording.new_call_id(self.run, f"{self.run.turns}_0"),
        )
        self._file(content, calls, Usage(1, after[0] - before[0], after[1] - before[1]))
        return answer

    def usage_of(self, model: Any) -> tuple[int, int]:
        """Give the tokens a model has counted so far."""
        counted = getattr(model, "_token_usage", None) or {}
        return counted.get("prompt_tokens", 0), counted.get("completion_tokens", 0)

    def _file(self, content: Any, calls: list[Any], usage: Usage) -> None:
        offered = self.given.get("tools")
        if offered:
            self.run.offered = frozenset(sanitize_tool_name(_described(tool)["name"]) for tool in offered)
        self.session.recording.add_reply(
            self.run, agent=self.agent, content=content, calls=calls, usage=usage
        )


def _asked(llm: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Asked | None:
    scope = None if _CALLING.get() == id(llm) else current_scope()
    if scope is None:
        return None
    session = scope.session
    with aborting():
        session.require_open("A model call")
    given = {**dict(zip(_ARGUMENTS, args, strict=False)), **kwargs}
    asked = _Asked(llm, session, scope.run or session.recording.outside, given)
    if session.model is None:
        session.note_request(asked.request())
    return asked


def _sends_extra_headers(llm: Any) -> bool:
    module = type(llm).__module__
    return module == "crewai.llm" or ".openai" in module or ".anthropic" in module


def _own_or_given(asked: _Asked) -> Any:
    given = asked.session.native_model
    return asked.llm if given is None else given


def _described(tool: Any) -> dict[str, Any]:
    function = tool.get("function", tool)
    return {
        "name": function.get("name", ""),
        "description": function.get("description", ""),
        "parameters": function.get("parameters", {}),
    }


def _counts(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }


@contextmanager
def _calling(model: BaseLLM) -> Any:
    token = _CALLING.set(id(model))
    try:
        yield
    finally:
        _CALLING.reset(token)


@contextmanager
def _no_stop_iteration() -> Any:
    """CrewAI waits forever for a task that ends in one, such as a script written with `next()`."""
    try:
        yield
    except StopIteration:
        # Caused by it, the error would count as Python's own and become a StopIteration again.
        raise RuntimeError("The script raised StopIteration: a callable in it ran out of items.") from None
