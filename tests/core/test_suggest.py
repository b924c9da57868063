import pytest

from callsheet._suggest import closest, did_you_mean, listed


@pytest.mark.parametrize(
    ("name", "candidates", "found"),
    [
        ("serach", ["search", "book"], ["search"]),
        ("SEARCH", ["search", "book"], ["search"]),
        ("search_room", ["search_rooms", "search_room_rates", "pay"], ["search_rooms", "search_room_rates"]),
        ("get", ["Get", "get", "GET"], ["Get", "get", "GET"]),
        ("xyz", ["search"], []),
        ("", ["search"], []),
        ("search", [], []),
        ("search", [("search",), 1, "serch"], ["serch"]),
        (("search",), ["search"], []),
    ],
)
def test_the_closest_names_come_best_first(name, candidates, found):
    assert closest(name, candidates) == found


def test_at_most_three_names_are_offered():
    assert len(closest("tool", [f"tool{n}" for n in range(9)])) == 3


def test_the_question_names_what_was_found():
    assert did_you_mean("serach", ["search", "book"]) == " Did you mean 'search'?"
    assert did_you_mean("bok", iter(["book", "boks"])) == " Did you mean 'book' or 'boks'?"
    assert did_you_mean("xyz", ["search"]) == ""


def test_names_are_listed_quoted():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed([]) == "none"
    assert listed(iter([]), nothing="no tools") == "no tools"
