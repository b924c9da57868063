"""callsheet for Pydantic AI."""

from callsheet_pydantic_ai._adapter import PydanticAIAdapter

__all__ = ["PydanticAIAdapter"]
