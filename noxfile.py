"""Every environment callsheet is checked in: `nox` runs what a change needs, `nox --list` shows the rest.

Adapters, examples and benchmarks are discovered: a new folder has its sessions by being there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import nox
from packaging.specifiers import SpecifierSet

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.download_python = "never"
nox.options.error_on_external_run = True
nox.options.error_on_missing_interpreters = True
nox.options.reuse_venv = "yes"

os.environ["UV_PYTHON_DOWNLOADS"] = "never"
# As pip does, so that both work behind a proxy that has a certificate of its own.
os.environ.setdefault("UV_SYSTEM_CERTS", "true")

ROOT = Path(__file__).parent
SUPPORTED = ["3.11", "3.12", "3.13", "3.14"]
NO_ADAPTER = """\
from importlib.metadata import entry_points
found = entry_points(group="callsheet.adapters")
assert not found, f"core must be tested alone, found {found}"
"""
LIST_PINS = """\
from importlib.metadata import distributions
pins = {f"{d.name.replace('_', '-').lower()}=={d.version}" for d in distributions()}
print(*sorted(pin for pin in pins if not pin.startswith("callsheet")), sep="\\n")
"""


def installed_pythons() -> list[str]:
    """Give the supported Pythons this machine has, and say which it has not."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    kept = [found.parent for v in SUPPORTED for found in sorted(pyenv.glob(f"{v}.*/bin/python{v}"))]
    # Before the rest of the path: pyenv's own shims stand there for every version and fail for most.
    os.environ["PATH"] = os.pathsep.join([*map(str, kept), os.environ["PATH"]])
    found = [version for version in SUPPORTED if starts(f"python{version}")]
    missing = [version for version in SUPPORTED if version not in found]
    if missing:
        print(f"Not installed here, so not tested: Python {', '.join(missing)}.", file=sys.stderr)
    if not found:
        raise SystemExit(f"callsheet needs one of Python {', '.join(SUPPORTED)}, on the path or in pyenv.")
    return found


def starts(command: str) -> bool:
    """Tell whether a Python of this name starts."""
    try:
        return subprocess.run([command, "-c", ""], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def settings(adapter: str) -> dict[str, Any]:
    """Give an adapter's pyproject.toml."""
    return tomllib.loads((ROOT / "adapters" / adapter / "pyproject.toml").read_text(encoding="utf-8"))


def between(name: str) -> list[str]:
    """Give the framework versions an adapter is tested on besides the lowest and the newest."""
    return [] if name == "core" else settings(name)["tool"]["callsheet"]["versions"]


def beside(name: str, version: str) -> list[str]:
    """Give what an old framework version needs to have beside it to work at all."""
    return [] if name == "core" else settings(name)["tool"]["callsheet"].get("beside", {}).get(version, [])


def pythons_of(adapter: str) -> list[str]:
    """Give the installed Pythons an adapter supports, which are those its framework allows."""
    allowed = SpecifierSet(settings(adapter)["project"]["requires-python"])
    return [version for version in PYTHONS if version in allowed]


PYTHONS = installed_pythons()
ADAPTERS = sorted(init.parts[-3] for init in ROOT.glob("adapters/*/callsheet_*/__init__.py"))
MATRIX = [(python, adapter) for adapter in ADAPTERS for python in pythons_of(adapter)]
for homeless in set(ADAPTERS).difference(adapter for _, adapter in MATRIX):
    print(f"Not tested: {homeless}, which supports no Python installed here.", file=sys.stderr)
# The oldest installed Python of each environment: what most sessions run on.
HOME = {"core": PYTHONS[0]} | {adapter: python for python, adapter in reversed(MATRIX)}
VERSIONS = [(python, a, v) for a, python in HOME.items() for v in between(a)]
EXAMPLES = [adapter for adapter in HOME if (ROOT / "examples" / adapter).is_dir()]
BENCHMARKS = sorted(script.stem for script in ROOT.glob("benchmarks/[!_]*.py"))
CORE = ["test", "clients"]
# Environment -> the groups its pins cover; tests and type checks share one set of pins.
GROUPS = ("lint", "payloads", "peers", "package", "site")
PINNED = {name: ["typecheck"] for name in HOME} | {group: [group] for group in GROUPS}
PINNED["core"] = ["typecheck", *CORE]

nox.options.sessions = [
    "lint",
    "typecheck",
    f"core-{PYTHONS[0]}",
    *(f"adapter({adapter}-{python})" for adapter, python in HOME.items() if adapter != "core"),
    "lowest",
    "docs",
    "site",
    "examples",
    "payloads",
    "peers",
    "package",
]


def environments(*names: str) -> Any:
    """Parametrize a session over environments: core's or an adapter's, on the oldest installed Python."""
    return nox.parametrize("python,name", [(HOME.get(n, PYTHONS[0]), n) for n in names], ids=names)


def checkout(name: str, *groups: str) -> list[str]:
    """Give the arguments that install core, the adapter of that name if there is one, and the groups."""
    folders = [".", f"./adapters/{name}"] if name in ADAPTERS else ["."]
    wanted = [("--editable", folder) for folder in folders] + [("--group", group) for group in groups]
    # What an adapter's tests and examples use of the framework's surroundings.
    tests = settings(name)["tool"]["callsheet"].get("tests", []) if name in ADAPTERS else []
    return [*(argument for pair in wanted for argument in pair), *tests]


def install(session: nox.Session, name: str, *groups: str) -> None:
    """Install the checkout for an environment at that environment's pinned versions."""
    pins = f"constraints/{name}.txt"
    constraint = ["--constraint", pins] if (ROOT / pins).exists() else []
    session.install(*checkout(name, *groups), *constraint)


def pytest(session: nox.Session, *paths: str) -> None:
    """Run pytest on the paths, with whatever follows `--` on nox's command line."""
    session.run("python", "-m", "pytest", *paths, *session.posargs)


@nox.session(python=PYTHONS)
def core(session: nox.Session) -> None:
    """Test core with no framework and no adapter installed; every branch must be covered."""
    install(session, "core", *CORE)
    session.run("python", "-c", NO_ADAPTER)
    # Coverage starts before pytest does: pytest imports the plugin before any option could start it.
    session.run("coverage", "run", "-m", "pytest", "tests/core", *session.posargs)
    session.run("coverage", "report", "--fail-under=100")


@nox.session
@nox.parametrize("python,adapter", MATRIX, ids=[f"{adapter}-{python}" for python, adapter in MATRIX])
def adapter(session: nox.Session, adapter: str) -> None:
    """Test one adapter, alone in its environment, on the newest pinned framework."""
    install(session, adapter, "test")
    pytest(session, f"tests/adapters/{adapter}")


@nox.session(venv_backend="uv")
@environments(*HOME)
def lowest(session: nox.Session, name: str) -> None:
    """Test core or one adapter on the oldest version of everything it names."""
    groups = CORE if name == "core" else ["test"]
    session.install("--resolution=lowest-direct", *checkout(name, *groups), *beside(name, "lowest"))
    pytest(session, "tests/core" if name == "core" else f"tests/adapters/{name}")


@nox.session
@nox.parametrize("python,adapter,version", VERSIONS, ids=[f"{adapter}-{v}" for _, adapter, v in VERSIONS])
def versions(session: nox.Session, adapter: str, version: str) -> None:
    """Test one adapter on a framework version between oldest and newest."""
    framework = settings(adapter)["tool"]["callsheet"]["framework"]
    session.install(*checkout(adapter, "test"), f"{framework}=={version}.*", *beside(adapter, version))
    pytest(session, f"tests/adapters/{adapter}")


@nox.session(python=PYTHONS[0])
def lint(session: nox.Session) -> None:
    """Check style, spelling and the direction of imports."""
    install(session, "lint", "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("codespell")
    session.run("lint-imports", "--no-logo")


@nox.session
@environments(*HOME)
def typecheck(session: nox.Session, name: str) -> None:
    """Check the types of core or one adapter, and of core's users."""
    install(session, name, "typecheck")
    if name == "core":
        session.run("mypy", "core/callsheet", "tests/typing")
        session.run("basedpyright")
    else:
        session.run("mypy", f"adapters/{name}/callsheet_{name}", env={"MYPYPATH": f"adapters/{name}"})


@nox.session
@environments(*(name for name in HOME if name != "core"))
def docs(session: nox.Session, name: str) -> None:
    """Run every code block of the pages that belong to an environment."""
    install(session, name, "test")
    pytest(session, "tests/docs")


@nox.session(python=PYTHONS[0])
def site(session: nox.Session) -> None:
    """Build the documentation and its API reference into site/; a warning is an error."""
    install(session, "site", "site")
    session.run("mkdocs", "build", "--strict", *session.posargs, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session
@environments(*EXAMPLES)
def examples(session: nox.Session, name: str) -> None:
    """Run one framework's example suite."""
    install(session, name, "test")
    pytest(session, f"examples/{name}")


@nox.session(python=PYTHONS[0])
def payloads(session: nox.Session) -> None:
    """Check the parsers against the providers' own client types."""
    install(session, "payloads", "payloads")
    pytest(session, "tests/payloads")


@nox.session(python=PYTHONS[0])
def peers(session: nox.Session) -> None:
    """Compare the verdicts with those of other libraries, on the same inputs."""
    install(session, "peers", "peers")
    pytest(session, "tests/peers")


@nox.session(python=PYTHONS[0])
def package(session: nox.Session) -> None:
    """Build every distribution, look inside, and install it the ways a user would."""
    install(session, "package", "package")
    pytest(session, "tests/packaging")


@nox.session
@environments(*BENCHMARKS)
def benchmarks(session: nox.Session, name: str) -> None:
    """Print one benchmark; a script named like an adapter has that adapter's environment."""
    environment = "peers" if name == "matching" else name if name in HOME else "core"
    install(session, environment, "peers" if environment == "peers" else "test")
    # -P: a script must not stand in for the framework it is named like.
    session.run("python", "-P", f"benchmarks/{name}.py", *session.posargs)


@nox.session(reuse_venv=False)
@environments(*PINNED)
def pins(session: nox.Session, name: str) -> None:
    """Write an environment's newest versions to constraints/."""
    session.install(*checkout(name, *PINNED[name]))
    lines = session.run("python", "-c", LIST_PINS, silent=True)
    (ROOT / "constraints" / f"{name}.txt").write_text(str(lines), encoding="utf-8")
