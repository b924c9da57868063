"""CrewAI warns about itself on ordinary use; the root settings would make errors of that."""

from __future__ import annotations

from pathlib import Path

import pytest

# First of all: CrewAI's import alone warns, and writes under the home folder.
import callsheet_crewai  # noqa: F401
from tests.adapters.crewai.crews import HITS

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))


@pytest.fixture(autouse=True)
def _no_hits():
    HITS.clear()
