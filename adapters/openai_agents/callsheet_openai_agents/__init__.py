"""callsheet for the OpenAI Agents SDK."""

from callsheet_openai_agents._adapter import OpenAIAgentsAdapter

__all__ = ["OpenAIAgentsAdapter"]
