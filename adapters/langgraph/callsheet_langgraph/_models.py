"""Chat models: which one answers, what reaches it and what it replied."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel

from callsheet.adapters import ModelRequest, Scope, active_scope
from callsheet_langgraph._messages import calls_of, latest_told, note_told, text_of, usage_of
from callsheet_langgraph._places import Place, order_of
from callsheet_langgraph._scripted_model import scripted
from callsheet_langgraph._structured import offered_names, output_tools

_NAMES = ("model_name", "model", "model_id", "deployment_name")
_HEADERS = ("default_headers",)
_attributes: WeakKeyDictionary[type, tuple[list[str], list[str]]] = WeakKeyDictionary()
# A model that is being asked asks itself again on the way; that is one call.
_asking: ContextVar[bool] = ContextVar("callsheet_asking_model", default=False)


def answered_generate(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseChatModel._generate_with_cache`, which every reply that is not streamed comes from."""

    @wraps(original)
    def _generate_with_cache(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or _asking.get():
            return original(self, messages, *args, **kwargs)
        call = ModelCall(scope, self, messages, kwargs)
        with _asked():
            result = original(call.model, messages, *args, **call.options)
        call.replied(result.generations[0].message)
        return result

    return _generate_with_cache


def answered_agenerate(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseChatModel._agenerate_with_cache`."""

    @wraps(original)
    async def _agenerate_with_cache(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or _asking.get():
            return await original(self, messages, *args, **kwargs)
        call = ModelCall(scope, self, messages, kwargs)
        with _asked():
            result = await original(call.model, messages, *args, **call.options)
        call.replied(result.generations[0].message)
        return result

    return _agenerate_with_cache


def answered_stream(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseChatModel.stream`."""

    @wraps(original)
    def stream(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Iterator[Any]:
        scope = active_scope()
        # A model that can not stream asks itself for a whole reply instead.
        if scope is None or _asking.get() or not _streams(self, kwargs, async_api=False):
            return original(self, input, config, **kwargs)  # type: ignore[no-any-return]
        call = ModelCall(scope, self, self._convert_input(input).to_messages(), kwargs)
        return call.recorded(original(call.model, input, config, **call.options))

    return stream


def answered_astream(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseChatModel.astream`."""

    @wraps(original)
    def astream(self: Any, input: Any, config: Any = None, **kwargs: Any) -> AsyncIterator[Any]:
        scope = active_scope()
        if scope is None or _asking.get() or not _streams(self, kwargs, async_api=True):
            return original(self, input, config, **kwargs)  # type: ignore[no-any-return]
        call = ModelCall(scope, self, self._convert_input(input).to_messages(), kwargs)
        return call.arecorded(original(call.model, input, config, **call.options))

    return astream


def answered_events(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseChatModel._iter_v2_events`, the stream of content block events."""

    @wraps(original)
    def _iter_v2_events(self: Any, messages: Any, *, stream: Any, **kwargs: Any) -> Iterator[Any]:
        scope = active_scope()
        if scope is None or _asking.get():
            yield from original(self, messages, stream=stream, **kwargs)
            return
        call = ModelCall(scope, self, messages, kwargs)
        for event in original(call.model, messages, stream=stream, **call.options):
            call.replied_at_last(stream)
            yield event

    return _iter_v2_events


def answered_aevents(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseChatModel._aiter_v2_events`."""

    @wraps(original)
    async def _aiter_v2_events(self: Any, messages: Any, *, stream: Any, **kwargs: Any) -> AsyncIterator[Any]:
        scope = active_scope()
        if scope is None or _asking.get():
            async for event in original(self, messages, stream=stream, **kwargs):
                yield event
            return
        call = ModelCall(scope, self, messages, kwargs)
        async for event in original(call.model, messages, stream=stream, **call.options):
            call.replied_at_last(stream)
            yield event

    return _aiter_v2_events


class ModelCall:
    """One call of a chat model.

    Args:
        scope: What the calling code belongs to.
        model: The model the graph asks.
        messages: What it is asked with.
        options: The keyword arguments of the call, the bound ones included.
    """

    def __init__(
        self, scope: Scope, model: Any, messages: list[BaseMessage], options: dict[str, Any]
    ) -> None:
        session, place = scope.session, scope.place
        session.require_open("A model call")
        self._session = session
        self._filed = False
        self._written: dict[str, str] = {}
        self._run = scope.run or session.recording.outside
        self._place: Place | None = place
        self._order = order_of(place, scope.run)
        self._tools: frozenset[str] = place.tools if place is not None else frozenset()
        self.options = dict(options)
        name, headers = model_name(model), _headers(model, options)
        headers.update(session.headers)
        speaker = place.speaker if place is not None else None
        session.note_request(ModelRequest(agent=speaker, model=name, headers=headers))
        session.note_tools(speaker, offered_names(options))
        note_told(session, self._run, latest_told(messages), self._tools)
        self.model = model
        if session.model is not None:
            self.model = scripted(
                model, scope, self._tools, name=name, headers=headers, written=self._written
            )
        else:
            self.model = session.native_model if session.native_model is not None else model
            if session.headers:
                self.options["extra_headers"] = {**(options.get("extra_headers") or {}), **session.headers}

    def replied(self, message: Any) -> None:
        """File the reply."""
        if not isinstance(message, AIMessage):
            return
        self._filed = True
        agent = self._place.speaker if self._place is not None else None
        calls = calls_of(message, agent, self._written)
        outputs = output_tools(self.options, self._tools)
        for call in calls:
            if call.name in outputs:
                call.kind = "output"
        self._session.recording.add_reply(
            self._run,
            agent=agent,
            content=text_of(message) or message.additional_kwargs.get("refusal", ""),
            calls=calls,
            usage=usage_of(message),
            metadata=self._place.metadata if self._place is not None else None,
            order=self._order,
        )

    def replied_at_last(self, stream: Any) -> None:
        """File the reply of a stream of events once it is whole; who reads it may stop right there."""
        if not self._filed and stream.output_message is not None:
            self.replied(stream.output_message)

    def recorded(self, chunks: Iterator[Any]) -> Iterator[Any]:
        """Give the chunks of a streamed reply, and file the reply they make."""
        said: list[Any] = []
        try:
            for chunk in chunks:
                said.append(chunk)
                yield chunk
        finally:
            self._file(said)

    async def arecorded(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Like `recorded`, on an event loop."""
        said: list[Any] = []
        try:
            async for chunk in chunks:
                said.append(chunk)
                yield chunk
        finally:
            self._file(said)

    def _file(self, said: list[Any]) -> None:
        if said:
            first, *others = said
            self.replied(first + others if others else first)


class _asked:  # noqa: N801 - used as a function
    """Take what the model asks of itself for part of this call."""

    def __enter__(self) -> None:
        self._token = _asking.set(True)

    def __exit__(self, *raised: object) -> None:
        _asking.reset(self._token)


def model_name(model: Any) -> str:
    """Give the name of the model a chat model is configured to ask."""
    for attribute in _present(model)[0]:
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(model).__name__


def _headers(model: BaseChatModel, options: dict[str, Any]) -> dict[str, str]:
    configured = [getattr(model, attribute, None) or {} for attribute in _present(model)[1]]
    return {**(configured[0] if configured else {}), **(options.get("extra_headers") or {})}


def _present(model: Any) -> tuple[list[str], list[str]]:
    """Give the attributes of name and headers a model may have: asking it for what it has not is slow."""
    model_class = type(model)
    known = _attributes.get(model_class)
    if known is None:
        declared = set(_declared(model_class))
        known = _attributes[model_class] = (
            [name for name in _NAMES if name in declared],
            [name for name in _HEADERS if name in declared],
        )
    return known


def _declared(model_class: Any) -> Iterator[str]:
    fields = model_class.model_fields
    has_more = model_class.model_config.get("extra") == "allow" or any(
        "__getattr__" in vars(base) for base in model_class.__mro__ if base is not BaseModel
    )
    for name in (*_NAMES, *_HEADERS):
        if has_more or name in fields or hasattr(model_class, name):
            yield name


def _streams(model: Any, options: dict[str, Any], *, async_api: bool) -> bool:
    return bool(model._should_stream(async_api=async_api, **{**options, "stream": True}))
