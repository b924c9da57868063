"""`scenario` runs one test per case, from a list or a file."""

from pathlib import Path
from typing import Any

import pytest

from callsheet import OptionError, scenario

CASES = [{"id": "one", "n": 1}, {"n": 2}, {"id": 3, "n": 3}]
HERE = Path(__file__).parent


@scenario(CASES)
def test_each_case_reaches_the_test(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    assert case in CASES
    expected = {1: "one", 2: "case1", 3: "3"}[case["n"]]
    assert request.node.name.endswith(f"[{expected}]")


@scenario(({"name": letter} for letter in "ab"), id_key="name")
def test_cases_may_be_any_iterable_with_a_key_of_their_own(
    case: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    assert request.node.name.endswith(f"[{case['name']}]")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cases.yaml", "- {id: a, message: hi}\n- {id: b, message: ho}\n"),
        ("cases.yml", "- id: a\n  message: hi\n- id: b\n  message: ho\n"),
        ("cases.json", '[{"id": "a", "message": "hi"}, {"id": "b", "message": "ho"}]'),
    ],
)
@pytest.mark.parametrize("kind", [str, Path])
def test_cases_come_from_a_file(name: str, text: str, kind: Any, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    mark = scenario(kind(tmp_path / name)).mark
    assert mark.args == ("case", [{"id": "a", "message": "hi"}, {"id": "b", "message": "ho"}])
    assert mark.kwargs == {"ids": ["a", "b"]}


def test_a_relative_path_starts_at_the_file_that_asks(tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text('[{"id": "near"}]')
    namespace = {"__file__": str(tmp_path / "test_x.py"), "scenario": scenario}
    exec("mark = scenario('cases.json')", namespace)
    assert namespace["mark"].mark.kwargs == {"ids": ["near"]}  # type: ignore[attr-defined]


def test_code_without_a_file_starts_at_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cases.json").write_text('[{"id": "here"}]')
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"scenario": scenario}
    exec("mark = scenario('cases.json')", namespace)
    assert namespace["mark"].mark.kwargs == {"ids": ["here"]}


@pytest.mark.parametrize(
    ("cases", "advice"),
    [
        ([], "cases holds no case"),
        ({}, "cases is dict; give a list"),
        (7, "cases is int"),
        ([{"id": "a"}, "b"], r"cases\[1\] is 'b'; give a mapping"),
        ([{"id": "a"}, {"id": "a"}], r"cases\[0\] and \[1\] have the same id, 'a'"),
        ([{"id": "case1"}, {}], "same id, 'case1'"),
    ],
)
def test_cases_that_would_test_nothing_are_refused(cases: Any, advice: str) -> None:
    with pytest.raises(OptionError, match=advice):
        scenario(cases)


@pytest.mark.parametrize(
    ("name", "content", "advice"),
    [
        ("a.yaml", b"[}", "not valid YAML"),
        ("a.yaml", b"!!python/object:os.system {}", "not valid YAML"),
        ("a.yaml", b"2026-99-99", "not valid YAML"),
        ("a.json", b"{", "not valid JSON"),
        ("a.json", b"[" * 100_000, "not valid JSON"),
        ("a.json", b"\xff", "no UTF-8"),
        ("a.toml", b"", "ends with neither"),
        ("missing.json", None, "Can not read .*No such file"),
        ("a.yaml", b"", "is NoneType; give a list"),
        ("a.yaml", b"a: 1", "a.yaml is dict"),
    ],
)
def test_files_that_hold_no_cases_are_refused(
    name: str, content: bytes | None, advice: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(OptionError, match=advice):
        scenario(tmp_path / name)
