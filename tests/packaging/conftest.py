import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.projects import PROJECTS


class Environment:
    """A virtual environment with nothing in it but pip."""

    def __init__(self, folder):
        self.folder = folder
        self.run(sys.executable, "-m", "virtualenv", "--quiet", str(folder))
        self.python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")

    def run(self, *command, cwd=None):
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def pip_install(self, *what, cwd=None):
        self.run(self.python, "-m", "pip", "install", "--quiet", *map(str, what), cwd=cwd)

    def quick_install(self, *what):
        """Install with uv where there is one: the same packages, in a tenth of the time."""
        if shutil.which("uv"):
            self.run("uv", "pip", "install", "--quiet", "--python", self.python, *map(str, what))
        else:
            self.pip_install(*what)

    def python_run(self, source):
        """Run a program away from the checkout, so that it finds what is installed and nothing else."""
        return self.run(self.python, "-I", "-c", source, cwd=self.folder)


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / "venv")


@pytest.fixture(scope="session")
def dist(tmp_path_factory) -> Path:
    """Every project's sdist, and the wheel built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    for project in PROJECTS:
        command = [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            str(folder),
            str(project.folder),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder
