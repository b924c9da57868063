"""The canary of a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.openai_agents.kinds import Canary


@pytest.fixture
def canary(tmp_path: Path) -> Canary:
    return Canary(tmp_path)
