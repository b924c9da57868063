"""Artifacts stay in their directory and are written whole or not at all."""

import errno
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet import ArtifactError, OptionError
from callsheet._artifact_files import confined, write_new, write_whole


def names_in(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


@pytest.mark.parametrize("name", ["summary", "flows/happy path", "test_a[x-1]", "größe", "v1.2", ".hidden"])
def test_a_name_becomes_a_path_inside(tmp_path: Path, name: str) -> None:
    assert confined(tmp_path, name, ".json") == tmp_path / f"{name}.json"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "stays inside"),
        (".", "stays inside"),
        ("..", "stays inside"),
        ("../up", "stays inside"),
        ("a/../../up", "stays inside"),
        ("/etc/passwd", "stays inside"),
        ("a//b", "stays inside"),
        ("a/", "stays inside"),
        ("a\\b", "contains"),
        ("C:x", "contains ':'"),
        ("a*", "contains"),
        ("a\0b", "contains '\\\\x00'"),
        ("a\nb", "contains"),
        ("a\x1b[31mb", "contains"),
        ("a\u202eb", "contains"),
        ("a\ud800", "contains"),
        (" a", "space"),
        ("a ", "space"),
        ("a.", "dot"),
        ("con", "device"),
        ("x/LPT1.txt", "device"),
        ("ä" * 76, "longer than 150 bytes"),
        ("x" * 10_000_000, "longer than 150 bytes"),
        (None, "pass text"),
        (7, "pass text"),
    ],
)
def test_a_name_that_is_none_everywhere_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(OptionError, match=reason) as raised:
        confined(tmp_path, name, ".json")
    assert len(str(raised.value)) < 500
    assert str(raised.value).isprintable()


@given(st.text(max_size=20))
def test_no_name_leads_out(name: str) -> None:
    directory = Path("/base/snapshots")
    try:
        path = confined(directory, name, ".json")
    except OptionError:
        return
    assert os.path.normpath(path).startswith("/base/snapshots/")


def test_a_link_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "file.json").symlink_to(outside / "file.json")
    for name in ("link/a", "file"):
        with pytest.raises(OptionError, match="through a link"):
            confined(inside, name, ".json")


def test_a_directory_that_is_itself_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(confined(tmp_path / "link", "a", ".json"), "text")
    assert (tmp_path / "real" / "a.json").read_text() == "text"


def test_writing_makes_directories_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.json"
    write_whole(path, "old")
    write_whole(path, "nëw")
    assert path.read_text(encoding="utf-8") == "nëw"
    assert names_in(path.parent) == ["c.json"]


def test_files_get_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_whole(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_lone_surrogate_is_written_as_its_escape(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", '"\ud800"')
    assert (tmp_path / "a").read_bytes() == b'"\\ud800"'


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    write_whole(path, "old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    for write in (write_whole, write_new):
        with pytest.raises(ArtifactError, match=r"a\.json: No space left on device\. Nothing was changed"):
            write(path, "new")
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["a.json"]


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    """Root may write into a read-only directory, so a file stands where the directory should be."""
    (tmp_path / "file").touch()
    with pytest.raises(ArtifactError, match="Make the directory writable"):
        write_whole(tmp_path / "file" / "a.json", "text")


def test_an_error_without_a_text_of_the_systems_is_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(handle: int) -> None:
        raise OSError("odd")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ArtifactError, match="odd"):
        write_whole(tmp_path / "a", "text")


def test_only_one_of_many_makes_a_new_file(tmp_path: Path) -> None:
    path, together, made = tmp_path / "a.json", threading.Barrier(8), []

    def make(text: str) -> None:
        together.wait(5)
        if write_new(path, text):
            made.append(text)

    threads = [threading.Thread(target=make, args=(str(number) * 1000,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [path.read_text()]
    assert names_in(tmp_path) == ["a.json"]


def test_new_files_are_made_without_hard_links_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(self: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(Path, "hardlink_to", unsupported)
    assert write_new(tmp_path / "a", "first")
    assert not write_new(tmp_path / "a", "second")
    assert (tmp_path / "a").read_text() == "first"
    assert names_in(tmp_path) == ["a"]


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    path, stop = tmp_path / "a", threading.Event()
    texts = {"x" * 100_000, "y" * 100_000}
    write_whole(path, "x" * 100_000)

    def keep_writing() -> None:
        while not stop.is_set():
            for text in texts:
                write_whole(path, text)

    writers = [threading.Thread(target=keep_writing) for _ in range(2)]
    for writer in writers:
        writer.start()
    seen = {path.read_text() for _ in range(100)}
    stop.set()
    for writer in writers:
        writer.join()
    assert seen <= texts
