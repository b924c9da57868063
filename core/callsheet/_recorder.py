"""`Recorder`: keeps what agents did, and writes it to files for reading and debugging."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from weakref import WeakValueDictionary

from callsheet._artifact_files import confined, file_safe, write_whole
from callsheet._errors import OptionError
from callsheet._redaction import redact, redact_text
from callsheet._result import AgentResult
from callsheet._snapshot_codec import encode
from callsheet._suggest import listed

# Files this process exported, and which recorder owns each: two recorders never share one.
_exported: WeakValueDictionary[Path, Recorder] = WeakValueDictionary()


class Recorder:
    """Results, kept in order. In memory they are as they were; files are redacted."""

    __module__ = "callsheet"

    def __init__(self) -> None:
        self._recordings: list[dict[str, Any]] = []

    def record(self, result: AgentResult, label: str | None = None) -> dict[str, Any]:
        """Keep a result and give its recording: every field of it as plain data, and the label.

        Args:
            result: An AgentResult, or a session.
            label: A name for people, and for the file.

        Raises:
            OptionError: If it is neither.
        """
        found = getattr(result, "result", result)
        if not isinstance(found, AgentResult):
            raise OptionError(f"{type(result).__name__} is no AgentResult; record what invoke() gave.")
        recording = {"label": label, **found.to_dict()}
        self._recordings.append(recording)
        return recording

    @property
    def recordings(self) -> list[dict[str, Any]]:
        """Every recording, in order."""
        return list(self._recordings)

    @property
    def count(self) -> int:
        """The number of recordings."""
        return len(self._recordings)

    def get(self, index: int) -> dict[str, Any]:
        """Give one recording by its position.

        Args:
            index: The position, from 0; negative counts from the last.

        Raises:
            IndexError: If there are not that many.
        """
        try:
            return self._recordings[index]
        except IndexError:
            raise IndexError(f"No recording {index}; there are {self.count}.") from None

    def export(
        self, directory: str | os.PathLike[str], format: Literal["json", "yaml"] = "json"
    ) -> list[Path]:
        """Write one file per recording, secrets redacted, and give the files.

        A file is named by position and label, and by the worker under pytest-xdist; exporting again
        writes the same files.

        Args:
            directory: Where to; made when it is not there.
            format: "json" or "yaml".

        Raises:
            OptionError: If the format is neither.
            ArtifactError: If a value has no written form, or a file can not be written.
        """
        if format not in _FORMATS:
            raise OptionError(f"format={format!r} is not known; give one of {listed(_FORMATS)}.")
        dump = _FORMATS[format]
        texts = [dump(redact(encode(recording))) for recording in self._recordings]
        paths = []
        for position, text in enumerate(texts):
            path = self._path(Path(directory).absolute(), position, f".{format}")
            write_whole(path, text)
            paths.append(path)
        return paths

    def clear(self) -> None:
        """Forget every recording; files stay."""
        self._recordings.clear()

    def _path(self, directory: Path, position: int, suffix: str) -> Path:
        worker = os.environ.get("PYTEST_XDIST_WORKER")
        label = file_safe(redact_text(self._recordings[position]["label"] or "recording"))
        stem = "-".join(part for part in (worker, f"{position:03}", label) if part)
        copy = 1
        while True:
            path = confined(directory, stem if copy == 1 else f"{stem}-{copy}", suffix)
            if _exported.setdefault(path, self) is self:
                return path
            copy += 1


def _json(tree: Any) -> str:
    return json.dumps(tree, ensure_ascii=False, indent=2) + "\n"


def _yaml(tree: Any) -> str:
    import yaml

    # libyaml's dumper is ten times as fast where it is installed.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(tree, Dumper=dumper, sort_keys=False, allow_unicode=True))


_FORMATS: dict[str, Callable[[Any], str]] = {"json": _json, "yaml": _yaml}
