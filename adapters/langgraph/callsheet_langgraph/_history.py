"""The turns of a thread, read from its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callsheet_langgraph._places import path_text
from callsheet_langgraph._turns import INTERRUPT, RESUMING, START, closing_state, plain_state


@dataclass
class PastTurn:
    """One turn of a thread, told as `GraphTrajectory` tells it."""

    given: Any
    result: Any = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)


@dataclass
class Past:
    """One checkpoint, with what led to the next.

    Args:
        snapshot: LangGraph's snapshot of the state.
        given: The input, where the checkpoint took one.
        inner: The checkpoints of sub-graphs, by the id of the task they are.
    """

    snapshot: Any
    given: Any = None
    inner: dict[str, list[Past]] = field(default_factory=dict)


def read(graph: Any, config: Any) -> list[Past]:
    """Give the checkpoints that led to a thread's latest one, the first one first."""
    found = []
    for snapshot in _line(list(graph.get_state_history(config))):
        past = Past(snapshot)
        if _takes_input(snapshot) and not _is_inner(snapshot):
            past.given = _given(graph.checkpointer.get_tuple(snapshot.config))
        for task in snapshot.tasks:
            if isinstance(task.state, Mapping):
                past.inner[task.id] = read(graph, task.state)
        found.append(past)
    return found


async def read_async(graph: Any, config: Any) -> list[Past]:
    """Like `read`, for a saver that is awaited."""
    found = []
    for snapshot in _line([snapshot async for snapshot in graph.aget_state_history(config)]):
        past = Past(snapshot)
        if _takes_input(snapshot) and not _is_inner(snapshot):
            past.given = _given(await graph.checkpointer.aget_tuple(snapshot.config))
        for task in snapshot.tasks:
            if isinstance(task.state, Mapping):
                past.inner[task.id] = await read_async(graph, task.state)
        found.append(past)
    return found


def turns_of(thread: Sequence[Past], trail: str = "") -> list[PastTurn]:
    """Give the turns of a thread, or of a sub-graph while its node ran.

    Args:
        thread: The checkpoints, the first one first.
        trail: What stands before the names of the nodes.
    """
    turns: list[PastTurn] = []
    for position, past in enumerate(thread):
        snapshot = past.snapshot
        following = thread[position + 1].snapshot if position + 1 < len(thread) else None
        visited = _visited(snapshot, following)
        if _takes_input(snapshot):
            turns.append(PastTurn({START: plain_state(past.given)}))
        elif visited and not turns:
            turns.append(PastTurn(RESUMING))
        later: list[list[str]] = []
        for task in visited:
            _tell(task, past.inner.get(task.id, ()), trail, turns[-1].steps, later)
        goes_on = following is not None and not _takes_input(following)
        if goes_on and any(task.interrupts for task in snapshot.tasks):
            turns += [PastTurn(RESUMING, steps=steps) for steps in later or [[]]]
        elif turns and not snapshot.next:
            turns[-1].result = closing_state(snapshot.values)
    return turns


def _tell(task: Any, inner: Sequence[Past], trail: str, steps: list[str], later: list[list[str]]) -> None:
    name = trail + task.name
    steps.append(name)
    if task.interrupts:
        steps.append(INTERRUPT)
    first, *others = turns_of(inner, f"{name}:") or [PastTurn(None)]
    steps += first.steps
    for number, turn in enumerate(others):
        if number == len(later):
            later.append([])
        later[number] += turn.steps


def _visited(snapshot: Any, following: Any) -> list[Any]:
    """Give the tasks that ran: those of a checkpoint that another one grew out of, and those interrupted."""
    ran = following is not None and following.metadata["source"] == "loop"
    visited = [task for task in snapshot.tasks if ran or task.interrupts or task.error]
    return sorted(visited, key=lambda task: path_text(task.path))


def _line(history: list[Any]) -> list[Any]:
    """Give what led to the latest checkpoint; what a thread went back on is left out."""
    by_id = {snapshot.config["configurable"]["checkpoint_id"]: snapshot for snapshot in history}
    line = history[:1]
    while line:
        before = (line[-1].parent_config or {}).get("configurable", {}).get("checkpoint_id")
        if before not in by_id:
            break
        line.append(by_id[before])
    return line[::-1]


def _takes_input(snapshot: Any) -> bool:
    return bool(snapshot.metadata["source"] == "input")


def _is_inner(snapshot: Any) -> bool:
    return bool(snapshot.config["configurable"].get("checkpoint_ns"))


def _given(saved: Any) -> Any:
    return saved.checkpoint["channel_values"].get(START)
