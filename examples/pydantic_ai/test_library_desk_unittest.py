"""The library desk under unittest."""

from __future__ import annotations

import unittest

from library_desk import Visitor, desk

from callsheet import FakeModel, MockTool, wrap
from callsheet.unittest import AgentTestCase


class LibraryDeskTest(AgentTestCase):
    def test_a_search_is_answered(self) -> None:
        library = wrap(
            desk,
            model=FakeModel(
                [{"tool_calls": [{"name": "books_search", "args": {"words": "whale"}}]}, "It is here."]
            ),
            tools=[MockTool("books_search", response=[{"isbn": "978-1", "title": "Moby-Dick"}])],
        )
        result = library.sync_invoke("The one about the whale", deps=Visitor("C42", catalogue=None))
        self.assertToolCalls(result, [{"name": "books_search", "args": {"words": "whale"}}])
        self.assertResponseContains(result, "here")


if __name__ == "__main__":
    unittest.main()
