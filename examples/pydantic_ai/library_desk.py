"""The desk of a public library: finds books, reserves them, and asks a specialist about old prints.

An application as one would write it with Pydantic AI. It knows nothing of callsheet.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

LOAN_LIMIT = 5


class Catalogue(Protocol):
    """What the desk asks of the library's systems."""

    def search(self, words: str) -> list[dict[str, Any]]:
        """Find titles."""

    def reserve(self, isbn: str, card: str, pick_up: date) -> str:
        """Put a copy aside and give the number of the reservation."""

    def loans(self, card: str) -> int:
        """Count the loans of a card."""

    def provenance(self, signature: str) -> dict[str, Any]:
        """Look an old print up."""


@dataclass
class Visitor:
    """Who stands at the desk, and the systems behind it."""

    card: str
    catalogue: Catalogue


class Reservation(BaseModel):
    """What the desk hands over in the end."""

    number: str
    title: str
    pick_up: date
    note: str = Field(default="", description="Something the visitor should know.")


archivist = Agent(
    "openai:gpt-5-mini",
    name="Archivist",
    deps_type=Visitor,
    instructions="You know old prints. Name the year and the printer, in one sentence.",
    defer_model_check=True,
)


@archivist.tool
def look_up_print(ctx: RunContext[Visitor], signature: str) -> dict[str, Any]:
    """Look an old print up by its signature."""
    return ctx.deps.catalogue.provenance(signature)


books: FunctionToolset[Visitor] = FunctionToolset()


@books.tool
def search(ctx: RunContext[Visitor], words: str) -> list[dict[str, Any]]:
    """Search the catalogue."""
    found = ctx.deps.catalogue.search(words)
    if not found:
        raise ModelRetry(f"Nothing matches {words!r}. Try fewer words.")
    return found


@books.tool
def reserve(ctx: RunContext[Visitor], isbn: str, pick_up: date) -> str:
    """Reserve a copy for a day."""
    if ctx.deps.catalogue.loans(ctx.deps.card) >= LOAN_LIMIT:
        raise ModelRetry(f"The card has {LOAN_LIMIT} loans already. Tell the visitor to bring one back.")
    return ctx.deps.catalogue.reserve(isbn, ctx.deps.card, pick_up)


desk = Agent(
    "openai:gpt-5",
    name="Desk",
    deps_type=Visitor,
    output_type=[Reservation, str],
    toolsets=[books.prefixed("books")],
    instructions="Search before you reserve. Ask the archivist about anything printed before 1800.",
    retries=2,
    defer_model_check=True,
)


@desk.tool
async def ask_archivist(ctx: RunContext[Visitor], question: str) -> str:
    """Ask the archivist about an old print."""
    answer = await archivist.run(question, deps=ctx.deps, usage=ctx.usage)
    return answer.output


@desk.output_validator
def in_opening_days(output: Reservation | str) -> Reservation | str:
    """Keep reservations to the days the library is open."""
    if isinstance(output, Reservation) and output.pick_up.weekday() == 6:
        raise ModelRetry("The library is closed on Sundays. Choose another day.")
    return output


async def serve(message: str, visitor: Visitor) -> Reservation | str:
    """Answer one visitor."""
    return (await desk.run(message, deps=visitor)).output
