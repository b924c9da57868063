"""What the tests script a model with, and how they run a crew."""

from __future__ import annotations

import pytest

from callsheet_crewai import CrewAIAdapter

BOTH = pytest.mark.parametrize("native", [True, False], ids=["native", "text"])


def calls(name, *several, **args):
    """Give a reply that calls a tool, once or several times."""
    return {"tool_calls": [{"name": name, "args": each} for each in (several or (args,))]}


SEARCH = calls("search", q="rust")
DELEGATE = calls("delegate_work_to_coworker", coworker="Researcher", task="Find", context="none")


def run(what, model, *mocks, message=None, **options):
    return CrewAIAdapter(what, tools=mocks, model=model, **options).sync_invoke(message)
