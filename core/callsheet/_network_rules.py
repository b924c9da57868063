"""What Python's audit events say about the network, and which of it an `allow` list lets through.

Loaded by file name inside child processes too, where callsheet may not be importable and Python may
be older: it imports nothing of callsheet's.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from typing import Any, NamedTuple


class Attempt(NamedTuple):
    """One try to reach the network.

    Args:
        action: "connect to", "send to" or "look up".
        host: The name or address.
        port: The port, or None for a look-up that names none.
    """

    action: str
    host: str
    port: int | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.action} {host}" if self.port is None else f"{self.action} {host}:{self.port}"


_SENDING = {"socket.connect": "connect to", "socket.sendto": "send to", "socket.sendmsg": "send to"}
_FORWARD_LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname")
_REVERSE_LOOKUPS = ("socket.gethostbyaddr", "socket.getnameinfo")

WATCHED_EVENTS = frozenset([*_SENDING, *_FORWARD_LOOKUPS, *_REVERSE_LOOKUPS])

# Families that never leave the machine; everything else is the network.
_LOCAL_FAMILIES = frozenset(
    getattr(socket, name) for name in ("AF_UNIX", "AF_NETLINK", "AF_ALG") if hasattr(socket, name)
)

_HIGHEST_PORT = 65535

_own_lookup = threading.local()


def attempted(event: str, args: tuple[Any, ...]) -> Attempt | None:
    """Give what an audit event is about to reach, or None when it stays on this machine.

    Args:
        event: One of `WATCHED_EVENTS`.
        args: The event's arguments.
    """
    if getattr(_own_lookup, "running", False):
        return None
    if event in _SENDING:
        return _sending(_SENDING[event], *args)
    if event in _FORWARD_LOOKUPS:
        return _forward_lookup(*args)
    address = args[0]
    host = address[0] if isinstance(address, tuple) and address else address
    return Attempt("look up", _text(host), None)


class Allowed:
    """The hosts, addresses, networks and ports an `allow` list names.

    Args:
        entries: "host", "host:port", "1.2.3.4", "[::1]:port", "10.0.0.0/8" or ":port" (any host).

    Raises:
        ValueError: If an entry is none of these.
    """

    def __init__(self, entries: tuple[str, ...]) -> None:
        self.entries = entries
        self._rules = [_parse(entry) for entry in entries]
        self._addresses: dict[str, set[str]] = {}

    def permits(self, attempt: Attempt) -> bool:
        """Say whether the list lets this attempt through."""
        return any(
            self._host_fits(host, attempt.host) and _port_fits(port, attempt, any_host=not host)
            for host, port in self._rules
        )

    def _host_fits(self, rule: str, host: str) -> bool:
        if not rule or rule == host:
            return True
        if "/" in rule:
            return _in_network(host, rule)
        if _is_address(rule) or not _is_address(host):
            return False
        # Names are looked up again on every miss: their addresses may rotate.
        known = self._addresses.setdefault(rule, set())
        if host not in known:
            known |= _addresses_of(rule)
        return host in known


def _port_fits(rule: int | None, attempt: Attempt, *, any_host: bool) -> bool:
    if rule is None or attempt.port == rule:
        return True
    # The look-up of an allowed host may not say yet which port it is for.
    return attempt.action == "look up" and attempt.port is None and not any_host


def _sending(action: str, sock: Any, address: Any) -> Attempt | None:
    if sock.family in _LOCAL_FAMILIES or address is None or _inside_socketpair():
        return None
    if isinstance(address, tuple) and address[1:] and isinstance(address[1], int):
        return Attempt(action, _text(address[0]), address[1])
    return Attempt(action, repr(address), None)


def _forward_lookup(host: Any, port: Any = None, *_: Any) -> Attempt | None:
    name = _text(host)
    # Without a name, or with an address for one, nothing leaves the machine.
    if not name or _is_address(name):
        return None
    return Attempt("look up", name, _port_number(port))


def _port_number(port: Any) -> int | None:
    text = port.decode("ascii", "replace") if isinstance(port, bytes) else str(port)
    return int(text) or None if text.isascii() and text.isdigit() else None


def _inside_socketpair() -> bool:
    # Where the system has no socketpair (Windows), Python connects to a socket of its own instead.
    frame = sys._getframe(1)  # noqa: SLF001 - the documented way to the caller's frame
    while frame is not None:
        if frame.f_code.co_name in ("socketpair", "_fallback_socketpair"):
            return frame.f_code.co_filename == socket.__file__
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _text(host: Any) -> str:
    if host is None:
        return ""
    text = bytes(host).decode("ascii", "replace") if isinstance(host, (bytes, bytearray)) else str(host)
    return _canonical(text)


def _canonical(host: str) -> str:
    """Give one spelling for a host: lower case, no root dot, addresses in their shortest form."""
    from ipaddress import IPv6Address, ip_address

    host = host.strip().lower().rstrip(".")
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


def _is_address(host: str) -> bool:
    from ipaddress import ip_address

    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _in_network(host: str, network: str) -> bool:
    from ipaddress import ip_address, ip_network

    return _is_address(host) and ip_address(host) in ip_network(network)


def _addresses_of(name: str) -> set[str]:
    _own_lookup.running = True
    try:
        return {_text(info[4][0]) for info in socket.getaddrinfo(name, None)}
    except OSError:
        return set()
    finally:
        _own_lookup.running = False


def _parse(entry: str) -> tuple[str, int | None]:
    host, port = _split_port(entry)
    if port is not None and not 0 < port <= _HIGHEST_PORT:
        raise ValueError(f"{entry!r} has a port outside 1 to 65535")
    if "/" in host:
        from ipaddress import ip_network

        try:
            return str(ip_network(host, strict=False)), port
        except ValueError:
            raise ValueError(f"{entry!r} is neither a host nor a network; pass the host name alone") from None
    host = _canonical(host)
    if not host and port is not None:
        return "", port
    if not host or any(character.isspace() for character in host) or (":" in host and not _is_address(host)):
        raise ValueError(f"{entry!r} names no host")
    return host, port


def _split_port(entry: str) -> tuple[str, int | None]:
    host, colon, port = entry.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit():
        return entry.strip("[]"), None
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        return entry, None  # a bare IPv6 address: its last group is no port
    return host.strip("[]"), int(port)


def current_test() -> str | None:
    """Give the id of the running pytest test, or None."""
    running = os.environ.get("PYTEST_CURRENT_TEST")
    return running.rpartition(" ")[0] or running if running else None


def explain(attempt: Attempt) -> str:
    """Say what was blocked, in which test, and how to let it through."""
    test = current_test()
    return (
        f"Network blocked: {attempt}{f', in {test}' if test else ''}. Inside offline() nothing leaves this "
        f"machine: mock what needs it, or let it through with offline(allow=[{attempt.host!r}])."
    )
