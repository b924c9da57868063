"""The adapter contract can be kept with public names alone: a toy framework keeps it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from callsheet.testing import AdapterContract, Canary
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent, ToyReply, ToyResult, ToyRunner, ToyTool, TurnLimitError


def schema(**types: str) -> dict[str, Any]:
    properties = {name: {"type": kind} for name, kind in types.items()}
    return {"type": "object", "properties": properties, "required": list(types)}


class TestToyFramework(AdapterContract):
    adapter_class = ToyAdapter
    event_types = (ToyReply, ToyResult)
    max_turns_error = TurnLimitError

    def build_desk(self, canary: Canary) -> ToyAgent:
        def search_flights(origin: str, destination: str) -> list[dict[str, Any]]:
            canary.hit("search_flights")
            return [{"flight": "REAL", "from": origin, "to": destination}]

        async def book_flight(flight: str, seats: int) -> str:
            canary.hit("book_flight")
            return f"REAL {flight} {seats}"

        def get_itinerary(booking: str) -> dict[str, Any]:
            canary.hit("get_itinerary")
            return {"real": booking}

        def cancel_booking(booking: str) -> str:
            canary.hit("cancel_booking")
            raise RuntimeError(f"real failure for {booking}")

        def get_forecast(city: str) -> dict[str, str]:
            canary.hit("get_forecast")
            return {"sky": f"REAL {city}"}

        def plan_trip(city: str) -> Any:
            canary.hit("plan_trip")
            return canary.detour(lambda: self.in_a_loop(weather, city))

        weather = ToyAgent(
            "Weather", "weather-model", [ToyTool("get_forecast", get_forecast, schema(city="string"))]
        )
        return ToyAgent(
            "Desk",
            "desk-model",
            [
                ToyTool("search_flights", search_flights, schema(origin="string", destination="string")),
                ToyTool("book_flight", book_flight, schema(flight="string", seats="integer")),
                ToyTool("get_itinerary", get_itinerary, schema(booking="string")),
                ToyTool("cancel_booking", cancel_booking, schema(booking="string"), on_error=str),
                weather.as_tool("forecast"),
                ToyTool("plan_trip", plan_trip, schema(city="string")),
            ],
        )

    def in_a_loop(self, agent: ToyAgent, message: str) -> str:
        return self.run_native(agent, message).output

    def run_native(self, agent: ToyAgent, message: str) -> Any:
        return asyncio.run(self.run_native_async(agent, message))

    async def run_native_async(self, agent: ToyAgent, message: str) -> Any:
        return await ToyRunner().run(agent, message)

    def max_turns_options(self, turns: int) -> dict[str, Any]:
        return {"max_turns": turns}


class TestBluntToyFramework(TestToyFramework):
    """The same framework in another temper: raises where it could tell the model, and stops quietly."""

    max_turns_error = None

    def build_desk(self, canary: Canary) -> ToyAgent:
        return replace(super().build_desk(canary), blunt=True)
