"""The adapter contract, on a desk built with the OpenAI Agents SDK's own means."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from agents import (
    Agent,
    AgentUpdatedStreamEvent,
    MaxTurnsExceeded,
    RawResponsesStreamEvent,
    RunItemStreamEvent,
    Runner,
    function_tool,
)

from callsheet.testing import AdapterContract, Canary
from callsheet_openai_agents import OpenAIAgentsAdapter


class TestOpenAIAgents(AdapterContract):
    adapter_class = OpenAIAgentsAdapter
    event_types = (AgentUpdatedStreamEvent, RawResponsesStreamEvent, RunItemStreamEvent)
    max_turns_error = MaxTurnsExceeded

    def build_desk(self, canary: Canary) -> Agent[Any]:
        @function_tool
        def search_flights(origin: str, destination: str) -> list[dict[str, Any]]:
            """Search flights."""
            canary.hit("search_flights")
            return [{"flight": "REAL", "from": origin, "to": destination}]

        @function_tool
        async def book_flight(flight: str, seats: int) -> str:
            """Book a flight."""
            canary.hit("book_flight")
            return f"REAL {flight} {seats}"

        @function_tool
        def get_itinerary(booking: str) -> dict[str, Any]:
            """Get an itinerary."""
            canary.hit("get_itinerary")
            return {"real": booking}

        @function_tool(failure_error_function=lambda context, error: f"Could not cancel: {error}")
        def cancel_booking(booking: str) -> str:
            """Cancel a booking."""
            canary.hit("cancel_booking")
            raise RuntimeError(f"real failure for {booking}")

        @function_tool
        def get_forecast(city: str) -> dict[str, str]:
            """Get a forecast."""
            canary.hit("get_forecast")
            return {"sky": f"REAL {city}"}

        weather = Agent(name="Weather", model="weather-model", tools=[get_forecast])

        @function_tool
        def plan_trip(city: str) -> Any:
            """Plan a trip."""
            canary.hit("plan_trip")
            return canary.detour(lambda: self.run_native(weather, city).final_output)

        return Agent(
            name="Desk",
            model="desk-model",
            tools=[
                search_flights,
                book_flight,
                get_itinerary,
                cancel_booking,
                weather.as_tool("forecast", "Ask for a forecast"),
                plan_trip,
            ],
        )

    def run_native(self, agent: Agent[Any], message: str) -> Any:
        return asyncio.run(self.run_native_async(agent, message))

    async def run_native_async(self, agent: Agent[Any], message: str) -> Any:
        return await Runner.run(agent, message)

    def max_turns_options(self, turns: int) -> dict[str, Any]:
        return {"max_turns": turns}

    def fingerprint(self, agent: Agent[Any]) -> object:
        # The SDK itself adds attributes to an agent that ran, so only the declared fields count.
        tools = [
            {field.name: vars(tool)[field.name] for field in dataclasses.fields(tool)} for tool in agent.tools
        ]
        return {field.name: id(getattr(agent, field.name)) for field in dataclasses.fields(agent)}, [
            {name: id(value) for name, value in tool.items()} for tool in tools
        ]
