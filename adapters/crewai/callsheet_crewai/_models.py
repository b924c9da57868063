"""Models: every `call` and `acall` of every LLM class asks the session first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from crewai.llms.base_llm import BaseLLM
from pydantic import BaseModel

from callsheet.adapters import Scope, Usage
from callsheet_crewai import _rate_limits
from callsheet_crewai._abort import current_scope
from callsheet_crewai._functions import answered_function
from callsheet_crewai._model_calls import ModelCall, model_call, usage_of
from callsheet_crewai._replies import structured

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
            before = usage_of(model)
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
            before = usage_of(model)
            if model is self:
                return asked.record(model, before, await original(self, *args, **kwargs))
            return asked.record(model, before, await model.acall(**asked.given))

    return acall


def answered_instructor(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `InternalInstructor.to_pydantic`, by which a converter asks a provider past its LLM."""

    @wraps(original)
    def to_pydantic(self: Any) -> Any:
        scope = current_scope()
        if scope is None or not isinstance(self.llm, BaseLLM):
            return original(self)
        messages = [{"role": "user", "content": self.content}]
        given = {"messages": messages, "from_agent": self.agent, "response_model": self.model}
        if _is_replaced(scope):
            answer = self.llm.call(**given)
            return answer if isinstance(answer, BaseModel) else structured(str(answer), self.model)
        asked = model_call(scope, self.llm, given)
        answer = original(self)
        asked.file(answer.model_dump_json(), [], Usage(requests=1))
        return answer

    return to_pydantic


def no_client(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `InternalInstructor._create_instructor_client`, which wants a provider's key."""

    @wraps(original)
    def _create_instructor_client(self: Any) -> Any:
        scope = current_scope()
        return original(self) if scope is None or not _is_replaced(scope) else None

    return _create_instructor_client


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


def _asked(llm: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ModelCall | None:
    scope = None if _CALLING.get() == id(llm) else current_scope()
    if scope is None:
        return None
    return model_call(scope, llm, {**dict(zip(_ARGUMENTS, args, strict=False)), **kwargs})


def _is_replaced(scope: Scope) -> bool:
    return scope.session.model is not None or scope.session.native_model is not None


def _sends_extra_headers(llm: Any) -> bool:
    module = type(llm).__module__
    return module == "crewai.llm" or ".openai" in module or ".anthropic" in module


def _own_or_given(asked: ModelCall) -> Any:
    given = asked.session.native_model
    return asked.llm if given is None else given


@contextmanager
def _calling(model: BaseLLM) -> Any:
    token = _CALLING.set(id(model))
    try:
        yield
    finally:
        _CALLING.reset(token)
