"""What callsheet costs an OpenAI Agents run of three turns and three tools: medians of interleaved runs.

The variants take turns in random order, each after some runs of its own that are not counted.

bare                 the SDK alone, with the SDK's own scripted model
installed            callsheet's patches in place, no session open
captured             a session that lets the real tools and the agent's own model run
mocked + scripted    a session with mocks and a FakeModel
enter + exit         opening and closing a session that no other keeps company
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable
from random import Random
from statistics import median
from time import process_time

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from callsheet import FakeModel, MockTool
from callsheet_openai_agents import OpenAIAgentsAdapter

WARM_UP = 3
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
CALLS = [[("weather", {"city": "Oslo"}), ("flights", {"to": "Oslo"})], [("book", {"flight": "DY1"})]]
STEPS = [{"tool_calls": [{"name": n, "args": a} for n, a in calls]} for calls in CALLS]


@function_tool
async def weather(city: str) -> str:
    """Tell the weather."""
    return "sunny"


@function_tool
async def flights(to: str) -> str:
    """Find flights."""
    return "DY1"


@function_tool
async def book(flight: str) -> str:
    """Book a flight."""
    return "booked"


def scripted() -> ScriptedModel:
    """Give the SDK's own scripted model."""
    steps = [[function_call(name, args, call_id=f"call_{name}") for name, args in calls] for calls in CALLS]
    return ScriptedModel([*steps, [assistant_message("done")]])


AGENT = Agent(name="Desk", tools=[weather, flights, book])
SCRIPT = FakeModel([*STEPS, "done"])
MOCKS = [
    MockTool(name, response=answer)
    for name, answer in (("weather", "sunny"), ("flights", "DY1"), ("book", "ok"))
]
MOCKED = OpenAIAgentsAdapter(AGENT, tools=MOCKS, model=SCRIPT)
CAPTURING = OpenAIAgentsAdapter(AGENT, unmocked="real")


async def plain() -> None:
    await Runner.run(AGENT, "Book Oslo")


async def captured() -> None:
    await CAPTURING.invoke("Book Oslo")


async def mocked() -> None:
    await MOCKED.invoke("Book Oslo")


async def timed(run: Callable[[], Awaitable[None]]) -> float:
    # What ran before (a collection, patches going in or out, another variant) leaves cold caches behind.
    gc.collect()
    gc.disable()
    for _ in range(WARM_UP + 1):
        AGENT.model = scripted()
        SCRIPT.reset()
        begun = process_time()
        await run()
        took = process_time() - begun
    gc.enable()
    return took


async def measure() -> dict[str, list[float]]:
    """Run every variant in every round."""
    variants = {"bare": plain, "installed": plain, "captured": captured, "mocked + scripted": mocked}
    took: dict[str, list[float]] = {name: [] for name in variants}
    order, dice = list(variants), Random(1)
    for _ in range(ROUNDS):
        dice.shuffle(order)
        for name in order:
            holder = MOCKED.session(strict=False)
            if name == "installed":
                with holder:
                    pass
            took[name].append(await timed(variants[name]))
            del holder
    return took


def opened_and_closed() -> float:
    """Give the median seconds of opening and closing a session."""
    SCRIPT.reset()
    took = []
    for _ in range(2000):
        session = MOCKED.session(strict=False)
        begun = process_time()
        with session:
            pass
        took.append(process_time() - begun)
    return median(took)


def main() -> None:
    """Measure and print."""
    set_tracing_disabled(disabled=True)
    took = asyncio.run(measure())
    bare = median(took["bare"])
    for name, seconds in took.items():
        print(f"{name:<20} {median(seconds) * 1e3:7.2f} ms   {median(seconds) / bare:5.3f} x bare")
    print(f"{'enter + exit':<20} {opened_and_closed() * 1e6:7.1f} us")


if __name__ == "__main__":
    main()
