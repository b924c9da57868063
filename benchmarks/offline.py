"""Prints what `with offline():` costs a test, and what its audit hook costs when no block is open."""

from __future__ import annotations

import time
import timeit

from callsheet import offline

ROUNDS = 20_000


def microseconds(statement: str) -> float:
    """Give the processor time of the best of five runs, per round; other programs' share does not count."""
    runs = timeit.repeat(
        statement, setup="import sys", timer=time.process_time, globals=globals(), repeat=5, number=ROUNDS
    )
    return min(runs) / ROUNDS * 1e6


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
