"""Checkpoints and cached node results of a test, apart from the application's own.

What a graph remembers under test is remembered for the adapter, so that a conversation goes on; the
application's saver is read and never written. Cached results are kept for one session: another test's
answer must not come back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Any
from weakref import WeakKeyDictionary, ref

from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver

from callsheet.adapters import Session, kept_in_reach

_SESSION = "langgraph session"
_scratch: WeakKeyDictionary[Any, dict[int, ScratchSaver]] = WeakKeyDictionary()
_caches: WeakKeyDictionary[Session, InMemoryCache[Any]] = WeakKeyDictionary()


class _Slot(ABC):
    """A data descriptor that takes the place of a field of `Pregel`; what is set stays in the graph.

    Args:
        default: What a graph without one has.
    """

    name: str

    def __init__(self, default: Any) -> None:
        self._default = default

    def __get__(self, graph: Any, owner: type | None = None) -> Any:
        if graph is None:
            return self._default
        return self._seen(vars(graph).get(self.name, self._default))

    def __set__(self, graph: Any, value: Any) -> None:
        vars(graph)[self.name] = value

    @abstractmethod
    def _seen(self, own: Any) -> Any:
        """Give what the running code sees of what the graph has."""


class SaverSlot(_Slot):
    """Takes the place of `Pregel.checkpointer`: a session writes beside it."""

    name = "checkpointer"

    def _seen(self, own: Any) -> Any:
        if not isinstance(own, BaseCheckpointSaver) or isinstance(own, ScratchSaver):
            return own
        session = _session_in_reach()
        return own if session is None else scratch_of(session, own)


class CacheSlot(_Slot):
    """Takes the place of `Pregel.cache`: each session has one of its own."""

    name = "cache"

    def _seen(self, own: Any) -> Any:
        session = _session_in_reach() if own is not None else None
        return own if session is None else _caches.setdefault(session, InMemoryCache())


class ScratchSaver(InMemorySaver):
    """Checkpoints in memory on top of another saver's, which is only read.

    Args:
        own: The saver below.
    """

    def __init__(self, own: BaseCheckpointSaver[Any]) -> None:
        super().__init__(serde=own.serde)
        self._own = own

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        """Give a checkpoint, taken over from the saver below when it is first asked for."""
        if not self._has(config):
            self._take_over(self._own.get_tuple(config))
        return super().get_tuple(config)

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """Like `get_tuple`, with the saver below awaited."""
        if not self._has(config):
            self._take_over(await self._own.aget_tuple(config))
        return super().get_tuple(config)

    def list(self, config: Any, **options: Any) -> Iterator[CheckpointTuple]:
        """Give a thread's checkpoints: those made under test, or the saver below's where there are none."""
        yield from (super().list if config is None or self._has_thread(config) else self._own.list)(
            config, **options
        )

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """Like `list`, with the saver below awaited."""
        if config is None or self._has_thread(config):
            for saved in super().list(config, **options):
                yield saved
        else:
            async for saved in self._own.alist(config, **options):
                yield saved

    def get_next_version(self, current: Any, channel: Any) -> Any:
        """Give the version after this one, in the form the saver below counts in."""
        return self._own.get_next_version(current, channel)

    def _has(self, config: Any) -> bool:
        asked = config["configurable"]
        saved = self._saved(asked)
        return asked["checkpoint_id"] in saved if asked.get("checkpoint_id") else bool(saved)

    def _has_thread(self, config: Any) -> bool:
        return bool(self._saved(config["configurable"]))

    def _saved(self, asked: Any) -> Any:
        namespaces = self.storage.get(asked["thread_id"]) or {}
        return namespaces.get(asked.get("checkpoint_ns", ""), {})

    def _take_over(self, saved: CheckpointTuple | None) -> None:
        if saved is None:
            return
        own = saved.config["configurable"]
        before = (saved.parent_config or {}).get("configurable", {})
        place: Any = {"thread_id": own["thread_id"], "checkpoint_ns": own.get("checkpoint_ns", "")}
        if "checkpoint_id" in before:
            place["checkpoint_id"] = before["checkpoint_id"]
        kept = self.put(
            {"configurable": place}, saved.checkpoint, saved.metadata, saved.checkpoint["channel_versions"]
        )
        for task in {task_id for task_id, _, _ in saved.pending_writes or ()}:
            writes = [
                (channel, value) for task_id, channel, value in saved.pending_writes or () if task_id == task
            ]
            self.put_writes(kept, writes, task)


def introduce(session: Session) -> None:
    """Let what a session keeps lead to the session."""
    session.kept[_SESSION] = ref(session)


def _session_in_reach() -> Session | None:
    """Give the session of the running code, or None where it can not be told: a run will be refused there."""
    found = (kept_in_reach() or {}).get(_SESSION)
    return None if found is None else found()


def scratch_of(session: Session, own: BaseCheckpointSaver[Any]) -> ScratchSaver:
    """Give the saver that stands on an application's saver for as long as the session's adapter lives."""
    savers = _scratch.setdefault(session.owner if session.owner is not None else session, {})
    if id(own) not in savers:
        savers[id(own)] = ScratchSaver(own)
    return savers[id(own)]
