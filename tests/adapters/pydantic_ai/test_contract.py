"""The adapter contract, on a desk built with Pydantic AI's own means."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai import Agent, ModelRetry, UsageLimitExceeded, UsageLimits
from pydantic_ai.models.function import FunctionModel

from callsheet import MockTool
from callsheet.testing import AdapterContract, Canary
from callsheet_pydantic_ai import PydanticAIAdapter


def unreachable(messages: Any, info: Any) -> Any:
    raise AssertionError("the agent's own model was asked")


def own_model(name: str) -> FunctionModel:
    return FunctionModel(unreachable, model_name=name)


class TestPydanticAI(AdapterContract):
    adapter_class = PydanticAIAdapter
    allowed = (MockTool.spy("forecast"),)
    max_turns_error = UsageLimitExceeded

    def build_desk(self, canary: Canary) -> Agent[None, str]:
        weather = Agent(own_model("weather-model"), name="Weather")

        @weather.tool_plain
        def get_forecast(city: str) -> dict[str, str]:
            """Get a forecast."""
            canary.hit("get_forecast")
            return {"sky": f"REAL {city}"}

        desk = Agent(own_model("desk-model"), name="Desk")

        @desk.tool_plain
        def search_flights(origin: str, destination: str) -> list[dict[str, Any]]:
            """Search flights."""
            canary.hit("search_flights")
            return [{"flight": "REAL", "from": origin, "to": destination}]

        @desk.tool_plain
        async def book_flight(flight: str, seats: int) -> str:
            """Book a flight."""
            canary.hit("book_flight")
            return f"REAL {flight} {seats}"

        @desk.tool_plain
        def get_itinerary(booking: str) -> dict[str, Any]:
            """Get an itinerary."""
            canary.hit("get_itinerary")
            return {"real": booking}

        @desk.tool_plain(retries=3)
        def cancel_booking(booking: str) -> str:
            """Cancel a booking."""
            canary.hit("cancel_booking")
            raise ModelRetry(f"real failure for {booking}")

        @desk.tool_plain
        async def forecast(input: str) -> str:
            """Ask for a forecast."""
            return (await weather.run(input)).output

        @desk.tool_plain
        def plan_trip(city: str) -> str:
            """Plan a trip."""
            canary.hit("plan_trip")
            return canary.detour(lambda: self.run_native(weather, city).output)

        return desk

    def tool_failure(self, text: str) -> Exception:
        return ModelRetry(text)

    def run_native(self, agent: Agent[None, str], message: str) -> Any:
        return asyncio.run(self.run_native_async(agent, message))

    async def run_native_async(self, agent: Agent[None, str], message: str) -> Any:
        return await agent.run(message)

    def max_turns_options(self, turns: int) -> dict[str, Any]:
        return {"usage_limits": UsageLimits(request_limit=turns)}
