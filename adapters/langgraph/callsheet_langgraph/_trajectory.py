"""`GraphTrajectory`: which nodes a graph went through, turn by turn, in the shape graph evaluators read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callsheet import CallsheetError
from callsheet.adapters import AgentResult, Session, ToolCall
from callsheet_langgraph._history import read, read_async, turns_of
from callsheet_langgraph._turns import KEY

_LISTS = ("inputs", "results", "steps")


@dataclass(frozen=True)
class GraphTrajectory:
    """The nodes a graph ran, turn by turn.

    A turn is one run of the graph, from an input or a resume to its end or an interrupt. The shape, and
    `__start__`, `__interrupt__` and `__resuming__` in it, are those of `GraphTrajectory` in LangChain's
    `agentevals`.

    Args:
        inputs: For each turn, what the graph was given as `{"__start__": ...}`, or "__resuming__".
        results: For each turn, the last message of the final state, OpenAI-style, as `{"messages": [...]}`,
            or the final state of a graph without messages; `{}` where an interrupt or error ended the turn.
        steps: For each turn, the names of its nodes in the graph's own order. A node of a sub-graph has the
            name of the sub-graph's node before its own: `expert:model`. An interrupted node is followed by
            `__interrupt__` and is not told again when it is resumed.
    """

    inputs: list[Any] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    steps: list[list[str]] = field(default_factory=list)

    @classmethod
    def of(cls, *runs: AgentResult | Session) -> GraphTrajectory:
        """Give the trajectory of what was recorded.

        Args:
            *runs: Results of a `LangGraphAdapter`, or its sessions, in the order of their turns.

        Raises:
            CallsheetError: One of them was not recorded of a graph.
        """
        told: dict[str, list[Any]] = {name: [] for name in _LISTS}
        for position, run in enumerate(runs):
            recorded = run.metadata.get(KEY)
            if recorded is None:
                raise CallsheetError(
                    f"Run {position} has no {KEY!r} in its metadata: it was not recorded of a graph. "
                    "Pass what a LangGraphAdapter gave, a result or a session."
                )
            for name in _LISTS:
                told[name] += recorded[name]
        return cls(told["inputs"], told["results"], [list(step) for step in told["steps"]])

    @classmethod
    def of_thread(cls, graph: Any, config: Mapping[str, Any]) -> GraphTrajectory:
        """Give the trajectory of a thread, from its checkpoints.

        What happened under test is in the saver only while its session is open. A thread tells nothing of a
        breakpoint that was passed (`interrupt_before`) and of the tasks of an entrypoint.

        Args:
            graph: The compiled graph.
            config: With the `thread_id`.

        Raises:
            CallsheetError: The thread has no checkpoints.
        """
        return cls._of_turns(turns_of(read(graph, config)), config)

    @classmethod
    async def of_thread_async(cls, graph: Any, config: Mapping[str, Any]) -> GraphTrajectory:
        """Like `of_thread`, for a saver that is awaited."""
        return cls._of_turns(turns_of(await read_async(graph, config)), config)

    @classmethod
    def _of_turns(cls, turns: Sequence[Any], config: Mapping[str, Any]) -> GraphTrajectory:
        if not turns:
            raise CallsheetError(
                f"Thread {config['configurable']['thread_id']!r} has no checkpoints. What a test did is "
                "there only inside its session: read it there, or use GraphTrajectory.of(result)."
            )
        return cls(
            [turn.given for turn in turns], [turn.result for turn in turns], [turn.steps for turn in turns]
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the trajectory as `{"inputs": [...], "results": [...], "steps": [[...], ...]}`."""
        return {
            "inputs": list(self.inputs),
            "results": list(self.results),
            "steps": [list(step) for step in self.steps],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GraphTrajectory:
        """Build a trajectory from what `to_dict` gave, or from what `agentevals` extracts from a thread.

        Args:
            data: A dict with `steps`, and with `inputs` and `results` where they are known; or
                `{"inputs": [...], "outputs": {"results": [...], "steps": [...]}}`.

        Raises:
            CallsheetError: It has no steps, or they are no lists of names.
        """
        outputs = data.get("outputs", data)
        steps = outputs.get("steps") if isinstance(outputs, Mapping) else None
        if not isinstance(steps, Sequence) or isinstance(steps, str) or not all(map(_are_names, steps)):
            raise CallsheetError(
                f"The steps of a graph trajectory are lists of node names, got {steps!r}. "
                'Expected {"inputs": [...], "results": [...], "steps": [["__start__", "model", ...], ...]}.'
            )
        inputs = data.get("inputs") or outputs.get("inputs") or []
        return cls(list(inputs), list(outputs.get("results") or []), [list(step) for step in steps])

    @property
    def nodes(self) -> list[ToolCall]:
        """Every node visited, as calls that the assertions of order take; `run` is the turn.

        `assert_calls(trajectory.nodes, InOrder("model", "tools"))`,
        `assert_tool_call_order(trajectory.nodes, ["model", "tools"])`.
        """
        return [ToolCall(name, {}, run=turn) for turn, step in enumerate(self.steps) for name in step]


def _are_names(step: object) -> bool:
    return (
        isinstance(step, Sequence)
        and not isinstance(step, str)
        and all(isinstance(name, str) for name in step)
    )
