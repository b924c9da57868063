"""The service desk of a ferry line: triage, bookings and refunds.

An application as one would write it with the OpenAI Agents SDK. It knows nothing of callsheet.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

from agents import (
    Agent,
    Runner,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    function_tool,
    tool_input_guardrail,
)
from pydantic import BaseModel

API = "https://api.northline-ferries.example"
REFUND_LIMIT = 200


class Confirmation(BaseModel):
    """What the booking desk answers with."""

    reference: str
    sailing: str
    passengers: int
    total: float


def call_api(path: str, **payload: Any) -> Any:
    """Ask the booking system."""
    request = Request(f"{API}/{path}", json.dumps(payload).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=10) as answer:
        return json.load(answer)


@function_tool
def find_customer(email: str) -> dict[str, Any]:
    """Find a customer by e-mail address."""
    return call_api("customers", email=email)


@function_tool
def search_sailings(origin: str, destination: str, day: str) -> list[dict[str, Any]]:
    """List the sailings of a day, with their prices per passenger."""
    return call_api("sailings", origin=origin, destination=destination, day=day)


@function_tool
async def book_sailing(sailing: str, passengers: int) -> dict[str, Any]:
    """Book seats on a sailing."""
    return call_api("bookings/new", sailing=sailing, passengers=passengers)


@function_tool
def get_booking(reference: str) -> dict[str, Any]:
    """Look a booking up."""
    return call_api("bookings", reference=reference)


@tool_input_guardrail
def within_limit(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    """Keep large refunds for people."""
    amount = json.loads(data.context.tool_arguments).get("amount", 0)
    if amount > REFUND_LIMIT:
        return ToolGuardrailFunctionOutput.reject_content(f"Refunds over {REFUND_LIMIT} need a person.")
    return ToolGuardrailFunctionOutput.allow()


@function_tool(tool_input_guardrails=[within_limit])
def issue_refund(reference: str, amount: float) -> str:
    """Pay money back for a booking."""
    return call_api("refunds", reference=reference, amount=amount)


@function_tool
def escalate(reference: str, reason: str) -> str:
    """Put a case before a person."""
    return call_api("cases", reference=reference, reason=reason)


bookings = Agent(
    name="Bookings",
    model="gpt-5-mini",
    instructions="Search sailings before you book. Never book without a day and a number of passengers.",
    handoff_description="Books sailings.",
    tools=[search_sailings, book_sailing],
    output_type=Confirmation,
)
refunds = Agent(
    name="Refunds",
    model="gpt-5-mini",
    instructions=f"Look the booking up before you refund. Escalate what is over {REFUND_LIMIT}.",
    handoff_description="Refunds cancelled sailings.",
    tools=[get_booking, issue_refund, escalate],
)
triage = Agent(
    name="Triage",
    model="gpt-5-nano",
    instructions="Find the customer, then hand over. Ask when it is unclear what they want.",
    tools=[find_customer],
    handoffs=[bookings, refunds],
)


async def answer(message: str) -> Any:
    """Answer one message of a customer."""
    result = await Runner.run(triage, message)
    return result.final_output
