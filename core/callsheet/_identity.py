"""One key per object, whatever its own equality says."""

from __future__ import annotations

identity = object.__hash__
"""Give a number that no other object alive has; equal and unhashable objects have one too.

It is what `id` is good for. But each `id` raises an audit event, and once a hook listens, as `offline()`'s
does, that makes it ten times as dear: too much for what every tool call passes.
"""
