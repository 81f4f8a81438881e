"""The files of a task: no path leads out, nothing is half written, and there is an end to room."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.brain import workspace_tools
from remit.brain.workspace_tools import Workspace
from remit.errors import BadInput, Conflict, RemitError
from remit.model.ids import TaskId
from tests.tables import for_each

TASK = TaskId("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA")


def place(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "work", TASK)


def own(tmp_path: Path) -> Path:
    return tmp_path / "work" / TASK


def test_what_is_written_is_read_and_listed(tmp_path: Path) -> None:
    files = place(tmp_path)

    assert files.write("notes/offers.md", "Bäckerei: 40 €\n") == 18
    assert files.write("a.txt", "") == 0
    assert files.read_bytes("notes/offers.md").decode() == "Bäckerei: 40 €\n"
    assert files.files() == [("a.txt", 0), ("notes/offers.md", 18)]
    assert own(tmp_path).stat().st_mode & 0o777 == 0o700
    assert (own(tmp_path) / "a.txt").stat().st_mode & 0o777 == 0o600


@for_each(
    "path",
    [
        *("", "/etc/passwd", "../up.txt", "a/../../up.txt", "a/./b", "a//b", "a/", ".hidden", ".."),
        *("a\0b", "a\nb", "tab\tname", "a\\..\\b", " a", "a ", "a\u202eb", "a\u200bb"),
        *("a\u2028b", "half\ud800", "x" * 121, "ü" * 61),
        *("/".join("abcdefghi"), "/".join(["x" * 100] * 6)),
    ],
)
def test_a_path_that_could_lead_elsewhere_is_refused(path: str, tmp_path: Path) -> None:
    files = place(tmp_path)
    with pytest.raises(BadInput):
        files.write(path, "x")
    with pytest.raises(BadInput):
        files.read_bytes(path)

    assert files.files() == []


@given(st.text(max_size=40) | st.from_regex(r"[./\\a-c~ ]{1,12}", fullmatch=True))
def test_whatever_the_path_nothing_is_touched_outside(
    tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    root = tmp_path_factory.mktemp("outside")
    files = Workspace(root / "work", TASK)
    try:
        files.write(path, "written")
    except RemitError:
        assert files.files() == []
    else:
        assert files.read_bytes(path) == b"written"
        assert [name for name, _ in files.files()] == [path]
    every = [found for found in root.rglob("*") if found.is_file()]

    assert all(found.is_relative_to(root / "work" / TASK) for found in every)
    assert [found.name for found in every if found.name.startswith(".")] == []


def test_no_link_is_followed_wherever_it_lies(tmp_path: Path) -> None:
    files = place(tmp_path)
    files.write("a.txt", "x")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("canary")
    (secret / "word").write_text("canary")
    (own(tmp_path) / "file").symlink_to(secret / "word")
    (own(tmp_path) / "folder").symlink_to(secret)
    os.link(secret / "key", own(tmp_path) / "second-name")

    for path in ("file", "folder/key", "second-name"):
        with pytest.raises(BadInput):
            files.read_bytes(path)
    for path in ("file", "folder/key", "folder/new"):
        with pytest.raises(RemitError):
            files.write(path, "overwritten")

    assert [(secret / name).read_text() for name in ("key", "word")] == ["canary", "canary"]
    assert sorted(found.name for found in secret.iterdir()) == ["key", "word"]
    assert "folder/key" not in dict(files.files())


def test_a_workspace_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "work").mkdir()
    own(tmp_path).symlink_to(elsewhere)

    with pytest.raises(BadInput):
        place(tmp_path).write("a.txt", "x")
    with pytest.raises(BadInput):
        Workspace(Path("work"), TaskId("../other"))
    assert list(elsewhere.iterdir()) == []


def test_only_text_goes_in_and_a_pipe_is_no_file(tmp_path: Path) -> None:
    files = place(tmp_path)
    files.write("a.txt", "x")
    os.mkfifo(own(tmp_path) / "pipe")

    for text in ("a\0b", "half \ud800"):
        with pytest.raises(BadInput, match="not text"):
            files.write("b.txt", text)
    with pytest.raises(BadInput):
        files.read_bytes("pipe")
    with pytest.raises(BadInput):
        files.write("pipe", "x")
    assert files.files() == [("a.txt", 1)]


def test_a_file_a_folder_and_their_number_have_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_tools, "MAX_FILE_BYTES", 100)
    monkeypatch.setattr(workspace_tools, "MAX_TOTAL_BYTES", 250)
    monkeypatch.setattr(workspace_tools, "MAX_FILES", 4)
    files = place(tmp_path)
    with pytest.raises(BadInput, match="at most 100"):
        files.write("big", "ü" * 51)
    files.write("one", "x" * 100)
    files.write("two", "x" * 100)
    with pytest.raises(Conflict, match="MB of files"):
        files.write("three", "x" * 51)
    files.write("one", "x" * 10)  # what it replaces does not count
    files.write("three", "x")
    files.write("four", "x")
    with pytest.raises(Conflict, match="at most 4 files"):
        files.write("five", "x")
    (own(tmp_path) / "two").write_text("x" * 101)

    with pytest.raises(BadInput, match="at most 100 are read"):
        files.read_bytes("two", 100)


def test_what_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = place(tmp_path)
    files.write("a.txt", "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Conflict, match="No space left"):
        files.write("a.txt", "new")
    monkeypatch.undo()

    assert files.read_bytes("a.txt") == b"old"
    assert files.files() == [("a.txt", 3)]
    files.write("a.txt", "newer")
    assert sorted(found.name for found in own(tmp_path).iterdir()) == ["a.txt"]


def test_a_file_where_a_folder_should_be_is_told(tmp_path: Path) -> None:
    files = place(tmp_path)
    files.write("a", "x")
    files.write("b/c", "x")

    with pytest.raises(RemitError, match="cannot be opened"):
        files.write("a/b", "x")
    with pytest.raises(BadInput, match="is no file"):
        files.write("b", "x")
    with pytest.raises(BadInput, match="no file of this task"):
        files.read_bytes("b")
    with pytest.raises(BadInput, match="There is no file 'z'"):
        files.read_bytes("z")
