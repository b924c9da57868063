"""Gemini `generateContent` and `streamGenerateContent`, in the wire's names or the SDK's.

Shapes: `google.genai.types.GenerateContentResponse`.
"""

from __future__ import annotations

from collections.abc import Mapping

from callsheet._parsing._gemini_args import PartialArguments
from callsheet._parsing._members import Data, count, integer, is_list, mapping, mappings, member, text
from callsheet._parsing._reply import CallDraft, Reply
from callsheet._parsing._transcript import Transcript

_PROMPT_FEEDBACK = ("promptFeedback", "prompt_feedback")
_USAGE = ("usageMetadata", "usage_metadata")


def looks_like_gemini(event: Data) -> bool:
    """Tell whether an object is a response or a chunk of one."""
    if is_list(event.get("candidates")):
        return True
    return bool(mapping(event, *_PROMPT_FEEDBACK) or mapping(event, *_USAGE))


def looks_like_part(item: Data) -> bool:
    """Tell whether an object is a content part that no other format has."""
    if text(item, "type") or text(item, "role"):
        return False
    return bool(mapping(item, "functionCall", "function_call"))


class Contents:
    """Reads Gemini responses."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._partial: dict[int, tuple[CallDraft, PartialArguments]] = {}
        self._hosted: dict[str, CallDraft] = {}

    def feed(self, event: Data) -> bool:
        """Read a response or a chunk; tell whether it was one."""
        if not looks_like_gemini(event):
            return False
        response_id = text(event, "responseId", "response_id")
        if self._transcript.turn.finished and response_id not in ("", self._transcript.response_id):
            self._transcript.begin_turn()
        self._transcript.identify(model=text(event, "modelVersion", "model_version"), response_id=response_id)
        for place, candidate in enumerate(mappings(event, "candidates")):
            number = integer(candidate.get("index"))
            self._read_candidate(candidate, place if number is None else number)
        self._read_feedback(mapping(event, *_PROMPT_FEEDBACK))
        self._count(mapping(event, *_USAGE))
        return True

    def _read_candidate(self, candidate: Data, number: int) -> None:
        reply = self._transcript.reply(number)
        for part in mappings(mapping(candidate, "content"), "parts"):
            self._read_part(part, reply, number)
        reason = text(candidate, "finishReason", "finish_reason")
        if reason != "FINISH_REASON_UNSPECIFIED":
            reply.finish(reason)
        message = text(candidate, "finishMessage", "finish_message")
        if message:
            self._transcript.details["finish_message"] = message

    def _read_feedback(self, feedback: Data) -> None:
        reason = text(feedback, "blockReason", "block_reason")
        if reason:
            reply = self._transcript.reply()
            reply.refusal.replace(text(feedback, "blockReasonMessage", "block_reason_message") or reason)
            reply.finish(reason)

    def _count(self, usage: Data) -> None:
        if usage:
            turn = self._transcript.turn
            turn.input_tokens = count(usage, "promptTokenCount", "prompt_token_count") + count(
                usage, "toolUsePromptTokenCount", "tool_use_prompt_token_count"
            )
            turn.output_tokens = count(usage, "candidatesTokenCount", "candidates_token_count") + count(
                usage, "thoughtsTokenCount", "thoughts_token_count"
            )

    def _read_part(self, part: Data, reply: Reply, number: int) -> None:
        (reply.reasoning if part.get("thought") is True else reply.text).add(part.get("text"))
        if code := mapping(part, "executableCode", "executable_code"):
            self._read_code(code, reply)
        if code_result := mapping(part, "codeExecutionResult", "code_execution_result"):
            self._read_code_result(code_result)
        if tool_call := mapping(part, "toolCall", "tool_call"):
            self._read_tool_call(tool_call, reply)
        if tool_response := mapping(part, "toolResponse", "tool_response"):
            self._read_tool_response(tool_response)
        # An empty call is what ends one whose arguments were streamed.
        call = member(part, "functionCall", "function_call")
        if isinstance(call, Mapping):
            self._read_function_call(call, reply, number)

    def _read_function_call(self, call: Data, reply: Reply, number: int) -> None:
        pieces = mappings(call, "partialArgs", "partial_args")
        unfinished = member(call, "willContinue", "will_continue") is True
        draft, partial = self._partial.get(number) or (reply.call(), PartialArguments())
        if text(call, "name") not in ("", draft.name) and draft.name:
            draft, partial = reply.call(), PartialArguments()
        draft.set_name(call.get("name"))
        draft.identify(call.get("id"))
        draft.put(call.get("args"))
        for piece in pieces:
            draft.write(partial.add(piece))
        if unfinished:
            self._partial[number] = draft, partial
        else:
            self._partial.pop(number, None)
            draft.closed = True
            if partial.pieces:
                draft.put(partial.value())

    def _read_code(self, code: Data, reply: Reply) -> None:
        draft = _hosted_call(reply, "code_execution", code)
        draft.put({name: code[name] for name in ("language", "code") if code.get(name) is not None})
        self._hosted[text(code, "id")] = self._hosted["code"] = draft

    def _read_code_result(self, result: Data) -> None:
        draft = self._hosted.get(text(result, "id")) or self._hosted.get("code")
        if draft is None:
            return
        if result.get("outcome") in ("OUTCOME_OK", None):
            draft.answer(result.get("output"))
        else:
            draft.fail(text(result, "output") or text(result, "outcome"))

    def _read_tool_call(self, call: Data, reply: Reply) -> None:
        draft = _hosted_call(reply, text(call, "toolType", "tool_type").lower(), call)
        draft.put(call.get("args"))
        self._hosted[text(call, "id")] = draft

    def _read_tool_response(self, response: Data) -> None:
        draft = self._hosted.get(text(response, "id"))
        if draft is not None:
            draft.answer(response.get("response"))


def _hosted_call(reply: Reply, name: str, call: Data) -> CallDraft:
    draft = reply.call()
    draft.kind, draft.closed = "hosted", True
    draft.set_name(name)
    draft.identify(call.get("id"))
    return draft
