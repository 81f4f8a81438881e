"""The files of a worktree: no path leads out of it, whoever laid it."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput, NotFound
from remit.specialist import tree
from remit.specialist.tree import WorkspaceFiles
from tests.tables import for_each


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    (made / "src").mkdir(parents=True)
    (made / "src" / "app.py").write_text("x = 1\n")
    (made / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "secret").write_text("secret")
    (made / "out").symlink_to(tmp_path)
    (made / "shadow").symlink_to(tmp_path / "secret")
    return made


@for_each("path", ["src/app.py", "./src/app.py", "src//app.py"])
def test_a_file_is_read_by_its_path(folder: Path, path: str) -> None:
    assert WorkspaceFiles(str(folder)).read(path) == "x = 1\n"
    assert WorkspaceFiles(str(folder)).read(f"{folder}/{path}") == "x = 1\n"


@for_each(
    "path",
    [
        *("../secret", "src/../../secret", "/etc/passwd", "shadow", "out/secret", "", ".", "/"),
        *(".git", ".git/config", "src/.GIT/x", ".git. /x", "a\0b", "src", "src/app.py/x"),
    ],
)
def test_no_path_leads_out_or_into_git(folder: Path, path: str) -> None:
    there = WorkspaceFiles(str(folder))

    with pytest.raises((BadInput, NotFound)):
        there.read(path)
    with pytest.raises((BadInput, NotFound)):
        there.write(path, "x")
    with pytest.raises((BadInput, NotFound)):
        there.delete(path)
    assert (folder.parent / "secret").read_text() == "secret"


@given(st.lists(st.sampled_from(["..", ".", "out", "src", ".git", "shadow", "a", "/", ""])))
def test_whatever_a_path_is_made_of_nothing_outside_is_written(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    top = tmp_path_factory.mktemp("top")
    (top / "folder" / "src").mkdir(parents=True)
    (top / "folder" / "out").symlink_to(top)

    with suppress(BadInput, NotFound):
        WorkspaceFiles(str(top / "folder")).write("/".join(names), "x")

    assert [path.name for path in top.iterdir()] == ["folder"]
    assert not (top / "folder" / ".git").exists()


@for_each("mode", [0o755, 0o4755])  # a setuid bit is not kept
def test_a_file_that_is_written_anew_may_be_used_as_before(folder: Path, mode: int) -> None:
    (folder / "run.sh").write_text("old")
    (folder / "run.sh").chmod(mode)

    WorkspaceFiles(str(folder)).write("run.sh", "new")
    WorkspaceFiles(str(folder)).write("deep/er/new.txt", "new")

    assert (folder / "run.sh").stat().st_mode & 0o7777 == 0o755
    assert (folder / "deep/er/new.txt").read_text() == "new"


def test_what_is_too_large_or_no_text_is_refused(folder: Path) -> None:
    (folder / "huge").write_bytes(b"x" * (tree.MAX_FILE_BYTES + 1))
    (folder / "bin").write_bytes(b"\xff\xfe")

    for path, why in (("huge", "at most"), ("bin", "not text")):
        with pytest.raises(BadInput, match=why):
            WorkspaceFiles(str(folder)).read(path)
    with pytest.raises(BadInput, match="would have"):
        WorkspaceFiles(str(folder)).write("new", "x" * (tree.MAX_FILE_BYTES + 1))


def test_a_listing_names_files_alone_follows_no_link_and_says_that_there_is_more(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = WorkspaceFiles(str(folder))

    assert there.names() == there.names("src") == ["src/app.py"]
    with pytest.raises(BadInput):
        there.names("out")
    monkeypatch.setattr(tree, "MAX_NAMES", 1)
    (folder / "z").write_text("z")
    assert there.names()[-1].startswith("… and more")
    there.delete("src/app.py")
    with pytest.raises(NotFound):
        there.delete("src/app.py")
