"""One run of one agent inside a session, shared by everything that takes part in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from callsheet.adapters import CallRecord, RunRecord, Session


@dataclass(eq=False)
class ActiveRun:
    """A run that is going on.

    Args:
        session: The session it belongs to.
        record: Where it is filed.
        model: The model the session puts in the place of the agent's, or None.
        configured_model: The name of the model the agent is configured with, or None.
        capability: The root of the run's capabilities, once they are known.
        graph_run: The framework's own run, once it has begun.
        beneath: The names of the tools that the session stands right before.
        externals: The definitions of the tools whose answers come from outside, by name.
    """

    session: Session
    record: RunRecord
    model: Any = None
    configured_model: str | None = None
    capability: Any = None
    graph_run: Any = None
    beneath: set[str] = field(default_factory=set)
    externals: dict[str, Any] = field(default_factory=dict)
    _filed: dict[str, str] = field(default_factory=dict)
    _ahead: set[str] = field(default_factory=set)

    def id_for_asked(self, call_id: str) -> str:
        """Give the id to file a call under that a model reply asks for.

        Models for tests repeat ids from run to run and from reply to reply; records must not share one.
        """
        if call_id in self._ahead:
            self._ahead.discard(call_id)
            return self._filed[call_id]
        recording = self.session.recording
        known = recording.find_call(call_id) is not None
        self._filed[call_id] = recording.new_call_id(self.record, call_id) if known else call_id
        return self._filed[call_id]

    def id_for_running(self, call_id: str) -> str:
        """Give the id under which a call that is about to run is filed, or will be."""
        if call_id not in self._filed:
            if self.session.recording.find_call(call_id) is None:
                # A stream runs an output function before its reply is complete and filed.
                self._ahead.add(call_id)
            self._filed[call_id] = call_id
        return self._filed[call_id]

    def find_call(self, call_id: str | None) -> CallRecord | None:
        """Give the record of a call by the framework's id, those of earlier runs included."""
        if call_id is None:
            return None
        return self.session.recording.find_call(self._filed.get(call_id, call_id))

    def finish(self, output: Any) -> None:
        """Note the final output, where the run is one of the test's own."""
        if self.record.parent is None:
            native = self.graph_run if self.graph_run.result is None else self.graph_run.result
            self.session.finish(response=_text(output), output=output, native=native)


def _text(output: Any) -> str:
    if output is None or isinstance(output, str):
        return output or ""
    return to_json(output, fallback=str).decode()
