"""A chat model that stands where a provider's would: it binds tools, streams, and must never be asked."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool


class ProviderModel(BaseChatModel):
    """Binds tools as the providers' models do, and says "REAL" when asked."""

    model: str = "desk-model"
    default_headers: dict[str, str] | None = None

    @property
    def _llm_type(self):
        return "provider"

    def bind_tools(self, tools, *, tool_choice=None, **kwargs):
        bound = {"tools": [convert_to_openai_tool(tool) for tool in tools], **kwargs}
        if tool_choice is not None:
            bound["tool_choice"] = tool_choice
        return self.bind(**bound)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=AIMessage("REAL"))])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        yield ChatGenerationChunk(message=AIMessageChunk("REAL"))
