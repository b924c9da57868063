"""Nothing sent, asked, printed or stored, whatever was imported first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def test_storage_is_a_temporary_folder():
    from crewai.memory.storage.kickoff_task_outputs_storage import KickoffTaskOutputsSQLiteStorage

    assert Path(KickoffTaskOutputsSQLiteStorage().db_path).is_relative_to(os.environ["CREWAI_STORAGE_DIR"])


PROGRAM = """
import sys

if sys.argv[1] == "crewai first":
    import crewai
import callsheet_crewai

from tests.adapters.crewai.every_path import run_every_path

run_every_path()
"""


@pytest.fixture
def ran(request, tmp_path):
    """Run every entry point in a process of its own; give that, and the folders it was given."""
    folders = {name: tmp_path / name for name in ("home", "tmp", "work")}
    for folder in folders.values():
        folder.mkdir()
    path = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if entry)])
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("CREWAI", "OTEL", "XDG"))
    }
    environment |= {"HOME": str(folders["home"]), "TMPDIR": str(folders["tmp"]), "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, request.param],
        capture_output=True,
        text=True,
        cwd=folders["work"],
        env=environment,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return done, folders


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("ran", ["adapter first"], indirect=True)
def test_process_that_imports_the_adapter_first_leaves_nothing(ran):
    done, folders = ran
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {name: files_in(folder) for name, folder in folders.items()} == {"home": [], "tmp": [], "work": []}


@pytest.mark.parametrize("ran", ["crewai first"], indirect=True)
def test_process_that_imports_crewai_first_is_as_silent_from_then_on(ran):
    """What CrewAI writes at its own import is past; the runs are watched from inside."""
    done, folders = ran
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (files_in(folders["tmp"]), files_in(folders["work"])) == ([], [])
