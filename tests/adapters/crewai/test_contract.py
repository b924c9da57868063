"""The adapter contract, on a desk built with CrewAI's own means."""

from __future__ import annotations

from typing import Any

from crewai import LLM, Agent
from crewai.tools import tool
from crewai.tools.base_tool import BaseTool

from callsheet import FakeModel, MockTool
from callsheet.testing import AdapterContract, Canary
from callsheet_crewai import CrewAIAdapter


class TestCrewAI(AdapterContract):
    adapter_class = CrewAIAdapter
    model_name = "desk-model"
    # CrewAI knows agents as tools only within a crew; here a tool's body runs one.
    allowed = (MockTool.spy("forecast"),)
    # A CrewAI agent's run costs 20 ms of the framework's own.
    concurrent_runs = 20
    concurrent_threads = 8

    def build_desk(self, canary: Canary) -> Agent:
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

        class GetItinerary(BaseTool):
            name: str = "get_itinerary"
            description: str = "Get an itinerary."

            def _run(self, booking: str) -> dict[str, Any]:
                canary.hit("get_itinerary")
                return {"real": booking}

        @tool
        def cancel_booking(booking: str) -> str:
            """Cancel a booking."""
            canary.hit("cancel_booking")
            raise RuntimeError(f"real failure for {booking}")

        @tool
        def get_forecast(city: str) -> dict[str, str]:
            """Get a forecast."""
            canary.hit("get_forecast")
            return {"sky": f"REAL {city}"}

        weather = agent("Weather", "weather-model", [get_forecast])

        @tool
        def forecast(input: str) -> str:
            """Ask for a forecast."""
            return self.run_native(weather, input)

        @tool
        def plan_trip(city: str) -> Any:
            """Plan a trip."""
            canary.hit("plan_trip")
            return canary.detour(lambda: self.run_native(weather, city))

        tools = [search_flights, book_flight, GetItinerary(), cancel_booking, forecast, plan_trip]
        return agent("Desk", self.model_name, tools)

    def run_native(self, agent: Agent, message: str) -> Any:
        return agent.kickoff(message).raw

    async def run_native_async(self, agent: Agent, message: str) -> Any:
        return (await agent.kickoff_async(message)).raw

    def max_turns_options(self, turns: int) -> dict[str, Any]:
        raise NotImplementedError("In CrewAI the limit is the agent's, not the run's.")

    def user_said(self, messages: list[dict[str, Any]]) -> list[str]:
        told = [message["content"] for message in messages if message["role"] == "user"]
        # The current request has a prompt around it; CrewAI 1.15.3 tells the whole history as one request.
        lines = [line.removeprefix("Current Task: ") for content in told for line in content.splitlines()]
        return [
            line for line in lines if line and line not in ("Where to?", "Provide your complete response:")
        ]

    def test_stopped_run_keeps_its_trajectory(self, desk: Agent, canary: Canary) -> None:
        desk.max_iter = 2
        calls = [
            {"name": "search_flights", "args": {"origin": o, "destination": "Rome"}}
            for o in ("Oslo", "Bergen")
        ]
        model = FakeModel(agents={"Desk": [*({"tool_calls": [call]} for call in calls), "I had to stop"]})
        adapter = self.adapter_class(desk, tools=[MockTool("search_flights", response=[])], model=model)
        result = adapter.sync_invoke("Two to Rome, please")
        assert result.tool_names == ["search_flights"] * 2
        assert result.response == "I had to stop"
        assert not canary.hits


def agent(role: str, model: str, tools: list[Any]) -> Agent:
    llm = LLM(model=model, provider="openai", api_key="none")
    return Agent(role=role, goal="Help travellers", backstory="Works at a desk", llm=llm, tools=tools)
