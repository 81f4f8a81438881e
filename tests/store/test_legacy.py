"""What an older installation knew, its talk and its tasks, is carried over whole."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remit.errors import StoreForeign
from remit.model.status import Status
from remit.store import events, home, legacy, tasks
from remit.testing import World
from tests.store.old_file import S3_TASKS, TALK, WRITTEN, by_origin, carried, lay, task
from tests.tables import for_each

OURS = "task-01KJ3A9QZ0V5T3K2M1P9RA8WZ0"

# Talk ---------------------------------------------------------------------------------------------


def test_every_conversation_and_every_turn_is_carried_over(tmp_path: Path) -> None:
    lay(tmp_path, S3_TASKS + TALK + task("task-a", "pending"))

    scene = carried(tmp_path)
    talks = scene.sql("SELECT id, title, created_at FROM conversations ORDER BY id")
    turns = scene.sql("SELECT * FROM turns ORDER BY conversation_id, n")
    (known,) = by_origin(scene).values()
    scene.close()

    assert [(row["id"], row["title"]) for row in talks] == [
        ("conv-1", "Bangkok"),
        ("conv-2", "Conversation"),
        ("conv-lost", "Conversation"),
    ]
    assert [row["created_at"] for row in talks] == [1771408800000, 1771488000000, 1771495200000]
    assert [(row["n"], row["role"], row["content"], row["task_id"]) for row in turns] == [
        (1, "user", "Research Bangkok, please.", None),
        (2, "assistant", "On it.", known.id),
        (3, "system", "Meanwhile", None),
        (1, "user", "übe", None),
    ]
    assert [row["task_action"] for row in turns] == [None, "created", None, None]
    assert turns[2]["said_at"] == int(WRITTEN.timestamp() * 1000)


def test_what_has_no_place_of_its_own_is_kept_as_text(tmp_path: Path) -> None:
    lay(tmp_path, TALK)

    scene = carried(tmp_path)
    kept = {
        str(row["id"]): json.loads(str(row["origin"]))
        for row in scene.sql("SELECT id, origin FROM conversations")
    }
    scene.close()

    assert kept["conv-1"] == {
        "file": "conversations.db",
        "channel": "whatsapp",
        "topics": '["travel"]',
        "turn_count": "3",
        "turn 1": {"id": "2"},
        "turn 2": {"id": "1", "model": "opus", "task": "task-a"},
        "turn 3": {"id": "3", "role": "narrator", "task": "task-gone"},
    }
    assert kept["conv-2"] == {"file": "conversations.db", "turn_count": "0"}


def test_other_likely_names_are_understood(tmp_path: Path) -> None:
    lay(
        tmp_path,
        "CREATE TABLE messages (conversation TEXT, sender TEXT, text TEXT, created REAL);"
        "INSERT INTO messages VALUES ('c', 'agent', 'second', 1771408805000),"
        " ('c', 'owner', 'first', 1771408800.5), ('c', 'ai', 'third', 1771408999);",
    )

    scene = carried(tmp_path)
    turns = scene.sql("SELECT role, content FROM turns ORDER BY n")
    scene.close()

    assert [tuple(row.values()) for row in turns] == [
        ("user", "first"),
        ("assistant", "second"),
        ("assistant", "third"),
    ]


# Tasks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "status", "moves"),
    [
        ("pending", Status.NEW, []),
        ("completed", Status.COMPLETED, ["ready", "running", "completed"]),
        ("failed", Status.FAILED, ["ready", "running", "failed"]),
        ("deleted", Status.CANCELLED, ["cancelled"]),
        ("paused", Status.PAUSED, ["paused"]),
        ("running", Status.PAUSED, ["paused"]),
        ("needs_review", Status.PAUSED, ["paused"]),
        ("whatever", Status.PAUSED, ["paused"]),
    ],
)
def test_a_task_comes_by_legal_moves_to_where_it_stood(
    tmp_path: Path, old: str, status: Status, moves: list[str]
) -> None:
    times = {"started_at": "2026-02-18T09:05:00Z", "completed_at": "2026-02-18T09:30:00+00:00"}
    lay(tmp_path, S3_TASKS + task("task-a", old, **times))

    scene = carried(tmp_path)
    (found,) = by_origin(scene).values()
    told = events.of_task(scene.tx, found.id)
    scene.close()

    assert found.status is status
    assert [event.data.get("to") for event in told[1:]] == moves
    ran = status in (Status.COMPLETED, Status.FAILED)
    assert (found.started_at == datetime(2026, 2, 18, 9, 5, tzinfo=UTC)) is ran
    ended = found.completed_at == datetime(2026, 2, 18, 9, 30, tzinfo=UTC)
    assert ended is (status is not Status.NEW and status is not Status.PAUSED)
    assert found.created_at == datetime(2026, 2, 18, 9, 0, tzinfo=UTC)


def test_a_task_keeps_its_id_if_it_is_like_ours_and_gets_the_same_new_one_each_time_if_not(
    tmp_path: Path,
) -> None:
    script = S3_TASKS + task(OURS.lower(), "pending") + task("task-a", "pending")
    made = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        lay(folder, script)
        scene = carried(folder)
        made.append({old: each.id for old, each in by_origin(scene).items()})
        scene.close()

    assert made[0] == made[1]
    assert made[0][OURS.lower()] == OURS
    assert made[0]["task-a"].startswith("task-01KHQ")


def test_all_that_a_task_said_is_kept(tmp_path: Path) -> None:
    more = {
        "type": "scheduled",
        "source_type": "caldav",
        "source_ref": "uid-1",
        "recurrence_id": "rec-1",
        "occurrence_date": "2026-02-20",
        "scheduled_for": "2026-02-20T09:00:00+07:00",
        "created_by": "scheduler",
    }
    script = S3_TASKS + "ALTER TABLE tasks ADD COLUMN mood TEXT;"
    script += task("task-a", "pending", mood="calm", **more)
    script += task("task-b", "pending", **more | {"source_type": "pigeon", "source_ref": None})
    lay(tmp_path, script)

    scene = carried(tmp_path)
    found = by_origin(scene)
    scene.close()

    first, second = found["task-a"], found["task-b"]
    assert (first.title, first.instructions) == ("Title of task-a", "Do task-a")
    assert (first.type, first.created_by) == ("scheduled", "scheduler")
    assert (first.source.kind, first.source.ref) == ("caldav", "uid-1#task-a")
    assert (first.session_id, first.series_id) == ("session-7", "rec-1")
    assert first.scheduled_for == datetime(2026, 2, 20, 2, 0, tzinfo=UTC)
    origin = json.loads(json.dumps(first.context["origin"]))
    assert (origin["mood"], origin["occurrence_date"]) == ("calm", "2026-02-20")
    assert origin["log_path"] == ".my_agent/tasks/logs/task-a.jsonl"
    assert (second.source.kind, second.source.ref) == ("manual", "task-b")


async def test_what_was_pending_is_done_and_what_was_under_way_waits_for_a_word(
    tmp_path: Path,
) -> None:
    lay(tmp_path, S3_TASKS + task("task-a", "pending") + task("task-b", "running"))

    async with World(tmp_path) as world:
        await world.run()
        counts = await world.app.db.read(tasks.counts)

    assert counts["paused"] == 1
    assert sum(counts.values()) == 2
    assert "new" not in counts


@for_each(
    ("text", "moment"),
    [
        ("2026-02-18 09:00:00", datetime(2026, 2, 18, 9, tzinfo=UTC)),
        ("2026-02-18T09:00:00+07:00", datetime(2026, 2, 18, 2, tzinfo=UTC)),
        ("2026-02-18", datetime(2026, 2, 18, tzinfo=UTC)),
        ("20260218", datetime(2026, 2, 18, tzinfo=UTC)),
        ("1771405200", datetime(2026, 2, 18, 9, tzinfo=UTC)),
        ("1771405200000", datetime(2026, 2, 18, 9, tzinfo=UTC)),
        ("1771405200.5", datetime(2026, 2, 18, 9, 0, 0, 500_000, tzinfo=UTC)),
        ("9" * 30, None),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times_are_read_in_whatever_way_they_were_written(
    text: str, moment: datetime | None
) -> None:
    assert legacy._moment(text) == moment


# The file itself ----------------------------------------------------------------------------------


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
