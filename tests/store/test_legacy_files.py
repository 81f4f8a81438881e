"""The old conversations.db itself: kept, taken out of the way, or refused and left alone."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from remit.errors import StoreForeign
from remit.store import home, legacy
from tests.store.old_file import S3_TASKS, TALK, by_origin, carried, lay, task


def test_the_old_file_is_kept_and_taken_out_of_the_way(tmp_path: Path) -> None:
    before = lay(tmp_path, TALK).read_bytes()

    carried(tmp_path).close()

    names = {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.db*")}
    saved = "backups/conversations-20260219T200000Z.db"
    assert names == {"agent.db", "conversations.db.migrated", saved}
    assert (tmp_path / "conversations.db.migrated").read_bytes() == before
    assert (tmp_path / saved).stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(tmp_path / saved)) as kept:
        assert kept.execute("SELECT COUNT(*) FROM turns").fetchone() == (4,)


def test_what_stands_only_in_the_old_log_is_carried_over_too(tmp_path: Path) -> None:
    old = lay(tmp_path / "writing", TALK)
    with closing(sqlite3.connect(old)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("INSERT INTO conversations (id, title) VALUES ('conv-3', 'In the log')")
        db.commit()
        home_folder = tmp_path / "home"
        home_folder.mkdir()
        for suffix in ("", "-wal"):  # as a process leaves them that dies
            left = old.with_name(f"conversations.db{suffix}").read_bytes()
            (home_folder / f"conversations.db{suffix}").write_bytes(left)

    scene = carried(home_folder)
    titles = {row["title"] for row in scene.sql("SELECT title FROM conversations")}
    scene.close()

    assert "In the log" in titles
    names = {file.name for file in home_folder.iterdir()}
    assert {"conversations.db", "conversations.db-wal"} & names == set()
    assert {"conversations.db.migrated", "conversations.db.migrated-wal"} <= names


def test_an_old_file_beside_a_new_one_is_left_alone(tmp_path: Path) -> None:
    home.prepare(tmp_path / "agent.db")
    old = lay(tmp_path, TALK)
    before = old.read_bytes()

    scene = carried(tmp_path)

    assert scene.sql("SELECT * FROM conversations") == []
    assert old.read_bytes() == before
    scene.close()


def test_another_old_file_that_comes_later_is_left_alone_too(tmp_path: Path) -> None:
    lay(tmp_path, TALK)
    carried(tmp_path).close()
    again = lay(tmp_path, "CREATE TABLE conversations (id TEXT)")

    carried(tmp_path).close()

    assert again.exists()


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("CREATE TABLE songs (name TEXT)", "no conversations, turns or tasks"),
        ("CREATE TABLE conversations (name TEXT)", "conversations have no column for id"),
        (
            "CREATE TABLE turns (conversation_id TEXT, mood TEXT)",
            "turns have no column for role, content",
        ),
        ("CREATE TABLE tasks (id TEXT, title TEXT)", "no column for instructions, status"),
    ],
)
def test_a_layout_nobody_recognises_is_refused_and_left_alone(
    tmp_path: Path, script: str, why: str
) -> None:
    old = lay(tmp_path, script)
    before = old.read_bytes()

    with pytest.raises(StoreForeign, match=rf"{why}.*Nothing was changed"):
        home.prepare(tmp_path / "agent.db")

    assert old.read_bytes() == before
    assert not (tmp_path / "agent.db").exists()


@pytest.mark.parametrize("damage", ["text", "noise"])
def test_an_old_file_that_cannot_be_read_is_refused_and_left_alone(
    tmp_path: Path, damage: str
) -> None:
    old = lay(tmp_path, S3_TASKS + TALK + "".join(task(f"t-{n}", "pending") for n in range(99)))
    whole = old.read_bytes()
    broken = b"Dear diary" if damage == "text" else whole[:8192] + bytes(4096) + whole[12288:]
    old.write_bytes(broken)

    with pytest.raises(StoreForeign):
        home.prepare(tmp_path / "agent.db")

    assert old.read_bytes() == broken
    assert not (tmp_path / "agent.db").exists()


# Cuts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "cut"),
    [
        (legacy, "_keep"),
        (legacy, "_carry_task"),
        (legacy, "_carry_talk"),
        (home, "sync_folder"),
        (legacy, "retire"),
    ],
    ids=["before the copy", "after the copy", "in the midst", "as the file stands", "at the end"],
)
def test_a_cut_at_any_point_is_made_good_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, cut: str
) -> None:
    lay(tmp_path, S3_TASKS + TALK + task("task-a", "completed"))

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, cut, fail)
        with pytest.raises(KeyboardInterrupt):
            home.prepare(tmp_path / "agent.db")
    assert (tmp_path / "conversations.db").exists()

    scene = carried(tmp_path)

    assert len(by_origin(scene)) == 1
    assert len(scene.sql("SELECT * FROM turns")) == 4
    scene.close()
    assert not (tmp_path / "conversations.db").exists()
    assert len(list((tmp_path / "backups").iterdir())) == 1
    carried(tmp_path).close()  # and a start after that changes nothing
