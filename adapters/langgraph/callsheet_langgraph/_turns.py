"""The turns of a session as they happen: what a graph was given, its nodes, what came of it."""

from __future__ import annotations

import threading
from bisect import bisect
from collections.abc import Mapping
from math import inf
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.types import Command

from callsheet.adapters import RunRecord, Session
from callsheet_langgraph._messages import listed_messages, openai_message, role_and_content
from callsheet_langgraph._places import Order

INTERRUPT, RESUMING, START = "__interrupt__", "__resuming__", "__start__"
KEY = "graph_trajectory"
_PLAIN_ROLES = {HumanMessage: "user", AIMessage: "assistant"}
_ROLES = {"human": "user", "ai": "assistant"}

# Tasks that wait for an answer, for each adapter or session: a resumed node is the same visit.
_waiting: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


class Turn:
    """One turn of a graph.

    Args:
        told: The trajectory of the session, which gets a turn more.
        given: What the graph is run on.
        waiting: The tasks that were told of in an earlier turn, and were interrupted.
    """

    def __init__(self, told: dict[str, list[Any]], given: Any, waiting: set[str]) -> None:
        self._told = told
        self._waiting = waiting
        self._lock = threading.Lock()
        self._orders: list[Any] = []
        self._steps: list[str] = []
        self._number = len(told["steps"])
        goes_on = given is None or isinstance(given, Command)
        told["inputs"].append(RESUMING if goes_on else {START: plain_state(given)})
        told["results"].append({})
        told["steps"].append(self._steps)

    def visited(self, trail: str, order: Order, task_id: str) -> None:
        """Note a node."""
        if task_id not in self._waiting:
            self._add(trail, (order, 0))

    def interrupted(self, order: Order, task_id: str) -> None:
        """Note that a node waits for an answer."""
        self._waiting.add(task_id)
        self._add(INTERRUPT, (order, 1))

    def stopped(self) -> None:
        """Note that the graph stopped at a breakpoint."""
        self._add(INTERRUPT, ((inf,), 1))

    def ended(self, output: Any) -> None:
        """Note what the graph gave."""
        self._told["results"][self._number] = closing_state(output)

    def _add(self, name: str, order: Any) -> None:
        with self._lock:
            position = bisect(self._orders, order)
            self._orders.insert(position, order)
            self._steps.insert(position, name)


def open_turn(session: Session, run: RunRecord, given: Any) -> None:
    """Begin the turn of a run at the top."""
    told = session.metadata.setdefault(KEY, {"inputs": [], "results": [], "steps": []})
    waiting = _waiting.setdefault(session.owner if session.owner is not None else session, set())
    session.kept[run] = Turn(told, given, waiting)


def turn_of(session: Session, run: RunRecord | None) -> Turn | None:
    """Give the turn of a run, or None for one that a tool call started."""
    return session.kept.get(run)


def plain_state(state: Any) -> Any:
    """Give a state with its messages OpenAI-style."""
    messages = state.get("messages") if isinstance(state, Mapping) else None
    if messages is None:
        return state
    return {**state, "messages": [_plain(message) for message in listed_messages(messages)]}


def closing_state(state: Any) -> Any:
    """Give the last message of a final state, OpenAI-style, or the state where it has no messages."""
    state = getattr(state, "value", state)
    messages = state.get("messages") if isinstance(state, Mapping) else None
    return {"messages": [_plain(messages[-1])]} if isinstance(messages, list) and messages else state


def _plain(message: Any) -> Any:
    if not isinstance(message, BaseMessage):
        role, content = role_and_content(message)
        return (
            message if isinstance(message, Mapping) else {"role": _ROLES.get(role, role), "content": content}
        )
    plain_role = _PLAIN_ROLES.get(type(message))
    # The conversion costs more than all the rest of a turn, and most messages are a text.
    if (
        plain_role is None
        or not isinstance(message.content, str)
        or message.name
        or message.additional_kwargs
    ):
        return openai_message(message)
    if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
        return openai_message(message)
    return {"role": plain_role, "content": message.content}
