"""Nothing sent, asked, printed or stored, whatever was imported first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_storage_is_a_temporary_folder():
    from crewai.memory.storage.kickoff_task_outputs_storage import KickoffTaskOutputsSQLiteStorage

    assert Path(KickoffTaskOutputsSQLiteStorage().db_path).is_relative_to(os.environ["CREWAI_STORAGE_DIR"])


LATE = """
import crewai
import sys
sys.path[:0] = {path!r}
from tests.adapters.crewai import crews
from tests.adapters.crewai.watch import watched
from callsheet_crewai import CrewAIAdapter
from callsheet import FakeModel
crew = crews.crew()
with watched() as (network, files):
    CrewAIAdapter(crew, model=FakeModel(default_response="x")).sync_invoke({{"topic": "x"}})
assert (network, files) == ([], []), (network, files)
"""


def test_run_is_silent_when_crewai_was_imported_first(tmp_path):
    code = LATE.format(path=[str(p) for p in sys.path if p])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert list(tmp_path.iterdir()) == []
