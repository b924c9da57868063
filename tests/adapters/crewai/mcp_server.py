"""An MCP server for the tests; it leaves a line in a file when it starts and at each call."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp.server.fastmcp import FastMCP

LOG = Path(sys.argv[1])
server = FastMCP("library")


def note(what):
    with LOG.open("a") as log:
        log.write(f"{what}\n")


@server.tool()
def lookup(key: str) -> str:
    """Look something up."""
    note(f"lookup {key}")
    return f"REAL {key}"


if __name__ == "__main__":
    note("started")
    server.run()
