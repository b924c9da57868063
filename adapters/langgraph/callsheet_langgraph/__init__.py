"""callsheet for LangGraph and LangChain agents."""

from callsheet_langgraph._adapter import LangGraphAdapter
from callsheet_langgraph._trajectory import GraphTrajectory

__all__ = ["GraphTrajectory", "LangGraphAdapter"]
