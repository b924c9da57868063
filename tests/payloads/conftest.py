"""A provider on this machine: it answers every request with the body a test gives it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Provider:
    """Answers with server-sent events, in small pieces."""

    def __init__(self) -> None:
        self.body = ""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                body = provider.body.encode()
                for start in range(0, len(body), 50):
                    self.wfile.write(body[start : start + 50])

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def says(self, *events: dict[str, Any] | str, typed: bool = False) -> str:
        """Set and give the body that these events make."""
        self.body = "".join(
            (f"event: {event['type']}\n" if typed and isinstance(event, dict) else "")
            + f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
            for event in events
        )
        return self.body

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def provider() -> Iterator[Provider]:
    """Give a provider whose answers a test sets with `says`."""
    provider = Provider()
    yield provider
    provider.close()
