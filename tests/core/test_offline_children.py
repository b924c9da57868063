"""Python processes that a test starts inside `offline()` are offline too."""

import asyncio
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import callsheet
from callsheet import NetworkBlockedError, _child_processes, _offline, offline
from callsheet._child_run import ChildRun

# Python 3.12 warns of a fork while other threads run; here that is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")

CONNECT = "import socket; socket.socket().connect_ex(('192.0.2.1', 80)); print('escaped')"
GRANDCHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CONNECT!r}], {{}})"
CORE = str(Path(callsheet.__file__).parents[1])


@pytest.fixture(autouse=True)
def _importable_in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", CORE)


def connect() -> str:
    """Try to get out, as a child process would; the address belongs to nobody."""
    try:
        with socket.socket() as sock:
            sock.settimeout(0.2)
            sock.connect(("192.0.2.1", 80))
    except NetworkBlockedError:
        return "blocked"
    except OSError as error:
        return str(error)
    return "connected"


def in_asyncio() -> None:
    async def main() -> None:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", CONNECT)
        await process.wait()

    asyncio.run(main())


def with_positional_env() -> None:
    arguments: list[Any] = [
        [sys.executable, "-c", CONNECT],
        -1,
        None,
        None,
        None,
        None,
        None,
        True,
        False,
        None,
    ]
    with subprocess.Popen(*arguments, {"PATH": os.environ["PATH"]}):
        pass


@pytest.mark.parametrize(
    "start",
    [
        lambda: subprocess.run([sys.executable, "-c", CONNECT], check=False),
        lambda: subprocess.run([sys.executable, "-c", CONNECT], check=False, env={}),
        lambda: subprocess.run(
            [sys.executable, "-c", CONNECT], check=False, env={b"PYTHONPATH": b"/nowhere"}
        ),
        with_positional_env,
        lambda: subprocess.run(f'{sys.executable} -c "{CONNECT}"', shell=True, check=False),
        lambda: subprocess.run(
            [
                sys.executable,
                "-c",
                f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CONNECT!r}])",
            ],
            check=False,
        ),
        lambda: subprocess.run(
            [sys.executable, "-c", GRANDCHILD.format("env={'PYTHONPATH': '/nowhere'}")], check=False
        ),
        lambda: subprocess.run(
            [sys.executable, "-c", GRANDCHILD.format("env={b'PYTHONPATH': b'/a'}")], check=False
        ),
        in_asyncio,
    ],
    ids=[
        "inherited",
        "empty env",
        "bytes env",
        "positional env",
        "shell",
        "grandchild",
        "grandchild with an env",
        "grandchild with a bytes env",
        "asyncio",
    ],
)
def test_a_child_is_blocked_and_its_attempt_reaches_the_parent(
    start: Callable[[], Any], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NetworkBlockedError) as raised, offline():
        start()
    assert (raised.value.host, raised.value.port) == ("192.0.2.1", 80)
    assert "child process" in str(raised.value)
    assert "escaped" not in capfd.readouterr().out


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_process_of_multiprocessing_is_blocked(method: str) -> None:
    with offline(strict=False) as block:
        process = multiprocessing.get_context(method).Process(target=connect)
        process.start()
        process.join()
        assert "run" not in vars(process)
    assert process.exitcode == 0
    assert [attempt.host for attempt in block.attempts] == ["192.0.2.1"]


class Worker(multiprocessing.get_context("spawn").Process):  # type: ignore[misc,name-defined]
    """A process with a `run` of its own, and one more on the instance."""

    def run(self) -> None:
        sys.exit(connect() == "blocked" and 7)


def run_on_the_instance() -> None:
    sys.exit(connect() == "blocked" and 8)


def test_a_run_of_its_own_is_kept() -> None:
    with offline(strict=False):
        plain, special = Worker(), Worker()
        special.run = run_on_the_instance
        for process in (plain, special):
            process.start()
            process.join()
    assert [plain.exitcode, special.exitcode] == [7, 8]
    assert vars(special)["run"] is run_on_the_instance


def test_a_process_started_outside_is_not_touched() -> None:
    context = multiprocessing.get_context("spawn")
    with offline():  # imports what it patches
        pass
    process = context.Process(target=int)
    process.start()
    process.join()
    assert process.exitcode == 0


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_process_pool_takes_the_block_along_and_is_free_after_it(method: str) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        with offline(strict=False) as block:
            assert pool.submit(connect).result() == "blocked"
            assert pool.submit(int, "7").result() == 7
        assert len(block.attempts) == 1
        assert pool.submit(connect).result() != "blocked"


def test_what_a_thread_outside_the_block_starts_is_free() -> None:
    go, outcomes = threading.Event(), []
    context = multiprocessing.get_context("spawn")

    def work(pool: ProcessPoolExecutor) -> None:
        go.wait(5)
        outcomes.append(pool.submit(connect).result() != "blocked")
        code = "import os; os._exit('CALLSHEET_OFFLINE' in os.environ)"
        outcomes.append(subprocess.run([sys.executable, "-c", code], check=False))
        process = context.Process(target=connect)
        process.start()
        process.join()

    with ProcessPoolExecutor(1, mp_context=context) as pool:
        thread = threading.Thread(target=work, args=(pool,))
        thread.start()
        with offline() as block:
            go.set()
            thread.join()
    assert outcomes[0] is True
    assert outcomes[1].returncode == 0
    assert block.attempts == []


def test_the_work_of_a_child_runs_inside_the_blocks_of_its_parent(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.touch()
    rules = _child_processes.Rules((("192.0.2.1",), ()), str(report))
    process = SimpleNamespace(run=lambda: (connect(), vars(process)["run"] is not run))
    own = process.run
    run = vars(process)["run"] = ChildRun(process, {"run": own}, rules, _offline._run_in_child)
    assert run() == ("blocked", True)
    assert [attempt["host"] for attempt in _child_processes.read_report(str(report))] == ["192.0.2.1"]
    assert connect() != "blocked"


def test_work_of_a_fork_that_is_inside_already_opens_nothing_more() -> None:
    rules = _child_processes.Rules(((),), "no such file")
    with offline():
        open_before = list(_offline._open_blocks)
        assert _offline._run_in_child(rules, lambda: list(_offline._open_blocks)) == open_before


def test_nested_blocks_hold_in_a_child() -> None:
    allowing = offline(allow=["192.0.2.1"], strict=False)
    with offline(strict=False) as outer, allowing:
        subprocess.run([sys.executable, "-c", CONNECT], check=False)
    assert len(outer.attempts) == 1
    with offline(allow=["192.0.2.1"]):
        done = subprocess.run([sys.executable, "-c", CONNECT], check=False, capture_output=True, text=True)
    assert done.stdout == "escaped\n"


def test_what_a_fork_tries_reaches_the_parent() -> None:
    with offline(strict=False) as block:
        child = os.fork()
        if child == 0:
            connect()
            os._exit(0)
        os.waitpid(child, 0)
    assert [attempt.host for attempt in block.attempts] == ["192.0.2.1"]


def test_a_fork_inside_several_blocks_reports_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with offline(strict=False) as outer, offline(strict=False) as inner:
        sys.audit("os.fork")
        with monkeypatch.context() as child:
            child.setattr(os, "getpid", lambda: 0)
            assert connect() == "blocked"
        assert outer.attempts == inner.attempts == []
    assert len(outer.attempts) == 1


def test_a_fork_that_leaves_the_block_leaves_the_report_to_its_parent() -> None:
    with offline(strict=False) as block:
        child = os.fork()
        if child == 0:
            connect()
            block.__exit__(None, None, None)
            os._exit(0)
        os.waitpid(child, 0)
    assert len(block.attempts) == 1


def test_other_programs_run() -> None:
    with offline():
        assert subprocess.run(["true"], check=False).returncode == 0
        assert os.system("true") == 0


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("os.system", lambda: os.system(f"{sys.executable} -c 1")),
    ("os.posix_spawn", lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", "1"], os.environ)),
    ("os.exec", lambda: os.execv(sys.executable, [sys.executable, "-c", "1"])),
    ("subprocess.Popen", lambda: subprocess.run([sys.executable, "-I", "-c", "1"], check=False)),
    ("subprocess.Popen", lambda: subprocess.run(["python3", "-WError", "-Sc", "1"], check=False)),
    ("subprocess.Popen", lambda: subprocess.run([sys.executable, "-X", "dev", "-E", "x.py"], check=False)),
]


@pytest.mark.parametrize(("event", "start"), REFUSED)
def test_a_python_process_that_can_not_be_reached_is_refused(event: str, start: Callable[[], Any]) -> None:
    with pytest.raises(NetworkBlockedError, match=r"Refused to start `.*python") as raised, offline():
        start()
    assert event in str(raised.value)
    assert "Start it with subprocess" in str(raised.value)


@pytest.mark.parametrize(
    ("event", "args", "command"),
    [
        ("os.system", (b"cd /x && python3.12 a.py",), "cd /x && python3.12 a.py"),
        ("os.system", ("cat python.txt",), None),
        ("os.spawn", (0, r"C:\\Python\\python.exe", ["python", "a.py"], None), "python a.py"),
        ("os.posix_spawn", ("/usr/bin/pypy3", ["pypy3"], {}), "pypy3"),
        ("os.posix_spawn", ("/usr/bin/env", ["env"], {}), None),
        ("subprocess.Popen", (None, "python -I a.py", None, None), "python -I a.py"),
        ("subprocess.Popen", (None, [], None, None), None),
        ("subprocess.Popen", (None, 7, None, None), None),
    ],
)
def test_what_counts_as_an_unreachable_python(event: str, args: tuple[Any, ...], command: str | None) -> None:
    assert _child_processes.unreachable_child(event, args) == command


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ([], False),
        (["-"], False),
        (["-u", "a.py", "-I"], False),
        (["-m", "a", "-I"], False),
        (["-uc", "1", "-I"], False),
        (["--version"], False),
        (["-W", "ignore", "-I"], True),
        (["-Wignore", "-I"], True),
        (["-X"], False),
        (["-uI"], True),
    ],
)
def test_which_flags_make_python_deaf(words: list[str], refused: bool) -> None:
    reached = {b"PYTHONPATH": os.fsencode(_child_processes.START_UP)}
    args = (sys.executable, [sys.executable, *words], None, reached)
    assert (_child_processes.unreachable_child("subprocess.Popen", args) is not None) == refused


def test_a_child_refuses_what_its_parent_would_refuse() -> None:
    code = f"import os; os.system('{sys.executable} -c 1')"
    with offline(strict=False) as block:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Refused to start" in done.stderr
    assert "Refused to start" in str(block.attempts[0])
    assert block.attempts[0].host is None


def test_an_environment_that_reaches_its_child_already_is_left_as_it_is() -> None:
    rules = _child_processes.Rules(((),), "report")
    once = _child_processes.reaching_environment({"PYTHONPATH": "/a"}, rules)
    assert once["PYTHONPATH"].endswith("/a")
    assert _child_processes.reaching_environment(once, rules) == once


def test_the_sitecustomize_that_would_have_run_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('theirs')")
    environment = {"PYTHONPATH": str(tmp_path)}
    code = "import sitecustomize, sys; print(sitecustomize.__file__); print(sys.path.count(sys.argv[1]))"
    command = [sys.executable, "-c", code, _child_processes.START_UP]
    with offline():
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["theirs", str(tmp_path / "sitecustomize.py"), "0"]


def test_a_broken_sitecustomize_of_theirs_is_reported_as_ever(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import missing_module")
    with offline():
        done = subprocess.run(
            [sys.executable, "-c", "print('ran')"],
            env={"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert "missing_module" in done.stderr
    assert done.stdout == "ran\n"


def test_a_child_that_can_not_be_closed_does_not_run() -> None:
    environment = {"PYTHONPATH": _child_processes.START_UP, "CALLSHEET_OFFLINE": "not json"}
    done = subprocess.run(
        [sys.executable, "-c", "print('ran')"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 97
    assert done.stdout == ""
    assert "can not be kept offline" in done.stderr


def test_a_child_that_outlives_the_test_is_blocked_still(tmp_path: Path) -> None:
    code = f"import sys; sys.stdin.readline(); {CONNECT}"
    with offline():
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    _, said = process.communicate("go\n")
    assert "Network blocked" in said


def test_a_late_report_harms_nobody(tmp_path: Path) -> None:
    error = NetworkBlockedError("late", host="a.example")
    _child_processes.write_report(str(tmp_path / "gone"), error)
    assert list(tmp_path.iterdir()) == []


def test_the_error_survives_the_way_from_a_child() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(NetworkBlockedError("text", host="a.example", port=1)))
    assert (str(error), error.host, error.port) == ("text", "a.example", 1)
