"""What happened in a session, gathered in any order and told in one: the canonical trajectory.

Threads and tasks finish as they like. A recording files every call under the model reply that asked for
it, every reply under its run and every nested run under the call that started it, and tells them in that
order: two runs of one deterministic agent give equal traces.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from callsheet._values import Kind, Outcome, ToolCall, TraceEntry, Usage

# Where a step stands among its run's steps when arrival order is random; equal keys keep arrival order.
Order = tuple[Any, ...]


@dataclass(eq=False)
class CallRecord:
    """One tool call, from the model asking for it to the model being told the answer.

    The fields are those of `ToolCall`, filled in as the call goes on.

    Args:
        args: The parsed arguments, or None while they are no JSON object.
        raw_args: The arguments as the model wrote them.
        outcome: "skipped" until the tool is run.
        attempts: How often the tool was run so far.
        handed_to: The agent a handoff went to.
        children: The runs of sub-agents that the call started.
    """

    id: str
    name: str
    args: dict[str, Any] | None = None
    raw_args: str | None = None
    agent: str | None = None
    kind: Kind = "function"
    outcome: Outcome = "skipped"
    response: Any = None
    error: str | None = None
    mocked: bool = False
    attempts: int = 0
    duration: float | None = None
    seen_by_model: str | None = None
    handed_to: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    children: list[RunRecord] = field(default_factory=list)

    def to_tool_call(
        self, *, run: int, turn: int | None, index: int | None, parent_id: str | None
    ) -> ToolCall:
        """Give the finished value, placed in the trajectory."""
        rejected = self.args is None or self.outcome in ("invalid", "unknown")
        return ToolCall(
            self.name,
            self.args if self.args is not None else {},
            response=self.response,
            error=self.error,
            id=self.id,
            agent=self.agent,
            parent_id=parent_id,
            run=run,
            turn=turn,
            index=index,
            mocked=self.mocked,
            raw_args=self.raw_args if rejected else None,
            kind=self.kind,
            outcome=self.outcome,
            attempts=max(self.attempts, 1),
            duration=self.duration,
            seen_by_model=self.seen_by_model,
            metadata=dict(self.metadata),
        )


@dataclass(eq=False)
class ReplyRecord:
    """One model reply and the calls it asked for, in the order it wrote them.

    Args:
        turn: The index of the reply in its run.
        agent: The agent whose model replied.
        content: The text.
        calls: The calls.
        usage: What the reply cost.
        metadata: What only one framework knows about the reply.
    """

    turn: int
    agent: str | None = None
    content: Any = None
    calls: list[CallRecord] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def call_of(self, call_id: str) -> CallRecord | None:
        """Give the first call of an id that nobody ran yet, else the last one of it, or None."""
        own = None
        for call in self.calls:
            if call.id == call_id:
                own = call
                if not call.attempts:
                    break
        return own


@dataclass(eq=False)
class RunRecord:
    """One run of an agent: what it was asked, what its models replied, what happened beside that.

    Args:
        path: Where the run stands among the session's, from which ids are made.
        agent: The agent that was run.
        opening: The steps before the first reply, such as the user's message.
        parent: The call whose sub-agent this is, or None at the top.
        steps: Replies, calls that no model asked for, and events, each with its place in the order.
        turns: The number of replies so far.
        offered: The names of the tools offered to the model, or None when nobody noted them; a call of
            another name is recorded as unknown.
        error: The exception that ended the run, as text.
        order: Where the run stands among its siblings; runs with equal ones stand as they began.
    """

    path: str
    agent: str | None = None
    opening: tuple[TraceEntry, ...] = ()
    parent: CallRecord | None = None
    steps: list[tuple[Order, ReplyRecord | CallRecord | TraceEntry]] = field(default_factory=list)
    turns: int = 0
    offered: frozenset[str] | None = None
    error: str | None = None
    order: Order = ()

    def add(self, step: ReplyRecord | CallRecord | TraceEntry, order: Order = ()) -> None:
        """Append a reply, a call no model asked for, or an event such as an interrupt.

        Args:
            step: What happened.
            order: Where it stands in canonical order; steps without one stand as they were added.
        """
        self.steps.append((order, step))

    def next_unanswered(self, tool: str) -> CallRecord | None:
        """Give the first call of a tool in the latest reply that nobody ran yet, or None.

        For frameworks that run a tool without saying which call of it this is.
        """
        reply = next(self.replies_backwards(), None)
        calls = reply.calls if reply is not None else ()
        return next((call for call in calls if call.name == tool and not call.attempts), None)

    def replies_backwards(self) -> Iterator[ReplyRecord]:
        """Give the run's replies, the latest first."""
        return (step for _, step in reversed(self.steps) if isinstance(step, ReplyRecord))

    def in_order(self) -> Iterator[ReplyRecord | CallRecord | TraceEntry]:
        """Give the steps in canonical order."""
        for _, step in sorted(self.steps, key=lambda step: step[0]):
            yield step


class Recording:
    """Every run of a session."""

    def __init__(self) -> None:
        self.runs: list[RunRecord] = []
        self._calls: dict[str, CallRecord] = {}
        # Ids that more than one call has: models of several runs may count theirs alike.
        self._shared: set[str] = set()
        self._loose: dict[str, CallRecord] = {}
        self._issued: set[str] = set()
        self._outside: RunRecord | None = None
        # Threads of one session take the same numbers otherwise. Reentrant: `outside` opens a run.
        self._lock = threading.RLock()

    @property
    def outside(self) -> RunRecord:
        """The run that holds calls made outside every agent run."""
        with self._lock:
            if self._outside is None:
                self._outside = self.open_run(agent=None)
        return self._outside

    @property
    def latest_run(self) -> RunRecord | None:
        """The latest run of an agent at the top, or None."""
        return next((run for run in reversed(_in_order(self.runs)) if run is not self._outside), None)

    def open_run(
        self,
        *,
        agent: str | None,
        opening: Sequence[TraceEntry] = (),
        parent: CallRecord | None = None,
        order: Order = (),
    ) -> RunRecord:
        """Begin a run at the top, or under the call that started it.

        Args:
            agent: The agent.
            opening: The steps before its first reply.
            parent: The call.
            order: Where it stands among its siblings, where runs begin at random.
        """
        siblings = self.runs if parent is None else parent.children
        with self._lock:
            ordinal = ".".join(map(str, order)) or str(len(siblings) + 1)
            path = ordinal if parent is None else f"{parent.id.removeprefix('call_')}.{ordinal}"
            run = RunRecord(path, agent, tuple(opening), parent, order=order)
            siblings.append(run)
        return run

    def add_reply(
        self,
        run: RunRecord,
        *,
        agent: str | None,
        content: Any,
        calls: Iterable[CallRecord],
        usage: Usage | None = None,
        metadata: Mapping[str, Any] | None = None,
        order: Order = (),
    ) -> ReplyRecord:
        """File a model reply; its calls are found again by their ids."""
        known = [self._asked(run, call) for call in calls]
        for call in known:
            unheard_of = run.offered is not None and call.name not in run.offered
            if unheard_of and call.outcome == "skipped":
                call.outcome, call.error = "unknown", f"No tool is named {call.name!r}"
        with self._lock:
            reply = ReplyRecord(run.turns, agent, content, known, usage or Usage(requests=1), metadata or {})
            run.turns += 1
            run.add(reply, order)
        return reply

    def _asked(self, run: RunRecord, call: CallRecord) -> CallRecord:
        # A framework may tell of a reply only after it ran the reply's calls.
        early = self._loose.pop(call.id, None)
        if early is None:
            if call.id in self._calls:
                self._shared.add(call.id)
            self._calls[call.id] = call
            return call
        with self._lock:
            run.steps[:] = [(order, step) for order, step in run.steps if step is not early]
        return early

    def find_call(self, call_id: str | None, run: RunRecord | None = None) -> CallRecord | None:
        """Give the latest call of an id, or None; one of `run` before those of other runs."""
        if call_id is None:
            return None
        latest = self._calls.get(call_id)
        if run is None or call_id not in self._shared:
            return latest
        for reply in run.replies_backwards():
            own = reply.call_of(call_id)
            if own is not None:
                return own
        return latest

    def add_loose_call(self, run: RunRecord, call: CallRecord, order: Order = ()) -> CallRecord:
        """File a call that no recorded reply asked for."""
        run.add(call, order)
        self._calls[call.id] = self._loose[call.id] = call
        return call

    def new_call_id(self, run: RunRecord, place: str) -> str:
        """Give an id that is the same for the same call of a repeated run, and unique in this recording."""
        base = call_id = f"call_{run.path}_{place}"
        repeat = 1
        with self._lock:
            while call_id in self._issued:
                repeat += 1
                call_id = f"{base}_{repeat}"
            self._issued.add(call_id)
        return call_id

    def reserve(self, call_ids: Iterable[str]) -> None:
        """Give none of these ids, which came from elsewhere, such as an earlier session."""
        with self._lock:
            self._issued.update(call_ids)

    def trace(self) -> list[TraceEntry]:
        """Tell everything in canonical order."""
        teller = _Teller()
        teller.tell(self.runs, parent_id=None)
        return teller.told

    def replies(self) -> Iterator[ReplyRecord]:
        """Give every model reply, in canonical order."""
        return _replies(self.runs)


class _Teller:
    """Numbers the runs while walking them."""

    def __init__(self) -> None:
        self.told: list[TraceEntry] = []
        self._run = -1

    def tell(self, runs: Sequence[RunRecord], parent_id: str | None) -> None:
        for run in _in_order(runs):
            self._run += 1
            number = self._run
            turn = 0
            for entry in run.opening:
                self.told.append(replace(entry, run=number, parent_id=parent_id))
            for step in run.in_order():
                if isinstance(step, TraceEntry):
                    self.told.append(replace(step, run=number, parent_id=parent_id))
                elif isinstance(step, CallRecord):
                    self._tell_call(step, run, number, None, None, parent_id)
                else:
                    # Replies are numbered as they are told: in random order they arrive with random numbers.
                    self._tell_reply(step, run, number, turn, parent_id)
                    turn += 1
            if run.error is not None:
                error = TraceEntry("error", run.error, agent=run.agent, run=number, parent_id=parent_id)
                self.told.append(error)

    def _tell_reply(
        self, reply: ReplyRecord, run: RunRecord, number: int, turn: int, parent_id: str | None
    ) -> None:
        if reply.content not in (None, ""):
            said = TraceEntry(
                "assistant",
                reply.content,
                metadata=reply.metadata,
                agent=reply.agent,
                run=number,
                turn=turn,
                parent_id=parent_id,
            )
            self.told.append(said)
        for index, call in enumerate(reply.calls):
            self._tell_call(call, run, number, turn, index, parent_id)

    def _tell_call(
        self,
        record: CallRecord,
        run: RunRecord,
        number: int,
        turn: int | None,
        index: int | None,
        parent_id: str | None,
    ) -> None:
        call = record.to_tool_call(run=number, turn=turn, index=index, parent_id=parent_id)
        handed_over = record.handed_to is not None
        made = TraceEntry(
            "handoff" if handed_over else "tool",
            record.handed_to if handed_over else call.seen_by_model,
            call,
            agent=record.agent or run.agent,
            run=number,
            turn=turn,
            parent_id=parent_id,
        )
        self.told.append(made)
        self.tell(record.children, record.id)


def _in_order(runs: Iterable[RunRecord]) -> list[RunRecord]:
    return sorted(runs, key=lambda run: run.order)


def _replies(runs: Iterable[RunRecord]) -> Iterator[ReplyRecord]:
    for run in _in_order(runs):
        for step in run.in_order():
            calls = [step] if isinstance(step, CallRecord) else []
            if isinstance(step, ReplyRecord):
                yield step
                calls = step.calls
            for call in calls:
                yield from _replies(call.children)
