"""A tool whose function a node imports while it runs, or reaches through this module."""

from langchain_core.tools import StructuredTool

from tests.adapters.langgraph.styles import HITS


def body(city: str) -> str:
    """Look a city up."""
    HITS["lookup"] += 1
    return f"REAL {city}"


def helper():
    return body("Oslo")


lookup = StructuredTool.from_function(body, name="lookup")
