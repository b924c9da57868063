"""The scenario every adapter runs: what is asked, called, answered and said."""

from __future__ import annotations

from typing import Any

ASKED = "Two to Rome, please"
BOOKED = "DY1 is booked, and Rome is sunny."
FLIGHTS = [{"flight": "DY1", "price": 90}]
ITINERARY = {"booking": "B7", "legs": ["OSL", "FCO"]}


SEARCH = {"name": "search_flights", "args": {"origin": "Oslo", "destination": "Rome"}}
FORECAST = {"name": "forecast", "args": {"input": "Rome"}}
ITINERARY_CALL = {"name": "get_itinerary", "args": {"booking": "B7"}}
CANCEL = {"name": "cancel_booking", "args": {"booking": "B7"}}
UNMOCKED = {"search_flights": SEARCH, "cancel_booking": CANCEL, "get_forecast": FORECAST}

CALLED = ["search_flights", "forecast", "get_forecast", "book_flight", "get_itinerary"]


def _step(
    role: str, agent: str | None, content: Any, name: str | None = None, args: Any = None
) -> dict[str, Any]:
    return {"role": role, "name": name, "args": args, "content": content, "agent": agent}


TRAJECTORY = [
    _step("user", None, ASKED),
    _step("tool", "Desk", FLIGHTS, "search_flights", SEARCH["args"]),
    _step("tool", "Desk", "Sunny in Rome", "forecast", FORECAST["args"]),
    _step("tool", "Weather", {"sky": "sunny"}, "get_forecast", {"city": "Rome"}),
    _step("assistant", "Weather", "Sunny in Rome"),
    _step("tool", "Desk", "B7", "book_flight", {"flight": "DY1", "seats": 2}),
    _step("tool", "Desk", ITINERARY, "get_itinerary", {"booking": "B7"}),
    _step("assistant", "Desk", BOOKED),
]
