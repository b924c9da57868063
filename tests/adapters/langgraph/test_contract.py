"""The adapter contract, on a desk built with LangChain's own means."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import ToolException, tool
from langgraph.errors import GraphRecursionError
from langgraph.pregel import Pregel

from callsheet.testing import AdapterContract, Canary
from callsheet_langgraph import LangGraphAdapter
from tests.adapters.langgraph.models import ProviderModel

langchain_agents = __import__("langchain.agents", fromlist=["create_agent"])


def asked(message: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": message}]}


class TestLangGraph(AdapterContract):
    adapter_class = LangGraphAdapter
    max_turns_error = GraphRecursionError

    def build_desk(self, canary: Canary) -> Any:
        create_agent = langchain_agents.create_agent

        @tool
        def search_flights(origin: str, destination: str) -> list[dict[str, Any]]:
            """Search flights."""
            canary.hit("search_flights")
            return [{"flight": "REAL", "from": origin, "to": destination}]

        @tool
        async def book_flight(flight: str, seats: int) -> str:
            """Book a flight."""
            canary.hit("book_flight")
            return f"REAL {flight} {seats}"

        @tool
        def get_itinerary(booking: str) -> dict[str, Any]:
            """Get an itinerary."""
            canary.hit("get_itinerary")
            return {"real": booking}

        @tool
        def cancel_booking(booking: str) -> str:
            """Cancel a booking."""
            canary.hit("cancel_booking")
            raise ToolException(f"real failure for {booking}")

        cancel_booking.handle_tool_error = True

        @tool
        def get_forecast(city: str) -> dict[str, str]:
            """Get a forecast."""
            canary.hit("get_forecast")
            return {"sky": f"REAL {city}"}

        weather = create_agent(ProviderModel(model="weather-model"), [get_forecast], name="Weather")

        @tool
        def forecast(input: str) -> str:
            """Ask for a forecast."""
            state = weather.invoke({"messages": [{"role": "user", "content": input}]})
            return state["messages"][-1].content

        @tool
        def plan_trip(city: str) -> Any:
            """Plan a trip."""
            canary.hit("plan_trip")
            return canary.detour(lambda: self.run_native(weather, city)["messages"][-1].content)

        tools = [search_flights, book_flight, get_itinerary, cancel_booking, forecast, plan_trip]
        return create_agent(ProviderModel(), tools, name="Desk")

    def run_native(self, agent: Pregel, message: str) -> Any:
        return agent.invoke(asked(message))

    async def run_native_async(self, agent: Pregel, message: str) -> Any:
        return await agent.ainvoke(asked(message))

    def max_turns_options(self, turns: int) -> dict[str, Any]:
        return {"config": {"recursion_limit": 2 * turns}}

    def tool_failure(self, text: str) -> Exception:
        return ToolException(text)
