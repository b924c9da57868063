"""One model call in a session: what is asked, what is answered, and what is filed of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from crewai.events.types.llm_events import LLMCallType
from crewai.llms import base_llm
from crewai.utilities.string_utils import sanitize_tool_name

from callsheet.adapters import ModelReply, ModelRequest, RunRecord, Scope, ScriptError, Session, Usage
from callsheet_crewai._abort import aborting, stop_if_over
from callsheet_crewai._places import run_of
from callsheet_crewai._replies import recorded, said, scripted_calls, spoken, structured
from callsheet_crewai._streaming import is_streamed, words


@dataclass(frozen=True)
class ModelCall:
    """One model call in a session.

    Args:
        llm: The model.
        session: The session.
        run: The run that asks.
        given: The arguments of the call, by name.
    """

    llm: Any
    session: Session
    run: RunRecord
    given: dict[str, Any]

    @property
    def agent(self) -> str | None:
        """The role of the agent that asks; CrewAI does not say it for a converter's call, for one."""
        role = getattr(self.given.get("from_agent"), "role", None)
        return role.strip() if isinstance(role, str) else self.run.agent

    @property
    def messages(self) -> list[Any]:
        """What is said to the model."""
        messages = self.given["messages"]
        return [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)

    @property
    def source(self) -> dict[str, Any]:
        """Who asks, as CrewAI's events tell it."""
        return {name: self.given.get(name) for name in ("from_task", "from_agent")}

    def request(self) -> ModelRequest:
        """Give the request as a script sees it."""
        messages, tools = [dict(message) for message in self.messages], self.given.get("tools")
        headers = {**(getattr(self.llm, "default_headers", None) or {}), **self.session.headers}
        return ModelRequest(
            messages=messages,
            tools=lambda: [_described(tool) for tool in tools or ()],
            agent=self.agent,
            model=str(self.llm.model),
            headers=headers,
            turn=self.run.turns,
        )

    def reply(self) -> ModelReply:
        """Give the scripted reply."""
        with aborting(), _no_stop_iteration():
            return self.session.answer_model(self.request())

    async def reply_async(self) -> ModelReply:
        """Give the scripted reply, on the running event loop."""
        with aborting(), _no_stop_iteration():
            return await self.session.answer_model_async(self.request())

    def answer(self, reply: ModelReply) -> Any:
        """File a scripted reply and say it, with the events CrewAI's own models send."""
        llm, given = self.llm, self.given
        with base_llm.llm_call_context():
            llm._emit_call_started_event(messages=self.messages, tools=given.get("tools"), **self.source)
            with aborting():
                answer = self._spoken(reply)
            usage = reply.usage or Usage(requests=1)
            self.file(said(reply), scripted_calls(reply, self.agent), usage)
            llm._track_token_usage_internal(_counts(usage))
            answer = self._structured(reply, answer)
            if is_streamed(llm) and isinstance(answer, str):
                for chunk in words(answer):
                    llm._emit_stream_chunk_event(chunk=chunk, **self.source)
            kind = LLMCallType.TOOL_CALL if reply.tool_calls else LLMCallType.LLM_CALL
            llm._emit_call_completed_event(
                response=answer, call_type=kind, messages=self.messages, **self.source
            )
        return self._function_result(reply, answer)

    def _spoken(self, reply: ModelReply) -> Any:
        try:
            return spoken(reply, agent=self.agent, tools=self.given.get("tools"), messages=self.messages)
        except ScriptError as error:
            self.session.poison(error)
            raise

    def _structured(self, reply: ModelReply, answer: Any) -> Any:
        wanted = self.given.get("response_model")
        if wanted is None or reply.native or reply.tool_calls:
            return answer
        try:
            return structured(said(reply), wanted)
        except ValueError as error:
            self.llm._emit_call_failed_event(error=str(error), **self.source)
            raise

    def _function_result(self, reply: ModelReply, answer: Any) -> Any:
        """Run the function the model called where the caller gave it functions to run, as its LLM would."""
        functions = self.given.get("available_functions")
        if not functions or not isinstance(answer, list) or not reply.tool_calls:
            return answer
        call = reply.tool_calls[0]
        name = sanitize_tool_name(call.name)
        return self.llm._handle_tool_execution(name, call.args or {}, functions, *self.source.values())

    def record(self, model: Any, before: tuple[int, int], answer: Any) -> Any:
        """File what a real model answered; `before` is what it had counted until then."""
        after = usage_of(model)
        content, calls = recorded(
            answer,
            self.messages,
            self.agent,
            lambda: self.session.recording.new_call_id(self.run, f"{self.run.turns}_0"),
        )
        self.file(content, calls, Usage(1, after[0] - before[0], after[1] - before[1]))
        return answer

    def file(self, content: Any, calls: list[Any], usage: Usage) -> None:
        """File a reply."""
        offered = self.given.get("tools")
        if offered:
            self.run.offered = frozenset(sanitize_tool_name(_described(tool)["name"]) for tool in offered)
        self.session.recording.add_reply(
            self.run, agent=self.agent, content=content, calls=calls, usage=usage
        )


def model_call(scope: Scope, llm: Any, given: dict[str, Any]) -> ModelCall:
    """Give the call of a model that code in a session makes."""
    session = scope.session
    stop_if_over(session, "A model call")
    call = ModelCall(llm, session, run_of(scope), given)
    if session.model is None:
        session.note_request(call.request())
    return call


def usage_of(model: Any) -> tuple[int, int]:
    """Give the tokens a model has counted so far."""
    counted = getattr(model, "_token_usage", None) or {}
    return counted.get("prompt_tokens", 0), counted.get("completion_tokens", 0)


def _described(tool: Any) -> dict[str, Any]:
    function = tool.get("function", tool)
    return {
        "name": function.get("name", ""),
        "description": function.get("description", ""),
        "parameters": function.get("parameters", {}),
    }


def _counts(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }


@contextmanager
def _no_stop_iteration() -> Iterator[None]:
    """CrewAI waits forever for a task that ends in one, such as a script written with `next()`."""
    try:
        yield
    except StopIteration:
        # Caused by it, the error would count as Python's own and become a StopIteration again.
        raise RuntimeError("The script raised StopIteration: a callable in it ran out of items.") from None
