"""Who answers a tool call, and what becomes of the attempt."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from types import TracebackType
from typing import Any, Literal, NoReturn, Self

from callsheet._errors import (
    InvalidArgumentsError,
    MockConfigError,
    ToolTimedOutError,
    UnmockedToolError,
    Violation,
    described,
)
from callsheet._mocks import MockTool, detached, snapshot
from callsheet._recording import CallRecord, Recording, RunRecord
from callsheet._requests import ToolRequest
from callsheet._server import MockMCPServer
from callsheet._suggest import listed


class ToolDesk:
    """The policy of one session about tools.

    Args:
        tools: The mocks.
        recording: Where calls are filed.
        unmocked: "error" refuses a tool without a mock, "real" lets it run.
        poison: Told of every violation.

    Raises:
        MockConfigError: `unmocked` is neither.
    """

    def __init__(
        self,
        tools: MockMCPServer,
        recording: Recording,
        *,
        unmocked: Literal["error", "real"],
        poison: Callable[[Violation], None],
    ) -> None:
        if unmocked not in ("error", "real"):
            raise MockConfigError(f'unmocked={unmocked!r} is not known. Give "error" or "real".')
        self._tools = tools
        self._recording = recording
        self.lets_real_run = unmocked == "real"
        self._poison = poison

    def begin(self, request: ToolRequest, run: RunRecord) -> ToolAttempt:
        """Decide who answers a call and file it.

        Raises:
            UnmockedToolError: Nobody may.
        """
        record = self._record_for(request, run)
        try:
            mock = self._tools.find(request.names, request.args)
        except Exception as error:  # noqa: BLE001 - a user's matcher may fail in any way
            why = f"when= of a mock of tool {request.name!r} failed on {request.args!r}: {described(error)}"
            self._deny(record, UnmockedToolError(f"{why}. Give values or matchers that compare."), error)
        if mock is None and not (self.lets_real_run or request.runs_unmocked):
            self._refuse(request, record)
        record.mocked = mock is not None and not mock.is_spy
        if mock is not None and mock.is_spy:
            mock.note(record.args)
        return ToolAttempt(request, run, record, mock if record.mocked else None, self._finished)

    def may_run(self, names: Collection[str]) -> bool:
        """Say whether a tool of these names could run for real."""
        if any(mock.is_spy and mock.name.rpartition(".")[2] in names for mock in self._tools):
            return True
        answered = any(mock.name in names and mock.when is None for mock in self._tools)
        return self.lets_real_run and not answered

    def _record_for(self, request: ToolRequest, run: RunRecord) -> CallRecord:
        record = self._recording.find_call(request.call_id, run)
        if record is None and request.call_id is None:
            record = run.next_unanswered(request.name)
        if record is None:
            call_id = request.call_id or self._recording.new_call_id(run, f"direct_{request.name}")
            record = self._recording.add_loose_call(run, CallRecord(call_id, request.name), request.order)
        record.attempts += 1
        record.kind = request.kind
        record.agent = request.agent if request.agent is not None else record.agent
        record.args = detached(request.args) if request.args is not None else record.args
        record.raw_args = request.raw_args if request.raw_args is not None else record.raw_args
        record.metadata.update(request.metadata or {})
        record.response = record.error = None
        return record

    def _refuse(self, request: ToolRequest, record: CallRecord) -> NoReturn:
        why = (
            f"No mock of tool {request.name!r} accepts {request.args!r}"
            if any(name in self._tools for name in request.names)
            else f"No mock for tool {request.name!r}"
        )
        by = f" (agent {request.agent!r})" if request.agent is not None else ""
        violation = UnmockedToolError(
            f"{why}{by}; mocked: {listed(self._tools.tool_names, nothing='nothing')}. "
            f'Add MockTool({request.name!r}, response=...) or pass unmocked="real".'
        )
        self._deny(record, violation)

    def _deny(
        self, record: CallRecord, violation: UnmockedToolError, cause: Exception | None = None
    ) -> NoReturn:
        record.outcome, record.error = "denied", str(violation)
        raise violation from cause

    def _finished(self, attempt: ToolAttempt, error: BaseException | None) -> None:
        if isinstance(error, Violation):
            self._poison(error)
        if attempt.mock is not None:
            record = attempt.record
            answer = {"result": record.response} if record.error is None else {"error": record.error}
            self._tools.call_log.append({"name": record.name, "args": attempt.record.args, **answer})


class ToolAttempt:
    """One run of a tool, as a context manager that files how it ended.

    Args:
        request: The call.
        run: The agent run it belongs to.
        record: Where it is filed.
        mock: Who answers, or None for the real tool.
        finished: Told of the end.
    """

    __slots__ = ("_begun", "_finished", "mock", "record", "request", "run")

    def __init__(
        self,
        request: ToolRequest,
        run: RunRecord,
        record: CallRecord,
        mock: MockTool | None,
        finished: Callable[[ToolAttempt, BaseException | None], None],
    ) -> None:
        self.request = request
        self.run = run
        self.record = record
        self.mock = mock
        self._finished = finished
        self._begun = 0.0

    def checked_args(self, mock: MockTool) -> dict[str, Any]:
        """Give the arguments a mock answers.

        Raises:
            InvalidArgumentsError: The schema does not accept them.
            ToolTimedOutError: The mock's delay is longer than the tool's timeout.
        """
        request, args = self.request, self.record.args
        if request.args is None or args is None:
            raise InvalidArgumentsError(f"The arguments are not a JSON object: {request.raw_args!r}")
        if request.check is not None:
            request.check()
        mock.check(request.args, schema=request.schema)
        if request.timeout is not None and mock.delay > request.timeout:
            mock.note(args)
            raise ToolTimedOutError(
                f"Tool {request.name!r} timed out after {request.timeout:g} seconds.",
                timeout=request.timeout,
            )
        return args

    def answered(self, answer: Any) -> Any:
        """Keep a mock's answer and give it in the shape of the real tool's.

        Raises:
            MockAnswerError: The real tool could not have returned it.
        """
        self.record.response = snapshot(answer)
        return answer if self.request.shape is None else self.request.shape(answer)

    def __enter__(self) -> Self:
        self._begun = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        record = self.record
        pretended = self.mock.pretended_delay if self.mock is not None else 0.0
        record.duration = time.perf_counter() - self._begun + pretended
        if error is None:
            record.outcome = "success"
        elif isinstance(error, self.request.control_flow):
            record.outcome = "interrupted"
        else:
            record.outcome = "invalid" if isinstance(error, InvalidArgumentsError) else "failed"
            record.error = str(error) or type(error).__name__
        self._finished(self, error)
