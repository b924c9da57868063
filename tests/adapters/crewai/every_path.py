"""Every entry point one after another, for a process that is asked what it left behind."""

from __future__ import annotations

import sys

from callsheet import MockTool
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.paths import PATHS, Script
from tests.adapters.crewai.watch import watched


def run_every_path():
    for path, (run, searches) in PATHS.items():
        for native in (True, False):
            mock = MockTool("search", response="MOCK")
            with watched() as (network, files):
                with CrewAIAdapter(crews.crew, tools=[mock], model=Script().model).session():
                    run(native)
            seen = (mock.call_count, network, files, dict(HITS))
            if seen != (searches, [], [], {}):
                sys.exit(f"{path} ({'native' if native else 'text'}): {seen}")
