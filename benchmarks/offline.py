"""Prints what `with offline():` costs a test, and what its audit hook costs when no block is open."""

from __future__ import annotations

import timeit

from callsheet import offline

ROUNDS = 20_000


def microseconds(statement: str) -> float:
    """Give the best of five runs, per round."""
    return (
        min(timeit.repeat(statement, setup="import sys", globals=globals(), repeat=5, number=ROUNDS))
        / ROUNDS
        * 1e6
    )


before = microseconds("sys.audit('benchmark')")
block = microseconds("with offline(): pass")
allowing = microseconds("with offline(allow=['localhost', '127.0.0.1:8080']): pass")
after = microseconds("sys.audit('benchmark')")
with offline():
    inside = microseconds("sys.audit('benchmark')")

print(f"with offline(): pass                  {block:6.1f} us   (bar: 50)")
print(f"with offline(allow=[two]): pass       {allowing:6.1f} us")
print(f"any audit event, no hook              {before:6.2f} us")
print(f"any audit event, hook but no block    {after:6.2f} us")
print(f"any audit event, inside a block       {inside:6.2f} us")
