"""callsheet for LangGraph and LangChain agents."""

from callsheet_langgraph._adapter import LangGraphAdapter

__all__ = ["LangGraphAdapter"]
