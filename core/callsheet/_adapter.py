"""What every adapter does the same way: options, sessions, runs and streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, ClassVar, Generic, Literal, TypeVar
from weakref import WeakSet

from callsheet._errors import MockConfigError
from callsheet._fake_model import FakeModel
from callsheet._inventory import Inventory
from callsheet._mocks import MockTool
from callsheet._options import check_history
from callsheet._patching import PatchSet
from callsheet._result import AgentResult
from callsheet._server import MockMCPServer
from callsheet._session import Session
from callsheet._sync import finish

AgentT = TypeVar("AgentT")
Tools = MockMCPServer | Iterable[MockTool]


class BaseAdapter(ABC, Generic[AgentT]):
    """An agent of one framework, wrapped for tests.

    Args:
        agent: The agent, as the application built it. It is never changed or copied.
        tools: The mocks. A mock named "Agent.tool" answers only that agent's calls.
        model: A `FakeModel`, one of the framework's own models, or None to leave the agent its own.
        unmocked: "error" refuses a tool without a mock; "real" lets it run and records it.
        offline: Whether the network is closed during runs; None closes it when `model` is a FakeModel.
        strict: Whether scripted steps left at the end of a session are an error.

    Raises:
        MockConfigError: The agent is not this framework's, or an option is none of these.
    """

    framework_name: ClassVar[str]
    agent_description: ClassVar[str]
    model_type: ClassVar[type]
    model_description: ClassVar[str]
    patches: ClassVar[PatchSet]

    def __init__(
        self,
        agent: AgentT,
        *,
        tools: Tools = (),
        model: Any = None,
        unmocked: Literal["error", "real"] = "error",
        offline: bool | None = None,
        strict: bool = True,
    ) -> None:
        if not self.accepts(agent):
            raise MockConfigError(
                f"{type(self).__name__} wraps {self.agent_description}, not {type(agent).__module__}."
                f"{type(agent).__qualname__}. callsheet.wrap(agent) picks the adapter from the object."
            )
        self.agent = agent
        self.tools = tools if isinstance(tools, MockMCPServer) else MockMCPServer(tools)
        self.model = model if isinstance(model, FakeModel) else None
        self.native_model = None if isinstance(model, FakeModel) else model
        if self.native_model is not None and not isinstance(self.native_model, self.model_type):
            raise MockConfigError(
                f"model is {type(model).__name__}. Give a callsheet.FakeModel, {self.model_description}, "
                "or None to leave the agent its own."
            )
        self.last_result: AgentResult | None = None
        self._unmocked = unmocked
        self._offline = offline
        self._strict = strict
        self._sessions: WeakSet[Session] = WeakSet()
        self._owes_check = False
        self.session()  # complains about an option here rather than at the first run

    @classmethod
    @abstractmethod
    def handles(cls, agent: object) -> bool:
        """Say whether an object is an agent of this framework."""

    @classmethod
    def accepts(cls, agent: object) -> bool:
        """Say whether the adapter can be given an object by name: by default, what it handles."""
        return cls.handles(agent)

    def session(
        self,
        *,
        tools: Tools | None = None,
        headers: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        strict: bool | None = None,
    ) -> Session:
        """Give a session to open around any code that reaches the agent.

        Args:
            tools: Mocks for this session, looked up before the adapter's own.
            headers: Headers to add to every model request.
            metadata: What the test wants in `result.metadata`.
            strict: Whether scripted steps left at the end are an error; None as the adapter has it.
        """
        session = Session(
            tools=self.tools if tools is None else self.tools.overlaid(tools),
            model=self.model,
            native_model=self.native_model,
            unmocked=self._unmocked,
            strict=self._strict if strict is None else strict,
            offline=self._offline,
            inventory=self._inventory(),
            patches=self.patches,
            headers=headers,
            metadata=metadata,
            owner=self,
            around=self._around,
        )
        self._sessions.add(session)
        return session

    async def invoke(
        self,
        message: Any,
        *,
        tools: Tools | None = None,
        headers: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        history: Sequence[Any] | None = None,
        **options: Any,
    ) -> AgentResult:
        """Run the agent on a message in a session of its own.

        Args:
            message: A text, or the framework's own input.
            tools: Mocks for this run, looked up before the adapter's own.
            headers: Headers to add to every model request.
            metadata: What the test wants in `result.metadata`.
            history: Messages that came before, OpenAI-style or the framework's own.
            **options: Passed to the framework's run call.

        Raises:
            OptionError: The headers, the metadata or the history are none.
            Violation: The test does not allow what the agent did.
            BaseException: What the framework raises; `last_result` then holds what happened up to there.
        """
        session = self.session(tools=tools, headers=headers, metadata=metadata)
        return await self.run_in(session, message, history=history, **options)

    def sync_invoke(
        self,
        message: Any,
        *,
        tools: Tools | None = None,
        headers: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        history: Sequence[Any] | None = None,
        **options: Any,
    ) -> AgentResult:
        """Like `invoke`, by the framework's own sync way of running; the arguments are the same."""
        session = self.session(tools=tools, headers=headers, metadata=metadata)
        return self.run_in_sync(session, message, history=history, **options)

    async def run_in(
        self, session: Session, message: Any, /, *, history: Sequence[Any] | None = None, **options: Any
    ) -> AgentResult:
        """Open a session of this adapter, run the agent on a message in it, and give the result."""
        check_history(history)
        try:
            with session:
                await self._run(session, message, history, options)
        finally:
            self.last_result = session.result
        return self.last_result

    def run_in_sync(
        self, session: Session, message: Any, /, *, history: Sequence[Any] | None = None, **options: Any
    ) -> AgentResult:
        """Like `run_in`, by the framework's own sync way of running."""
        check_history(history)
        try:
            with session:
                self._run_sync(session, message, history, options)
        finally:
            self.last_result = session.result
        return self.last_result

    def close(self) -> None:
        """Close the sessions left open, and check the script of a conversation that was not.

        Raises:
            Violation: A promise was broken in one of them.
            UnusedScriptError: A conversation left scripted steps over.
        """
        with ExitStack() as closing:
            if self._owes_check:
                closing.callback(self.check_used_up)
            for session in list(self._sessions):
                closing.callback(session.close)

    def turn_session(self, **options: Any) -> Session:
        """Give a session for one turn of several: later turns may use what it leaves of the script."""
        self._owes_check = True
        return self.session(**options, strict=False)

    def check_used_up(self) -> None:
        """Raise for scripted steps nobody asked for, unless the adapter is not strict.

        Raises:
            UnusedScriptError: With the number of steps left per script.
        """
        self._owes_check = False
        if self._strict and self.model is not None:
            self.model.check_used_up()

    def turn_options(self, result: AgentResult) -> dict[str, Any]:
        """Give the options that make the next run continue the conversation `result` came from.

        Args:
            result: What the latest turn did, with the trace of every turn.
        """
        return {"history": result.to_messages()}

    async def stream(
        self,
        message: Any,
        *,
        tools: Tools | None = None,
        headers: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        history: Sequence[Any] | None = None,
        **options: Any,
    ) -> AsyncGenerator[Any, None]:
        """Run the agent and give the framework's own events; `last_result` has the result afterwards.

        The arguments are those of `invoke`. Left early, the run is ended with its session.
        """
        session = self.session(tools=tools, headers=headers, metadata=metadata)
        check_history(history)
        session.open()
        events: AsyncIterator[Any] | None = None
        error: BaseException | None = None
        try:
            with session.activated():
                events = await self._stream(session, message, history, options)
            while True:
                # The session belongs to producing an event, not to the code that consumes it.
                with session.activated():
                    try:
                        event = await anext(events)
                    except StopAsyncIteration:
                        break
                yield event
        except BaseException as raised:
            error = raised
            raise
        finally:
            try:
                with session.activated():
                    await _ended(events)
            finally:
                try:
                    session.close(error)
                finally:
                    self.last_result = session.result

    def _around(self) -> AbstractContextManager[Any]:
        """Give what surrounds each session, such as putting back what a run changes."""
        return nullcontext()

    def _run_sync(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        finish(self._run(session, message, history, options))

    @abstractmethod
    def _inventory(self) -> Inventory:
        """Give the agents and tools that can be reached from the agent."""

    @abstractmethod
    async def _run(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        """Run the agent; the patches do the rest."""

    @abstractmethod
    async def _stream(
        self, session: Session, message: Any, history: Sequence[Any] | None, options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Begin a streamed run and give its events."""


async def _ended(events: AsyncIterator[Any] | None) -> None:
    """End the framework's own generator, which would otherwise wait for the garbage collector."""
    if isinstance(events, AsyncGenerator):
        await events.aclose()
