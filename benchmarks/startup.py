"""What callsheet adds to the start of Python and of pytest: medians of interleaved processes.

python benchmarks/startup.py [rounds]
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

PYTEST = """
import sys, pytest
code = pytest.main(["-q", *sys.argv[1:]])
print(len(sys.modules))
sys.exit(code)
"""
PYTHON = """
import sys
{statement}
print(len(sys.modules))
"""
PROGRAMS = {
    "bare python": ["-c", PYTHON.format(statement="")],
    "import callsheet": ["-c", PYTHON.format(statement="import callsheet")],
    "every public name": ["-c", PYTHON.format(statement="from callsheet import *")],
    "bare pytest": ["-c", PYTEST],
    "pytest with the plugin": ["-c", PYTEST, "-p", "callsheet.pytest_plugin"],
}
# What is measured -> what it is measured against.
BASES = {
    "import callsheet": "bare python",
    "every public name": "bare python",
    "pytest with the plugin": "bare pytest",
}


def run(arguments, folder):
    """Give the seconds a program takes and the number of modules it has loaded at its end."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    started = perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    seconds = perf_counter() - started
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return seconds, int(done.stdout.split()[-1])


def main(rounds):
    seconds = {name: [] for name in PROGRAMS}
    modules = {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_nothing.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
        for arguments in PROGRAMS.values():
            run(arguments, folder)  # writes the byte code
        for _ in range(rounds):
            for name, arguments in PROGRAMS.items():
                taken, modules[name] = run(arguments, folder)
                seconds[name].append(taken)
    print(f"{rounds} rounds, Python {sys.version.split()[0]}")
    for name, base in BASES.items():
        added = median(taken - bare for taken, bare in zip(seconds[name], seconds[base], strict=True))
        total, bare = median(seconds[name]), median(seconds[base])
        print(
            f"{name:24} {1000 * added:+6.1f} ms  {modules[name] - modules[base]:+4} modules"
            f"  ({1000 * total:.1f} ms, {base} {1000 * bare:.1f} ms)"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
