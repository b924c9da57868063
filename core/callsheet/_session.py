"""`Session`: the one place that decides who answers a tool call and a model call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal, Self, TypeVar

from callsheet import _journal
from callsheet._errors import MockConfigError, SessionClosedError, SessionError, Violation, described
from callsheet._evidence import Evidence, tool_calls
from callsheet._fake_model import FakeModel
from callsheet._inventory import Inventory
from callsheet._mocks import MockTool
from callsheet._offline import offline as offline_block
from callsheet._options import headers_of, mapping_of
from callsheet._patching import PatchSet
from callsheet._processes import Children, Orders
from callsheet._recording import CallRecord, Order, Recording, RunRecord
from callsheet._requests import ModelRequest, ToolRequest
from callsheet._result import AgentResult
from callsheet._scope import SCOPE, Scope, entered, leave, open_sessions
from callsheet._script import ModelReply
from callsheet._server import MockMCPServer
from callsheet._surroundings import Surroundings
from callsheet._tool_desk import ToolAttempt, ToolDesk
from callsheet._values import ToolCall, TraceEntry
from callsheet._violations import Violations

T = TypeVar("T")


class Session:
    """One test's hold on an agent: its mocks, its scripted model, its policy and its record.

    Adapters open sessions; tests get one from `adapter.session()`. While it is open, code that belongs
    to it (its tasks, threads and pools included) is answered by it; afterwards such code is refused.

    Args:
        tools: The mocks.
        model: The scripted model, or None to leave the agent its own.
        unmocked: What happens to a tool without a mock: "error" refuses it, "real" lets it run.
        strict: Whether scripted steps left at the end are an error.
        offline: Whether the network is closed; None closes it when `model` is given.
        inventory: The agents and tools that can be named.
        patches: The adapter's interception.
        headers: Headers to add to every model request.
        metadata: What the test wants in `result.metadata`.
        native_model: A model of the framework's own to use instead of the agent's.
        owner: The adapter that opens the session; one adapter's sessions do not nest.
        around: Gives what is entered when the session opens and left when it closes.

    Raises:
        MockConfigError: An option is none of these.
        OptionError: The headers or the metadata are no mapping, or a header is no text.
    """

    __module__ = "callsheet"

    def __init__(
        self,
        *,
        tools: MockMCPServer | Iterable[MockTool] = (),
        model: FakeModel | None = None,
        unmocked: Literal["error", "real"] = "error",
        strict: bool = True,
        offline: bool | None = None,
        inventory: Inventory | None = None,
        patches: PatchSet | None = None,
        headers: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        native_model: Any = None,
        owner: object = None,
        around: Callable[[], AbstractContextManager[Any]] | None = None,
    ) -> None:
        self.tools = tools if isinstance(tools, MockMCPServer) else MockMCPServer(tools)
        self.model = model
        self.headers: dict[str, str] = headers_of(headers)
        self.recording = Recording()
        self._strict = strict
        closed_network = model is not None if offline is None else offline
        network = offline_block() if closed_network else None
        self._surroundings = Surroundings(patches, network, around)
        self._inventory = self._declared = inventory or Inventory(complete=False)
        self.metadata: dict[str, Any] = mapping_of(metadata, "metadata")
        self.native_model = native_model
        self.owner = owner
        # What an adapter keeps for as long as the session lives.
        self.kept: dict[Any, Any] = {}
        self.children = Children(owner)
        self._state: Literal["new", "open", "closed"] = "new"
        self._violations = Violations()
        self._result: AgentResult | None = None
        self._evidence = Evidence(self.recording)
        self._desk = ToolDesk(self.tools, self.recording, unmocked=unmocked, poison=self._violations.add)
        self._entered: AbstractContextManager[None] | None = None
        self._outer: Session | None = None

    # Opening and closing

    def open(self) -> None:
        """Put the interception in place; `activated` then makes code belong to the session."""
        if self._state != "new":
            raise SessionError("A session can be opened once. Ask the adapter for another.")
        around = SCOPE.get()
        if around is not None and around.session.is_open and around.session.owner is self.owner is not None:
            raise SessionError(
                "This adapter already has a session open here. Use that one, or wrap the agent once more."
            )
        if self._inventory.complete:
            self.check_names()
        self._inventory.check_bound_mocks(self.tools.tool_names)
        if around is not None and around.call is not None and around.session.is_open:
            self._outer = around.session
        self._surroundings.open(self)
        self._state = "open"
        open_sessions[id(self)] = self

    @contextmanager
    def activated(self) -> Iterator[None]:
        """Make the code inside belong to the session, its network closed where that was asked for."""
        token = SCOPE.set(Scope(self))
        self._surroundings.join()
        try:
            yield
        finally:
            self._surroundings.part()
            leave(token, self)

    def close(self, error: BaseException | None = None) -> None:
        """End the session, `error` being on its way out; whatever still belongs to it is refused.

        Raises:
            Violation: A promise was broken, whatever the framework made of it.
            UnusedScriptError: Scripted steps were left over and nothing else went wrong.
            UnknownMockError: A mock stood for no tool that was ever seen.
        """
        if self._state != "open":
            return
        self._state = "closed"
        self._surroundings.leave()
        open_sessions.pop(id(self), None)
        if self._entered is not None:
            self._entered.__exit__(None, None, None)
        try:
            self._surroundings.open_network(error)
        except BaseException as blocked:
            self._settle(blocked)
            raise
        self._settle(error)

    def become_child(self, orders: Orders | None) -> None:
        """Refuse everything from now on and report it: this is another process."""
        self._state = "closed"
        self.children.become_child(orders)

    def _settle(self, error: BaseException | None) -> None:
        for refusal in self.children.collect():
            self.poison(refusal)
        if _journal.current is not None:
            _journal.current.note(self.result, self._violations, error)
        if self._outer is not None:
            # A tool of the outer agent may swallow what this session raises.
            for violation in self._violations.all:
                self._outer.poison(violation)
        self.raise_violations(error)
        if error is not None:
            return
        if not self._inventory.complete:
            self._inventory.check_mocks(self.tools.tool_names)
            if self._strict and self.model is not None:
                self._inventory.check_scripts(self.model.agent_names)
        if self._strict and self.model is not None:
            self.model.check_used_up()

    def __enter__(self) -> Self:
        self.open()
        self._entered = self.activated()
        self._entered.__enter__()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self.close(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self.close(error)

    @property
    def lets_real_run(self) -> bool:
        """Whether tools without a mock run."""
        return self._desk.lets_real_run

    @property
    def tool_names(self) -> set[str]:
        """The tools known so far."""
        return self._inventory.tool_names()

    @property
    def declared_tools(self) -> set[str]:
        """Every name of a tool, bound to its agent or not, that was known when the session was made."""
        return self._declared.mock_names()

    def may_run(self, names: Collection[str]) -> bool:
        """Say whether a tool of these names could run for real, so that what it needs has to be there."""
        return self._desk.may_run(names)

    def check_names(self) -> None:
        """Raise `UnknownMockError` for a mock or a script of nothing that is known so far."""
        self._inventory.check_mocks(self.tools.tool_names)
        self._inventory.check_scripts(self.model.agent_names if self.model is not None else ())

    @property
    def is_open(self) -> bool:
        """Whether the session answers calls."""
        return self._state == "open"

    # Deciding

    def answer_tool(self, request: ToolRequest, real: Callable[[], T]) -> T | Any:
        """Answer a tool call: from its mock, or by running the real tool where the test allows it.

        Args:
            request: The call.
            real: Runs the real tool.

        Raises:
            Violation: The test does not allow the call.
            InvalidArgumentsError: A mock was called with arguments the schema does not accept.
            ToolTimedOutError: The mock's virtual delay is longer than the framework's timeout.
            BaseException: What the mock or the real tool raises.
        """
        attempt = self._begin(request)
        with attempt, self.inside(attempt.run, attempt.record):
            if attempt.mock is None:
                answer = attempt.record.response = real()
            else:
                answer = attempt.answered(attempt.mock.answer(attempt.checked_args(attempt.mock)))
        return answer

    async def answer_tool_async(self, request: ToolRequest, real: Callable[[], Awaitable[T]]) -> T | Any:
        """Like `answer_tool`, for a tool that is awaited."""
        attempt = self._begin(request)
        with attempt, self.inside(attempt.run, attempt.record):
            if attempt.mock is None:
                answer = attempt.record.response = await real()
            else:
                answer = attempt.answered(await attempt.mock.answer_async(attempt.checked_args(attempt.mock)))
        return answer

    def answer_model(self, request: ModelRequest) -> ModelReply:
        """Give the scripted reply to a model call, with an id on each of its tool calls.

        Raises:
            ScriptExhaustedError: Nothing is scripted for it.
            BaseException: The step is an exception.
        """
        model = self._scripted_model(request)
        with self._violations:
            reply = model.reply(request)
        return self._with_ids(reply, request)

    async def answer_model_async(self, request: ModelRequest) -> ModelReply:
        """Like `answer_model`, on the running event loop."""
        model = self._scripted_model(request)
        with self._violations:
            reply = await model.reply_async(request)
        return self._with_ids(reply, request)

    def require_open(self, what: str) -> None:
        """Refuse `what` when the session is closed, or when a promise was broken in it before.

        Raises:
            Violation: Naming what came too late.
        """
        if self._state == "closed":
            self.children.refuse_in_child(what)
            raise SessionClosedError(
                f"{what} came after its session was closed. Await the task or stream inside the session."
            )
        if self._violations.all:
            raise self._violations.all[0]

    def poison(self, violation: Violation) -> None:
        """Make the session fail at its end and refuse every later call, whoever swallows the violation."""
        self._violations.add(violation)

    # Recording

    def open_run(
        self, *, agent: str | None, opening: Sequence[TraceEntry] = (), order: Order = ()
    ) -> RunRecord:
        """Begin a run of an agent, under the tool call that is being answered, if any."""
        scope = SCOPE.get()
        parent = scope.call if scope is not None and scope.session is self else None
        if parent is None:
            self._evidence.forget_answer()
        opening = opening if parent is None else ()
        return self.recording.open_run(agent=agent, opening=opening, parent=parent, order=order)

    def inside(
        self, run: RunRecord | None, call: CallRecord | None = None, *, place: Any = None
    ) -> AbstractContextManager[None]:
        """Make the code inside belong to a run, to a call of it, and to a place of the adapter's own.

        Without a place the one around stays.
        """
        around = SCOPE.get()
        if place is None and around is not None and around.session is self:
            place = around.place
        return entered(Scope(self, run, call, place))

    @contextmanager
    def run(
        self, *, agent: str | None, opening: Sequence[TraceEntry] = (), place: Any = None
    ) -> Iterator[RunRecord]:
        """Begin a run, make the code inside belong to it, and note the exception that ends it."""
        run = self.open_run(agent=agent, opening=opening)
        try:
            with self.inside(run, place=place):
                yield run
        except BaseException as error:
            run.error = described(error)
            raise

    def note_request(self, request: ModelRequest) -> None:
        """Note the model's name and the headers a model request carried."""
        self._evidence.note_request(request)

    def note_tools(self, agent: str | None, names: Iterable[str]) -> None:
        """Note the tools an agent turned out to have, where that could not be known before."""
        if not self._inventory.complete:
            self._inventory = self._inventory.joined(agent, names)

    def finish(self, *, response: str, output: Any = None, native: Any = None) -> None:
        """Note the final answer of the session's latest top run."""
        self._evidence.response, self._evidence.output, self._evidence.native = response, output, native

    # Reading

    @property
    def current_turn(self) -> int:
        """How many replies the running agent run has had."""
        run = self._current_run()
        return run.turns if run is not None else 0

    @property
    def trace(self) -> list[TraceEntry]:
        """Every step so far, in canonical order."""
        return self.recording.trace()

    @property
    def tool_calls(self) -> list[ToolCall]:
        """Every tool call so far, in canonical order; structured answers are not calls."""
        return tool_calls(self.trace)

    @property
    def result(self) -> AgentResult:
        """What happened so far; after an exception, up to there."""
        if self._result is not None:
            return self._result
        result = self._evidence.result({**self.metadata, "known_tools": sorted(self._inventory.tool_names())})
        if self._state == "closed":
            self._result = result
        return result

    # Inner workings

    def _begin(self, request: ToolRequest) -> ToolAttempt:
        self.require_open(f"A call of tool {request.name!r}")
        self.note_tools(request.agent, (request.name, *request.aliases))
        with self._violations:
            return self._desk.begin(request, request.run or self._current_run() or self.recording.outside)

    def _scripted_model(self, request: ModelRequest) -> FakeModel:
        self.require_open("A model call")
        self.note_request(request)
        if self.model is None:
            raise MockConfigError("This session has no FakeModel to answer with. Pass model=FakeModel(...).")
        return self.model

    def _with_ids(self, reply: ModelReply, request: ModelRequest) -> ModelReply:
        if not reply.tool_calls and reply.handoff is None and reply.output is None:
            return reply
        # Calls of an earlier turn come from another recording, which counted alike.
        self.recording.reserve(request.taken_call_ids())
        run = self._current_run() or self.recording.outside
        place = run.turns if request.place is None else request.place
        return reply.with_call_ids(lambda index: self.recording.new_call_id(run, f"{place}_{index}"))

    def _current_run(self) -> RunRecord | None:
        scope = SCOPE.get()
        return scope.run if scope is not None and scope.session is self else None

    def raise_violations(self, error: BaseException | None = None) -> None:
        """Raise the first broken promise, if any; `error` is the exception that is on its way out already."""
        self._violations.raise_first(error)
