"""Compares what an agent did with what it did when the snapshot was taken."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callsheet._artifact_files import confined, write_new, write_whole
from callsheet._errors import ArtifactError, OptionError
from callsheet._redaction import redact
from callsheet._result import AgentResult
from callsheet._snapshot_codec import KEEP, encode, shown
from callsheet._snapshot_codec import Path as ValuePath
from callsheet._snapshot_diff import described, differences
from callsheet._snapshot_volatile import normalized
from callsheet._values import ToolCall

DIRECTORY = ".callsheet_snapshots"
UPDATE_VARIABLE = "CALLSHEET_UPDATE"
_SUFFIX = ".json"
_NO = frozenset(["", "0", "false", "no", "off"])


@dataclass
class SnapshotRun:
    """What a test run does with snapshots, and what it did; the pytest plugin sets and reads it.

    Args:
        update: Write every snapshot anew instead of comparing.
        directory: Where snapshots live that name no directory; None means beside the current directory.
        directories: Those somebody asserted in.
        used: The files that were asserted on.
        created: The files that did not exist before.
        updated: The files whose content changed.
    """

    update: bool = False
    directory: Path | None = None
    directories: set[Path] = field(default_factory=set)
    used: set[Path] = field(default_factory=set)
    created: set[Path] = field(default_factory=set)
    updated: set[Path] = field(default_factory=set)
    _claimed: dict[Path, str] = field(default_factory=dict)

    def unused(self) -> list[Path]:
        """Give the snapshots nobody asserted on, in every directory somebody asserted in."""
        found = {path for directory in self.directories for path in directory.rglob(f"*{_SUFFIX}")}
        return sorted(found - self.used)

    def claim(self, path: Path, name: str, text: str) -> None:
        """Note what an update makes of a snapshot.

        Raises:
            AssertionError: If this run makes something else of it already.
        """
        __tracebackhide__ = True
        if self._claimed.setdefault(path, text) != text:
            raise AssertionError(
                f"Snapshot {name!r} is asserted on twice in this run, with different content. "
                "Give each its own name."
            )

    def write(self, path: Path, text: str) -> None:
        """Write a snapshot anew."""
        existed = path.exists()
        write_whole(path, text)
        (self.updated if existed else self.created).add(path)


run = SnapshotRun()


def assert_snapshot(
    result: Any,
    name: str,
    snapshot_dir: str | os.PathLike[str] | None = None,
    update: bool | None = None,  # noqa: FBT001
    include_tool_calls: bool = True,  # noqa: FBT001, FBT002
    include_model: bool = False,  # noqa: FBT001, FBT002
    *,
    matchers: Mapping[str, Any] | None = None,
    normalize: bool = True,
) -> None:
    """Assert that a run is what the snapshot of that name says; take the snapshot if there is none.

    A missing snapshot fails when the environment variable CI is set. `CALLSHEET_UPDATE=1` and pytest's
    `--callsheet-update` write every snapshot anew. Secrets are redacted before anything is compared or
    written; random ids, the time of the run, measured durations and memory addresses are replaced by
    what they are.

    Args:
        result: An AgentResult, a session, tool calls, or any value.
        name: The name of the file, without ending; "/" makes subdirectories.
        snapshot_dir: The directory, `.callsheet_snapshots` when omitted.
        update: True writes the snapshot; False compares only and never writes.
        include_tool_calls: Keep name, args, response and error of each call.
        include_model: Keep the name of the model.
        matchers: For parts that vary, the path ("tool_calls[0].args.id"; "*" stands for any one step)
            and the matcher its value must equal.
        normalize: Replace volatile values; False compares them as they are.

    Raises:
        AssertionError: If the run differs, the snapshot is missing and may not be taken, or a matcher
            does not match.
        ArtifactError: If a value has no written form, or the file can not be read or written.
        OptionError: If the name or a matcher's path can not be used.
    """
    __tracebackhide__ = True
    directory = _directory(snapshot_dir)
    path = confined(directory, name, _SUFFIX)
    varying = _Varying(matchers or {})
    parts, ids = _parts(result, tool_calls=include_tool_calls, model=include_model)
    tree = encode(parts, varying.substitute)
    varying.check(name)
    exact = redact(tree)
    actual = normalized(exact, ids) if normalize else exact

    run.directories.add(directory)
    run.used.add(path)
    if _updates(update=update):
        run.claim(path, name, _text(actual))
        if not _holds(path, actual, exact):
            run.write(path, _text(actual))
        return
    if not path.exists():
        _take(path, name, actual, may_write=update is not False)
    found = differences(_read(path), actual, exact)
    if found:
        raise AssertionError(
            f"Snapshot {name!r} differs from this run (- snapshot, + run):\n{described(found)}\n"
            f"If the run is right, accept it with {UPDATE_VARIABLE}=1 or pytest --callsheet-update.\n{path}"
        )


class _Varying:
    """The matchers of a snapshot, by the path of the values they stand for."""

    def __init__(self, matchers: Mapping[str, Any]) -> None:
        self._matchers = {_steps(text): (text, matcher) for text, matcher in matchers.items()}
        self._met: set[str] = set()
        self._wrong: dict[str, str] = {}

    def substitute(self, path: ValuePath, value: Any) -> Any:
        for steps, (text, matcher) in self._matchers.items():
            if len(steps) == len(path) and all(
                step in ("*", str(actual)) for step, actual in zip(steps, path, strict=True)
            ):
                self._met.add(text)
                if not matcher == value:  # noqa: SIM201 - matchers define equality, not inequality
                    self._wrong[shown(path)] = f"{redact(value)!r:.200} is not {matcher!r:.200}"
                # Not the repr: dirty-equals objects show what they matched last.
                return {"$matches": getattr(matcher, "__name__", type(matcher).__name__)}
        return KEEP

    def check(self, name: str) -> None:
        __tracebackhide__ = True
        missing = [text for text, _ in self._matchers.values() if text not in self._met]
        if missing:
            raise OptionError(
                f"matchers={{{missing[0]!r}: ...}} names nothing in snapshot {name!r}; "
                'paths look like "tool_calls[0].args.id" or "tool_calls[*].response".'
            )
        if self._wrong:
            lines = "\n".join(f"  {path}: {problem}" for path, problem in self._wrong.items())
            raise AssertionError(f"Snapshot {name!r}: values that do not match their matchers:\n{lines}")


def _steps(text: str) -> tuple[str, ...]:
    steps = text.replace("[", ".").replace("]", "").split(".")
    return tuple(step.strip("'\"") for step in steps if step)


def _parts(result: Any, *, tool_calls: bool, model: bool) -> tuple[Any, list[str]]:
    found = getattr(result, "result", result)
    if isinstance(found, AgentResult):
        parts: dict[str, Any] = {"response": found.response}
        if found.error is not None:
            parts["error"] = found.error
        if tool_calls:
            parts["tool_calls"] = [call.to_dict() for call in found.tool_calls]
        if model:
            parts["model_used"] = found.model_used
        return parts, [call.id for call in found.tool_calls if call.id]
    if isinstance(result, (list, tuple)) and result and all(isinstance(item, ToolCall) for item in result):
        return {"tool_calls": [call.to_dict() for call in result]}, [call.id for call in result if call.id]
    return result, []


def _directory(snapshot_dir: str | os.PathLike[str] | None) -> Path:
    if snapshot_dir is not None:
        return Path(snapshot_dir).absolute()
    return (run.directory or Path.cwd()) / DIRECTORY


def _updates(*, update: bool | None) -> bool:
    if update is not None:
        return update
    return run.update or _is_set(UPDATE_VARIABLE)


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").strip().lower() not in _NO


def _text(tree: Any) -> str:
    return json.dumps(tree, ensure_ascii=False, indent=2) + "\n"


def _holds(path: Path, actual: Any, exact: Any) -> bool:
    try:
        return path.exists() and not differences(_read(path), actual, exact)
    except ArtifactError:
        return False


def _take(path: Path, name: str, tree: Any, *, may_write: bool) -> None:
    __tracebackhide__ = True
    if not may_write or _is_set("CI"):
        why = "CI is set, so it is not taken here" if may_write else "update=False never takes one"
        raise AssertionError(
            f"Snapshot {name!r} does not exist ({path}): {why}. "
            "Run the test once on your machine and commit the file."
        )
    if write_new(path, _text(tree)):
        run.created.add(path)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ArtifactError(
            f"{path} is not a snapshot any more ({error}); an unfinished merge? Restore the file, or take it "
            f"anew with {UPDATE_VARIABLE}=1."
        ) from None
    except OSError as error:
        raise ArtifactError(f"Can not read {path}: {error.strerror or error}.") from error
