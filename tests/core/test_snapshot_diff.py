"""Differences from a snapshot name the place and show both sides, however large they are."""

from typing import Any

import pytest

from callsheet._snapshot_diff import described, differences


def text(stored: Any, actual: Any, exact: Any = None) -> str:
    return described(differences(stored, actual, actual if exact is None else exact))


@pytest.mark.parametrize(
    ("stored", "actual", "expected"),
    [
        ({"a": 1}, {"a": 1}, ""),
        (1, 1.0, ""),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ""),
        (1, True, "  the value\n    - 1\n    + true"),
        ({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}, '  a[1].b\n    - "x"\n    + "y"'),
        ({"a": 1}, {}, "  a\n    - 1"),
        ({}, {"a": None}, "  a\n    + null"),
        ([1, 2, 3], [1, 3], "  [1]\n    - 2"),
        ([1, 3], [1, 2, 3], "  [1]\n    + 2"),
        ([], [1], "  [0]\n    + 1"),
        ([1, 1], [1], "  [1]\n    - 1"),
        ([1, 2, 3, 4], [1, 9, 4], "  [1]\n    - 2\n  [2]\n    - 3\n  [1]\n    + 9"),
        ({"$tuple": [1]}, [1], '  the value\n    - {"$tuple": [1]}\n    + [1]'),
    ],
)
def test_what_differs(stored: Any, actual: Any, expected: str) -> None:
    assert text(stored, actual) == expected


def test_a_snapshot_may_hold_the_exact_value_of_a_volatile_part() -> None:
    assert text({"id": "7"}, {"id": "[id 1]"}, {"id": "7"}) == ""
    assert text({"id": "8"}, {"id": "[id 1]"}, {"id": "7"}) == '  id\n    - "8"\n    + "[id 1]"'


def test_only_the_first_differences_are_shown() -> None:
    lines = text(dict.fromkeys(map(str, range(50)), 1), dict.fromkeys(map(str, range(50)), 2)).splitlines()
    assert len(lines) == 61
    assert lines[-1] == "  ... and 30 more"


def test_long_texts_are_cut_around_their_first_difference() -> None:
    same = "x" * 5_000_000
    shown = text(same + "old" + same, same + "new" + same)
    assert len(shown) < 600
    assert "oldxx" in shown
    assert "newxx" in shown
    assert "(10000005 characters)" in shown


def test_a_long_text_on_one_side_only_is_cut_from_its_start() -> None:
    assert text({}, {"a": "start" + "x" * 1000}).startswith('  a\n    + "startxx')
    assert "..." in text({"a": "x" * 1000}, {"a": "x" * 999})
