"""Which audit events reach for the network, and what an `allow` list lets through."""

import socket
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from callsheet._network_rules import WATCHED_EVENTS, Allowed, Attempt, attempted, explain

INET = SimpleNamespace(family=socket.AF_INET)
INET6 = SimpleNamespace(family=socket.AF_INET6)
UNIX = SimpleNamespace(family=socket.AF_UNIX)


@pytest.mark.parametrize(
    ("event", "args", "expected"),
    [
        ("socket.connect", (INET, ("1.2.3.4", 80)), "connect to 1.2.3.4:80"),
        ("socket.connect", (INET6, ("::1", 80, 0, 0)), "connect to [::1]:80"),
        ("socket.connect", (INET6, ("::ffff:1.2.3.4", 80, 0, 0)), "connect to 1.2.3.4:80"),
        ("socket.connect", (INET6, ("fe80::1%eth0", 80, 0, 2)), "connect to [fe80::1]:80"),
        ("socket.connect", (INET, (b"Example.COM.", 80)), "connect to example.com:80"),
        ("socket.connect", (INET, bytearray(b"odd")), "connect to bytearray(b'odd')"),
        ("socket.sendto", (INET, ("1.2.3.4", 53)), "send to 1.2.3.4:53"),
        ("socket.sendmsg", (INET, ("1.2.3.4", 53)), "send to 1.2.3.4:53"),
        ("socket.getaddrinfo", ("example.com", 443, 0, 0, 0), "look up example.com:443"),
        ("socket.getaddrinfo", ("example.com", "443", 0, 0, 0), "look up example.com:443"),
        ("socket.getaddrinfo", (b"example.com", b"443", 0, 0, 0), "look up example.com:443"),
        ("socket.getaddrinfo", ("example.com", "https", 0, 0, 0), "look up example.com"),
        ("socket.getaddrinfo", ("example.com", 0, 0, 0, 0), "look up example.com"),
        ("socket.gethostbyname", ("example.com",), "look up example.com"),
        ("socket.gethostbyaddr", ("1.2.3.4",), "look up 1.2.3.4"),
        ("socket.getnameinfo", (("1.2.3.4", 80),), "look up 1.2.3.4"),
    ],
)
def test_what_an_event_reaches_for(event: str, args: tuple[Any, ...], expected: str) -> None:
    assert str(attempted(event, args)) == expected


@pytest.mark.parametrize(
    ("event", "args"),
    [
        ("socket.connect", (UNIX, "/run/some.socket")),
        ("socket.sendto", (UNIX, "/run/some.socket")),
        ("socket.sendmsg", (INET, None)),
        ("socket.getaddrinfo", (None, 80, 0, 0, 0)),
        ("socket.getaddrinfo", ("", 80, 0, 0, 0)),
        ("socket.getaddrinfo", ("1.2.3.4", 80, 0, 0, 0)),
        ("socket.getaddrinfo", ("::1", 80, 0, 0, 0)),
    ],
)
def test_what_stays_on_this_machine(event: str, args: tuple[Any, ...]) -> None:
    assert attempted(event, args) is None


def test_the_events_are_those_python_documents() -> None:
    assert {event.removeprefix("socket.") for event in WATCHED_EVENTS} == {
        "connect",
        "getaddrinfo",
        "gethostbyaddr",
        "gethostbyname",
        "getnameinfo",
        "sendmsg",
        "sendto",
    }


def test_a_family_that_is_not_known_to_be_local_is_the_network() -> None:
    vsock = SimpleNamespace(family=40)
    assert attempted("socket.connect", (vsock, (2, 1234))) == Attempt("connect to", "2", 1234)


def connect(host: str, port: int = 80) -> Attempt:
    return Attempt("connect to", host, port)


def look_up(host: str, port: int | None = None) -> Attempt:
    return Attempt("look up", host, port)


@pytest.mark.parametrize(
    ("entry", "attempt"),
    [
        ("example.com", look_up("example.com")),
        ("example.com", look_up("example.com", 443)),
        ("Example.COM.", look_up("example.com")),
        ("example.com", connect("example.com")),
        ("example.com:80", look_up("example.com")),
        ("example.com:80", look_up("example.com", 80)),
        ("1.2.3.4", connect("1.2.3.4")),
        ("1.2.3.4:80", connect("1.2.3.4")),
        ("::ffff:1.2.3.4", connect("1.2.3.4")),
        ("::1", connect("::1")),
        ("0:0:0:0:0:0:0:1", connect("::1")),
        ("[::1]", connect("::1")),
        ("[::1]:80", connect("::1")),
        ("10.0.0.0/8", connect("10.2.3.4")),
        ("10.1.2.3/8", connect("10.2.3.4")),
        ("10.0.0.0/8:80", connect("10.2.3.4")),
        (":80", connect("9.9.9.9")),
        (":80", look_up("anything.example", 80)),
    ],
)
def test_an_entry_lets_through_what_it_names(entry: str, attempt: Attempt) -> None:
    assert Allowed((entry,)).permits(attempt)


@pytest.mark.parametrize(
    ("entry", "attempt"),
    [
        ("example.com", look_up("evil-example.com")),
        ("example.com", look_up("www.example.com")),
        ("example.com:80", look_up("example.com", 443)),
        ("1.2.3.4", connect("1.2.3.5")),
        ("1.2.3.4", look_up("example.com")),
        ("1.2.3.4:80", connect("1.2.3.4", 81)),
        ("::1:80", connect("::1")),
        ("10.0.0.0/8", connect("11.0.0.1")),
        ("10.0.0.0/8", connect("::1")),
        ("10.0.0.0/8", look_up("ten.example")),
        ("10.0.0.0/8:80", connect("10.2.3.4", 81)),
        (":80", connect("9.9.9.9", 81)),
        (":80", look_up("anything.example")),
    ],
)
def test_an_entry_lets_nothing_else_through(entry: str, attempt: Attempt) -> None:
    assert not Allowed((entry,)).permits(attempt)


def test_an_empty_list_permits_nothing_and_any_entry_may_fit() -> None:
    assert not Allowed(()).permits(connect("1.2.3.4"))
    assert Allowed(("1.1.1.1", "1.2.3.4")).permits(connect("1.2.3.4"))


def test_a_name_lets_its_addresses_through_even_when_they_rotate(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["1.1.1.1", "2.2.2.2"])

    def look_up_now(host: str, port: None) -> list[Any]:
        assert host == "example.com"
        return [(socket.AF_INET, 1, 6, "", (next(answers), 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up_now)
    allowed = Allowed(("example.com",))
    assert allowed.permits(connect("1.1.1.1"))
    assert allowed.permits(connect("2.2.2.2"))
    assert allowed.permits(connect("1.1.1.1"))


def test_a_name_nobody_knows_lets_no_address_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(host: str, port: None) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    assert not Allowed(("nowhere.example",)).permits(connect("1.1.1.1"))


def test_the_look_up_of_an_allowed_name_is_not_itself_an_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Attempt | None] = []

    def look_up_now(host: str, port: None) -> list[Any]:
        seen.append(attempted("socket.getaddrinfo", (host, port, 0, 0, 0)))
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up_now)
    Allowed(("example.com",)).permits(connect("1.1.1.1"))
    assert seen == [None]
    assert attempted("socket.getaddrinfo", ("example.com", None, 0, 0, 0)) is not None


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("", "names no host"),
        (":", "names no host"),
        ("two words", "names no host"),
        ("host:http", "names no host"),
        ("host:0", "outside 1 to 65535"),
        ("host:70000", "outside 1 to 65535"),
        ("http://example.com", "pass the host name alone"),
        ("example.com/path", "pass the host name alone"),
        ("10.0.0.0/99", "pass the host name alone"),
    ],
)
def test_an_entry_that_can_not_work_is_refused(entry: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as raised:
        Allowed((entry,))
    assert repr(entry) in str(raised.value)


def test_pythons_own_socketpair_over_the_loopback_is_local() -> None:
    """Windows has no socketpair; the standard library then connects two sockets of its own."""
    code = compile(
        "def socketpair(judge, sock): return judge('socket.connect', (sock, ('127.0.0.1', 1)))",
        socket.__file__,
        "exec",
    )
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    assert namespace["socketpair"](attempted, INET) is None


def test_a_function_that_merely_has_that_name_is_not() -> None:
    def socketpair() -> Attempt | None:
        return attempted("socket.connect", (INET, ("127.0.0.1", 1)))

    assert socketpair() is not None


def test_the_text_names_what_where_and_how_to_allow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "tests/test_a.py::test_b[x y] (call)")
    text = explain(connect("1.2.3.4", 443))
    assert "connect to 1.2.3.4:443, in tests/test_a.py::test_b[x y]." in text
    assert "offline(allow=['1.2.3.4'])" in text
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "odd")
    assert "in odd." in explain(connect("1.2.3.4", 443))
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    assert explain(look_up("a.example")).startswith("Network blocked: look up a.example. ")


def test_the_module_imports_nothing_of_callsheet() -> None:
    module = sys.modules["callsheet._network_rules"]
    assert not [
        name for name, value in vars(module).items() if "callsheet" in str(getattr(value, "__name__", ""))
    ]
