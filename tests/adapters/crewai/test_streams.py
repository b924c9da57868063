"""Replies in chunks, and runs as events."""

from __future__ import annotations

import asyncio

from callsheet import FakeModel
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews


def test_chunks_join_to_what_was_scripted():
    adapter = CrewAIAdapter(crews.agent(tools=[]), model=FakeModel(["one two three"]))

    async def main():
        return [event async for event in adapter.stream("go")]

    events = asyncio.run(main())
    assert "".join(e.chunk for e in events if e.type == "llm_stream_chunk") == "one two three"
    assert adapter.last_result.response == "one two three"


def test_streaming_crew_gives_the_framework_its_chunks():
    crew = crews.crew(stream=True)
    model = FakeModel(agents={"Researcher": ["found it"], "Writer": ["written down"]})
    with CrewAIAdapter(crew, model=model).session() as session:
        stream = crew.kickoff(inputs={"topic": "x"})
        chunks = [chunk.content for chunk in stream]
    assert "".join(chunks) == "found itwritten down"
    assert session.result.response == "written down"
