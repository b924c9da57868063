"""`CallableAdapter`: any Python callable as an agent under test."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from callsheet._adapter import BaseAdapter, Tools
from callsheet._errors import MockConfigError, Violation, described
from callsheet._inventory import Inventory
from callsheet._patching import PatchSet
from callsheet._recording import RunRecord
from callsheet._requests import ToolRequest
from callsheet._result import AgentResult
from callsheet._session import Session
from callsheet._suggest import listed
from callsheet._sync import finish
from callsheet._values import TraceEntry

_END = object()


class CallableAdapter(BaseAdapter[Callable[..., Any]]):
    """A callable `fn(message, tools)`, wrapped for tests.

    `tools` is a mapping of callables, one per tool, called with keyword arguments or with one mapping;
    those of an `async def` are to be awaited. A tool that nobody mocked can be looked up, and is refused
    when it is called. The answer is what the callable returns, or all that a generator yields. A callable
    with a parameter `history` gets the messages that came before.

    Args:
        agent: A function, a coroutine function, a generator function or an async generator function.
        tools: The mocks.
        real_tools: The real tools by name: for spies, for `unmocked="real"`, and to find mocks that
            stand for none of them.
        unmocked: "error" refuses a tool without a mock; "real" lets it run and records it.
        offline: Whether the network is closed during runs.

    Raises:
        MockConfigError: The agent can not be called, or an option is none of these.
    """

    __module__ = "callsheet"

    framework_name = "callable"
    agent_description = "a callable fn(message, tools)"
    patches = PatchSet(tuple)

    def __init__(
        self,
        agent: Callable[..., Any],
        *,
        tools: Tools = (),
        real_tools: Mapping[str, Callable[..., Any]] | None = None,
        unmocked: Literal["error", "real"] = "error",
        offline: bool | None = None,
    ) -> None:
        self._real_tools = dict(real_tools or {})
        super().__init__(agent, tools=tools, unmocked=unmocked, offline=offline)

    @classmethod
    def handles(cls, agent: object) -> bool:
        """Say whether an object can be called."""
        return callable(agent)

    def session(self, **options: Any) -> Session:
        """Give a session; the options are those of every adapter."""
        session = super().session(**options)
        session.note_tools(None, session.tools.tool_names)
        return session

    def _inventory(self) -> Inventory:
        # Without real tools nothing says which exist: each session then knows its mocks.
        return Inventory({"": tuple(self._real_tools)}, complete=bool(self._real_tools))

    async def _run(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        if not _is_async(self.agent):
            # A plain function may block, and may run a loop of its own.
            await asyncio.to_thread(self._run_sync, session, message, history, options)
            return
        async for _ in self._steps(session, message, history, options):
            pass

    def _run_sync(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        if _is_async(self.agent):
            super()._run_sync(session, message, history, options)
            return
        with session.run(agent=None, opening=[TraceEntry("user", message)]) as run:
            given = self._call(session, message, history, options)
            if inspect.isgenerator(given):
                self._finish(session, run, list(given), yielded=True)
            else:
                self._finish(session, run, finish(given) if inspect.isawaitable(given) else given)

    async def _stream(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        return self._steps(session, message, history, options)

    async def _steps(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Give what the callable yields, one by one, or the one thing it returns."""
        run = session.open_run(agent=None, opening=[TraceEntry("user", message)])
        items = []
        try:
            # The run is entered for each step: between two the consumer's code runs.
            with session.inside(run):
                given = self._call(session, message, history, options)
                if inspect.isawaitable(given):
                    given = await given
            yields = inspect.isgenerator(given) or inspect.isasyncgen(given)
            while yields:
                with session.inside(run):
                    item = await anext(given, _END) if inspect.isasyncgen(given) else next(given, _END)
                if item is _END:
                    break
                items.append(item)
                yield item
        except (Exception, Violation) as error:
            run.error = described(error)
            raise
        if not yields:
            yield given
        self._finish(session, run, items if yields else given, yielded=yields)

    def _call(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> Any:
        if "history" in _parameters(self.agent):
            options = {"history": list(history or ()), **options}
        tools = _Tools(session, self._real_tools, awaited=_is_async(self.agent))
        return self.agent(message, tools, **options)

    @staticmethod
    def _finish(session: Session, run: RunRecord, answer: Any, *, yielded: bool = False) -> None:
        if isinstance(answer, AgentResult):
            response, output = answer.response, answer.output
        elif yielded and all(isinstance(item, str) for item in answer):
            response = output = "".join(answer)
        else:
            output = answer[-1] if yielded else answer
            response = _text(output)
        if response:
            run.add(TraceEntry("assistant", response))
        session.finish(response=response, output=output, native=answer)


class _Tools(Mapping[str, Callable[..., Any]]):
    """The tools of one run, each a callable that the session answers."""

    def __init__(self, session: Session, real: Mapping[str, Callable[..., Any]], *, awaited: bool) -> None:
        self._session = session
        self._real = real
        self._awaited = awaited
        self._names = list(dict.fromkeys([*session.tools.tool_names, *real]))

    def __getitem__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            arguments = _arguments(name, args, kwargs)
            return self._session.answer_tool(
                ToolRequest(name=name, args=arguments), lambda: self._run_real(name, arguments)
            )

        async def call_async(*args: Any, **kwargs: Any) -> Any:
            arguments = _arguments(name, args, kwargs)

            async def real() -> Any:
                given = self._run_real(name, arguments)
                return await given if inspect.isawaitable(given) else given

            return await self._session.answer_tool_async(ToolRequest(name=name, args=arguments), real)

        return call_async if self._awaited else call

    def _run_real(self, name: str, arguments: dict[str, Any]) -> Any:
        if name not in self._real:
            raise MockConfigError(
                f"There is no real tool {name!r} to run; real tools: {listed(self._real)}. "
                f"Pass real_tools={{{name!r}: ...}} or MockTool({name!r}, response=...)."
            )
        given = self._real[name](**arguments)
        return finish(given) if inspect.isawaitable(given) and not self._awaited else given

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if not args:
        return kwargs
    if len(args) == 1 and isinstance(args[0], Mapping):
        return {**args[0], **kwargs}
    raise TypeError(f"Call tool {name!r} with keyword arguments, or with one mapping of them.")


def _is_async(agent: Callable[..., Any]) -> bool:
    bodies = (agent, getattr(agent, "__call__", None))  # noqa: B004 - an object may have an async __call__
    return any(inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body) for body in bodies)


def _parameters(agent: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return inspect.signature(agent).parameters
    except ValueError:  # some built-in callables tell nothing
        return {}


def _text(answer: Any) -> str:
    if answer is None or isinstance(answer, str):
        return answer or ""
    return json.dumps(answer, ensure_ascii=False, default=str)
