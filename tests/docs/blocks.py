"""Code blocks of a Markdown page, as Python modules whose line numbers are the page's."""

import ast
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^( *)```(\w*)[^\n`]*\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- fails -->\s*\Z")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its source, and the line of the page that its source starts on."""

    language: str
    source: str
    line: int
    fails: bool


def blocks_of(page: Path) -> list[Block]:
    """Give a page's fenced blocks; the comment `<!-- fails -->` before one says that its test has to fail."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            language=found[2],
            source=textwrap.dedent(found[3]),
            line=text.count("\n", 0, found.start(3)) + 1,
            fails=MARK.search(text, 0, found.start()) is not None,
        )
        for found in FENCE.finditer(text)
    ]


def module_of(blocks: list[Block]) -> str:
    """Give one module of Python blocks, each at its own line of the page.

    Raises:
        ValueError: Two blocks define a test of the same name, so the first would never run.
    """
    lines: list[str] = []
    tests: dict[str, int] = {}
    for block in blocks:
        for node in ast.parse(block.source).body:
            name = getattr(node, "name", "")
            if not name.lower().startswith("test"):
                continue
            if name in tests:
                raise ValueError(
                    f"{name!r} in line {block.line} hides the one of line {tests[name]}; rename one."
                )
            tests[name] = block.line
        lines += [""] * (block.line - 1 - len(lines)) + block.source.splitlines()
    return "\n".join(lines) + "\n"


def appears_in_order(expected: str, output: str) -> bool:
    """Tell whether the expected lines stand in the output in order, margins and lines of `...` aside."""
    remaining = iter(line.removeprefix("E").strip() for line in output.splitlines())
    wanted = [line.removeprefix("E").strip() for line in expected.splitlines()]
    return all(line in remaining for line in wanted if line not in ("", "..."))
