"""`offline()` closes the network for the code inside it, and for nothing else."""

import _socket
import _thread
import asyncio
import gc
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
import requests
import urllib3

import callsheet
from callsheet import CallsheetError, NetworkBlockedError, OptionError, _offline, offline

# TEST-NET-1: an address that nobody has.
NOWHERE = ("192.0.2.1", 80)


class Server:
    """Counts who connects: what a block lets slip arrives here."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(5)
        self.address: tuple[str, int] = self._listener.getsockname()
        self.port = self.address[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    def accepts(self) -> bool:
        """Say whether anyone waits to be let in."""
        self._listener.setblocking(False)
        try:
            self._listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def swallow(fn: Callable[[], Any]) -> Any:
    """Do what a careless client does."""
    try:
        return fn()
    except Exception as error:
        return error


def connect(address: Any, family: int = socket.AF_INET) -> None:
    with socket.socket(family) as sock:
        sock.connect(address)


def connect_ex(address: Any) -> int:
    with socket.socket() as sock:
        return sock.connect_ex(address)


def connect_beneath(address: Any) -> None:
    sock = _socket.socket()
    try:
        sock.connect(address)
    finally:
        sock.close()


def send(method: str, *args: Any) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        getattr(sock, method)(*args)


async def fetch_with_aiohttp(url: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(url):
        pass


async def fetch_with_async_httpx(url: str) -> None:
    async with httpx.AsyncClient() as client:
        await client.get(url)


async def open_connection(port: int) -> None:
    await asyncio.open_connection("127.0.0.1", port)


async def sock_connect(port: int) -> None:
    with socket.socket() as sock:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))


ESCAPES: dict[str, Callable[[Server], Any]] = {
    "connect": lambda server: connect(server.address),
    "connect_ex": lambda server: connect_ex(server.address),
    "create_connection": lambda server: socket.create_connection(server.address),
    "_socket": lambda server: connect_beneath(server.address),
    "asyncio": lambda server: asyncio.run(open_connection(server.port)),
    "loop.sock_connect": lambda server: asyncio.run(sock_connect(server.port)),
    "httpx": lambda server: httpx.get(server.url, trust_env=False),
    "async httpx": lambda server: asyncio.run(fetch_with_async_httpx(server.url)),
    "requests": lambda server: requests.get(server.url, timeout=5),
    "urllib3": lambda server: urllib3.PoolManager().request("GET", server.url, retries=False),
    "aiohttp": lambda server: asyncio.run(fetch_with_aiohttp(server.url)),
}


@pytest.mark.parametrize("way", ESCAPES)
def test_no_way_out_reaches_the_server(way: str, server: Server) -> None:
    with offline() as block:
        outcome = swallow(lambda: ESCAPES[way](server))
        attempts, _ = list(block.attempts), block.attempts.clear()
    assert isinstance(outcome, Exception)
    assert {(attempt.host, attempt.port) for attempt in attempts} == {server.address}
    assert not server.accepts()


@pytest.mark.parametrize(
    "escape",
    [
        lambda: send("sendto", b"x", NOWHERE),
        lambda: send("sendmsg", [b"x"], [], 0, NOWHERE),
        lambda: socket.getaddrinfo("example.com", 80),
        lambda: socket.gethostbyname("example.com"),
        lambda: socket.gethostbyname_ex("example.com"),
        lambda: socket.gethostbyaddr("192.0.2.1"),
        lambda: socket.getnameinfo(NOWHERE, 0),
        lambda: socket.create_connection(("example.com", 80)),
        lambda: asyncio.run(asyncio.open_connection("example.com", 80)),
        lambda: connect(("2001:db8::1", 80), socket.AF_INET6),
    ],
    ids=[
        "sendto",
        "sendmsg",
        "getaddrinfo",
        "gethostbyname",
        "gethostbyname_ex",
        "gethostbyaddr",
        "getnameinfo",
        "create_connection by name",
        "asyncio by name",
        "IPv6",
    ],
)
def test_sending_and_looking_up_are_blocked(escape: Callable[[], Any]) -> None:
    with pytest.raises(NetworkBlockedError), offline():
        escape()


def in_thread(fn: Callable[[], Any]) -> None:
    thread = threading.Thread(target=swallow, args=(fn,))
    thread.start()
    thread.join()


def in_raw_thread(fn: Callable[[], Any], *, before: Callable[[], Any] = int) -> None:
    done = threading.Event()

    def work() -> None:
        before()
        swallow(fn)
        done.set()

    _thread.start_new_thread(work, ())
    assert done.wait(5)


def in_pool(fn: Callable[[], Any]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(swallow, fn).result()


def in_executor(fn: Callable[[], Any]) -> None:
    async def main() -> None:
        await asyncio.get_running_loop().run_in_executor(None, swallow, fn)

    asyncio.run(main())


def in_task(fn: Callable[[], Any]) -> None:
    async def work() -> None:
        swallow(fn)

    async def main() -> None:
        await asyncio.create_task(work())

    asyncio.run(main())


@pytest.mark.parametrize(
    "elsewhere",
    [
        in_thread,
        in_raw_thread,
        in_pool,
        in_executor,
        in_task,
        lambda fn: in_thread(lambda: in_pool(fn)),
        lambda fn: in_raw_thread(fn, before=threading.current_thread),
    ],
    ids=["thread", "raw thread", "pool", "executor", "task", "pool in a thread", "raw thread with a name"],
)
def test_what_is_started_inside_is_inside(elsewhere: Callable[..., None], server: Server) -> None:
    with pytest.raises(NetworkBlockedError), offline():
        elsewhere(lambda: connect(server.address))
    assert not server.accepts()


def test_code_on_a_thread_nobody_knows_is_inside_every_open_block(monkeypatch: pytest.MonkeyPatch) -> None:
    with offline(strict=False) as block, monkeypatch.context() as unknown:
        unknown.setattr(threading, "enumerate", list)
        assert isinstance(swallow(lambda: Context().run(socket.getaddrinfo, "a.example", 1)), OSError)
    assert len(block.attempts) == 1


def test_a_pool_made_before_the_block_is_inside_for_what_the_block_submits(server: Server) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with offline() as block:
            assert isinstance(
                pool.submit(lambda: socket.create_connection(server.address)).exception(), OSError
            )
            block.attempts.clear()
        pool.submit(lambda: socket.create_connection(server.address).close()).result()
    assert server.accepts()


def test_a_pool_made_inside_the_block_is_free_after_it(server: Server) -> None:
    with offline():
        pool = ThreadPoolExecutor(1)
        pool.submit(int).result()
    pool.submit(lambda: socket.create_connection(server.address).close()).result()
    pool.shutdown()
    assert server.accepts()


def test_a_thread_started_before_the_block_is_outside(server: Server) -> None:
    go, outcomes = threading.Event(), []

    def work() -> None:
        go.wait(5)
        outcomes.append(swallow(lambda: socket.create_connection(server.address).close()))

    thread = threading.Thread(target=work)
    thread.start()
    with offline():
        go.set()
        thread.join()
    assert outcomes == [None]


def test_a_task_that_outlives_the_block_is_free_after_it(server: Server) -> None:
    async def main() -> None:
        closed = asyncio.Event()

        async def work() -> None:
            await closed.wait()
            socket.create_connection(server.address).close()

        with offline():
            task = asyncio.create_task(work())
        closed.set()
        await task

    asyncio.run(main())
    assert server.accepts()


def test_the_network_is_back_after_the_block(server: Server) -> None:
    with offline():
        pass
    socket.create_connection(server.address).close()
    assert server.accepts()


def test_everything_is_back_after_the_last_block() -> None:
    with offline():  # the first block imports what it patches
        pass
    gc.collect()  # the patches of this block, and of other tests' sessions
    from multiprocessing.process import BaseProcess

    def patched() -> list[Any]:
        return [
            threading.Thread.__dict__["start"],
            ThreadPoolExecutor.__dict__["submit"],
            subprocess.Popen.__dict__["__init__"],
            BaseProcess.__dict__["start"],
        ]

    before = patched()
    with offline():
        assert not set(patched()) & set(before)
        with offline():
            pass
        assert not set(patched()) & set(before)
    gc.collect()
    assert patched() == before
    assert _offline._stack.get() == ()
    assert not _offline._open_blocks


@pytest.mark.parametrize("entry", ["127.0.0.1", "127.0.0.1:{port}", ":{port}", "127.0.0.0/8", "localhost"])
def test_what_allow_names_comes_through(entry: str, server: Server) -> None:
    with offline(allow=[entry.format(port=server.port)]):
        socket.create_connection(server.address).close()
        asyncio.run(sock_connect(server.port))
    assert server.accepts()


def test_an_allowed_name_may_be_looked_up() -> None:
    with offline(allow=["localhost"]):
        assert socket.gethostbyname("localhost") == "127.0.0.1"
        with pytest.raises(NetworkBlockedError):
            socket.gethostbyname("example.com")
        with pytest.raises(NetworkBlockedError):
            connect(NOWHERE)
        _offline._stack.get()[0].attempts.clear()


def test_an_allowed_port_opens_no_other(server: Server) -> None:
    with pytest.raises(NetworkBlockedError), offline(allow=[f"127.0.0.1:{server.port + 1}"]):
        socket.create_connection(server.address)
    assert not server.accepts()


def test_unix_sockets_socketpairs_servers_and_event_loops_work(tmp_path: Path) -> None:
    with offline():
        left, right = socket.socketpair()
        left.sendall(b"pair")
        assert right.recv(4) == b"pair"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(tmp_path / "s"))
        with socket.create_server(("127.0.0.1", 0)):
            pass
        asyncio.run(asyncio.sleep(0))
        accepted, _ = listener.accept()
    for sock in (left, right, listener, client, accepted):
        sock.close()


def test_nested_blocks_each_hold(server: Server) -> None:
    allow = [f"127.0.0.1:{server.port}"]
    with offline() as outer:
        with offline(allow=allow) as inner, pytest.raises(NetworkBlockedError):
            socket.create_connection(server.address)
        assert len(outer.attempts) == len(inner.attempts) == 1
        outer.attempts.clear()
    with offline(allow=allow):
        with offline() as inner, pytest.raises(NetworkBlockedError):
            socket.create_connection(server.address)
        _offline._stack.get()[0].attempts.clear()
        socket.create_connection(server.address).close()
    assert server.accepts()


def test_overlapping_blocks_in_threads_hold_for_their_own_thread(server: Server) -> None:
    opened, closed, outcomes = threading.Barrier(2), threading.Event(), {}

    def strict() -> None:
        with offline() as block:
            opened.wait(5)
            closed.wait(5)
            outcomes["strict"] = swallow(lambda: socket.create_connection(server.address))
            block.attempts.clear()

    def free() -> None:
        with offline(allow=["127.0.0.1"]):
            opened.wait(5)
            outcomes["allowing"] = swallow(lambda: socket.create_connection(server.address).close())
        outcomes["none"] = swallow(lambda: socket.create_connection(server.address).close())
        closed.set()

    threads = [threading.Thread(target=target) for target in (strict, free)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert isinstance(outcomes["strict"], NetworkBlockedError)
    assert outcomes["allowing"] is outcomes["none"] is None


def test_overlapping_blocks_in_tasks_hold_for_their_own_task(server: Server) -> None:
    async def main() -> None:
        opened = asyncio.Event()

        async def inside() -> None:
            with pytest.raises(NetworkBlockedError), offline():
                opened.set()
                await asyncio.sleep(0)
                socket.create_connection(server.address)

        async def outside() -> None:
            await opened.wait()
            socket.create_connection(server.address).close()

        await asyncio.gather(inside(), outside())

    asyncio.run(main())
    assert server.accepts()


def test_a_swallowed_attempt_is_raised_on_leaving() -> None:
    with pytest.raises(NetworkBlockedError) as raised, offline():
        for host in ("a.example", "b.example"):
            swallow(lambda host=host: socket.getaddrinfo(host, 443))
    assert raised.value.host == "a.example"
    assert raised.value.port == 443
    first, second = raised.value.__notes__
    assert "swallowed" in first
    assert "b.example" in second


def test_only_the_outermost_block_raises_what_was_swallowed() -> None:
    with pytest.raises(NetworkBlockedError), offline() as outer:
        with offline() as inner:
            swallow(lambda: socket.getaddrinfo("a.example", 443))
        assert outer.attempts == inner.attempts


def test_a_block_that_is_not_strict_only_remembers() -> None:
    with offline(strict=False) as block:
        swallow(lambda: socket.getaddrinfo("a.example", 443))
    assert [attempt.host for attempt in block.attempts] == ["a.example"]


def test_a_strict_block_inside_one_that_is_not_raises() -> None:
    with offline(strict=False), pytest.raises(NetworkBlockedError), offline():
        swallow(lambda: socket.getaddrinfo("a.example", 443))


def test_another_exception_on_its_way_is_left_alone_but_told() -> None:
    with pytest.raises(AssertionError, match="wrong answer") as raised, offline():
        swallow(lambda: socket.getaddrinfo("a.example", 443))
        raise AssertionError("wrong answer")
    assert ["a.example" in note for note in raised.value.__notes__] == [True]


def test_the_blocked_attempt_itself_on_its_way_gets_no_note() -> None:
    with pytest.raises(NetworkBlockedError) as raised, offline():
        socket.getaddrinfo("a.example", 443)
    assert not hasattr(raised.value, "__notes__")


def test_the_error_names_host_port_test_and_how_to_allow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "tests/test_a.py::test_b (call)")
    with pytest.raises(NetworkBlockedError) as raised, offline():
        socket.create_connection(("api.example", 8443))
    text = str(raised.value)
    assert "api.example:8443" in text
    assert "tests/test_a.py::test_b" in text
    assert "offline(allow=['api.example'])" in text
    assert isinstance(raised.value, OSError)
    assert isinstance(raised.value, CallsheetError)


def test_a_block_can_be_used_again_but_not_twice_at_once() -> None:
    block = offline()
    with block:
        with pytest.raises(CallsheetError, match="already open"), block:
            pass
        swallow(lambda: socket.getaddrinfo("a.example", 443))
        block.attempts.clear()
    with block:
        assert block.attempts == []


def test_a_block_closed_in_another_context_than_it_was_opened_in_is_closed(server: Server) -> None:
    block = offline()
    thread = threading.Thread(target=block.__enter__)
    thread.start()
    thread.join()
    block.__exit__(None, None, None)
    socket.create_connection(server.address).close()
    assert server.accepts()


@pytest.mark.parametrize(
    ("allow", "advice"),
    [
        ("localhost", r"write allow=\['localhost'\]"),
        ([8080], "8080 is no text"),
        (["http://example.com"], "pass the host name alone"),
        ([""], "names no host"),
    ],
)
def test_an_allow_list_that_can_not_work_is_refused(allow: Any, advice: str) -> None:
    with pytest.raises(OptionError, match=advice):
        offline(allow=allow)


def test_a_hook_that_never_answers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_offline, "_hook_answers", False)
    monkeypatch.setattr(sys, "addaudithook", lambda hook: None)
    monkeypatch.setattr(sys, "audit", lambda *event: None)
    with pytest.raises(CallsheetError, match="another audit hook"):
        offline().__enter__()
    assert not _offline._open_blocks


def test_a_refused_audit_hook_is_noticed() -> None:
    code = """
import sys
def refuse(event, args):
    if event == "sys.addaudithook":
        raise RuntimeError("no more hooks")
sys.addaudithook(refuse)
from callsheet import offline, CallsheetError
try:
    offline().__enter__()
except CallsheetError as error:
    print(error)
import threading
print(threading.Thread.start.__module__)
"""
    done = run_python(code)
    assert "refuses new ones" in done.stdout
    assert done.stdout.splitlines()[-1] == "threading"


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    core = str(Path(callsheet.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": core}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )


def test_nothing_is_hooked_before_the_first_block() -> None:
    code = """
import sys
def show(event, args):
    if event == "sys.addaudithook":
        print("hooked")
sys.addaudithook(show)
from callsheet import offline
block = offline()
print("not yet")
with block: pass
with offline(): pass
"""
    assert run_python(code).stdout.split("\n")[:-1] == ["not yet", "hooked"]
