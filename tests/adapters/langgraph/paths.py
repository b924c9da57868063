"""The ways to run a graph, each as a function of the graph and its input."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

from langgraph.pregel import Pregel

MODES = ("values", "updates", "messages", "custom", "debug", "tasks", "checkpoints")


def _consumed(mode):
    return lambda graph, given: list(graph.stream(given, stream_mode=mode))


def _awaited(run):
    return lambda graph, given: asyncio.run(run(graph, given))


def _consumed_async(mode):
    async def run(graph, given):
        return [event async for event in graph.astream(given, stream_mode=mode)]

    return _awaited(run)


async def _events(graph, given):
    return [event async for event in graph.astream_events(given, version="v2")]


async def _ainvoke(graph, given):
    return await graph.ainvoke(given)


async def _abatch(graph, given):
    return await graph.abatch([given])


async def _with_subgraphs(graph, given):
    return [
        event async for event in graph.astream(given, stream_mode=["updates", "messages"], subgraphs=True)
    ]


SYNC: dict[str, Any] = {
    "invoke": lambda graph, given: graph.invoke(given),
    "batch": lambda graph, given: graph.batch([given]),
    **{f"stream-{mode}": _consumed(mode) for mode in MODES},
    "stream-several": _consumed(["updates", "messages", "custom"]),
}
ASYNC: dict[str, Any] = {
    "ainvoke": _awaited(_ainvoke),
    "abatch": _awaited(_abatch),
    **{f"astream-{mode}": _consumed_async(mode) for mode in MODES},
    "astream-subgraphs": _awaited(_with_subgraphs),
    "astream-events": _awaited(_events),
}


def _blocks(graph, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is experimental
        return list(graph.stream_events(given, version="v3"))


async def _blocks_async(graph, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [event async for event in await graph.astream_events(given, version="v3")]


# Graphs stream content blocks since LangGraph 1.2.
if "stream_events" in vars(Pregel):
    SYNC["stream-events-v3"] = _blocks
    ASYNC["astream-events-v3"] = _awaited(_blocks_async)
PATHS = {**SYNC, **ASYNC}
