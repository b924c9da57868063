"""What callsheet costs a Pydantic AI run of ten turns with five tools each: medians of interleaved runs.

bare                 the framework alone, with a FunctionModel
no session           callsheet's patches in place, no session open
captured             a session that lets the real tools and the agent's own model run
mocked + scripted    a session with mocks and a FakeModel
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable
from statistics import median
from time import process_time
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from callsheet import FakeModel, MockTool
from callsheet_pydantic_ai import PydanticAIAdapter

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 60
STEPS, TOOLS = 10, 5
NAMES = [f"tool_{number}" for number in range(TOOLS)]


async def answer(city: str) -> str:
    """Answer."""
    return f"sunny in {city}"


async def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Give the same replies as the script below."""
    turn = sum(isinstance(message, ModelResponse) for message in messages)
    if turn == STEPS:
        return ModelResponse(parts=[TextPart("done")])
    return ModelResponse(
        parts=[ToolCallPart(name, '{"city": "Oslo"}', tool_call_id=f"c{turn}_{name}") for name in NAMES]
    )


AGENT = Agent(FunctionModel(scripted), name="Desk", tools=[Tool(answer, name=name) for name in NAMES])
CALLS: dict[str, Any] = {"tool_calls": [{"name": name, "args": {"city": "Oslo"}} for name in NAMES]}
SCRIPT = FakeModel([*[CALLS] * STEPS, "done"])
MOCKED = PydanticAIAdapter(
    AGENT, tools=[MockTool(name, response="sunny in Oslo") for name in NAMES], model=SCRIPT
)
CAPTURING = PydanticAIAdapter(AGENT, unmocked="real")


async def plain() -> None:
    """Run without callsheet."""
    await AGENT.run("Hi", infer_name=False)


async def captured() -> None:
    """Run the real tools and the agent's own model in a session."""
    await CAPTURING.invoke("Hi")


async def mocked() -> None:
    """Run mocks and a script."""
    await MOCKED.invoke("Hi")


async def timed(run: Callable[[], Awaitable[None]]) -> float:
    """Give the seconds of processor time of a run."""
    SCRIPT.reset()
    gc.collect()
    gc.disable()
    begun = process_time()
    await run()
    took = process_time() - begun
    gc.enable()
    return took


async def measure() -> dict[str, list[float]]:
    """Run every variant in every round."""
    took: dict[str, list[float]] = {
        name: [] for name in ("bare", "no session", "captured", "mocked + scripted")
    }
    for _ in range(ROUNDS):
        took["bare"].append(await timed(plain))
        holder = MOCKED.session(strict=False)
        with holder:
            pass
        took["no session"].append(await timed(plain))
        del holder
        took["captured"].append(await timed(captured))
        took["mocked + scripted"].append(await timed(mocked))
    return took


def main() -> None:
    """Measure and print."""
    took = asyncio.run(measure())
    for name, seconds in took.items():
        ratio = median(one / other for one, other in zip(seconds, took["bare"], strict=True))
        print(f"{name:<20} {median(seconds) * 1e3:7.2f} ms   {ratio:5.3f} x bare")


if __name__ == "__main__":
    main()
