"""The grants desk of a foundation: an assessor and a clerk, in a flow that decides who hears what.

An application as one would write it with CrewAI. It knows nothing of callsheet.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

from crewai import LLM, Agent, Crew, Task
from crewai.flow.flow import Flow, listen, router, start
from crewai.tools import tool
from pydantic import BaseModel

API = "https://api.harrow-foundation.example"
LIMIT = 5000


class Verdict(BaseModel):
    """What the assessor decides."""

    application: str
    amount: int
    approved: bool
    reason: str


class Case(BaseModel):
    """The state of one case."""

    application: str = ""
    outcome: str = ""


def call_api(path: str, **payload: Any) -> Any:
    """Ask the foundation's records."""
    request = Request(f"{API}/{path}", json.dumps(payload).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=10) as answer:
        return json.load(answer)


@tool
def read_application(application: str) -> dict[str, Any]:
    """Read an application."""
    return call_api("applications", id=application)


@tool
def check_charity(number: str) -> dict[str, Any]:
    """Check a charity in the public register."""
    return call_api("register", number=number)


@tool
def pay_grant(application: str, amount: int) -> str:
    """Pay a grant."""
    return call_api("payments", application=application, amount=amount)


@tool
def send_letter(application: str, text: str) -> str:
    """Send a letter to an applicant."""
    return call_api("letters", application=application, text=text)


def build_crew() -> Crew:
    """Build the crew that assesses an application and answers the applicant."""
    llm = LLM(model="gpt-5-mini", provider="openai", api_key="from-the-environment")
    assessor = Agent(
        role="Assessor",
        goal="Decide applications fairly",
        backstory=f"You read before you judge, check the charity, and never approve more than {LIMIT}.",
        llm=llm,
        tools=[read_application, check_charity],
    )
    clerk = Agent(
        role="Clerk",
        goal="Carry out decisions",
        backstory="You pay what was approved, and only that, and then write to the applicant.",
        llm=llm,
        tools=[pay_grant, send_letter],
    )
    assess = Task(
        description="Assess application {application}",
        expected_output="A verdict",
        agent=assessor,
        output_pydantic=Verdict,
    )
    settle = Task(
        description="Carry the verdict on application {application} out",
        expected_output="What was done",
        agent=clerk,
        context=[assess],
    )
    return Crew(agents=[assessor, clerk], tasks=[assess, settle])


class GrantFlow(Flow[Case]):
    """Takes an application in, has the crew decide it, and calls a person for what is beyond the desk."""

    @start()
    def take_in(self) -> dict[str, Any]:
        """Read the application before any agent does."""
        return read_application.run(application=self.state.application)

    @router(take_in)
    def triage(self, application: dict[str, Any]) -> str:
        """Keep large sums for people."""
        return "person" if application["amount"] > LIMIT else "crew"

    @listen("crew")
    def decide(self) -> str:
        """Let the crew decide."""
        self.state.outcome = build_crew().kickoff(inputs={"application": self.state.application}).raw
        return self.state.outcome

    @listen("person")
    def call_a_person(self) -> str:
        """Leave it to the board."""
        self.state.outcome = "The board decides."
        return self.state.outcome
