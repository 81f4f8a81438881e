"""Backups taken while work goes on, and restored so that nothing goes out twice."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from remit.errors import BadInput, StoreCorrupt, StoreForeign, StoreTrouble
from remit.model.caller import Scope
from remit.model.delivery import DeliveryStatus
from remit.model.ids import TaskId
from remit.model.status import PAUSABLE, Status
from remit.store import after_restore, backup, callers, deliveries, events, home
from remit.store.connection import APPLICATION_ID, connect
from remit.testing import Outbox, World
from tests.store.scene import AT, BODY, DIGEST, Scene

pytestmark = pytest.mark.only_sqlite("a backup is a copy of the file")


DAY = timedelta(days=1)


def quiet(_: float) -> None:
    """Nobody looks at the progress."""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "home" / "agent.db"


@pytest.fixture
def populated(target: Path) -> Scene:
    """One task in every place, and one that was cut off in the middle of a send."""
    target.parent.mkdir()
    scene = Scene(target)
    for status in Status:
        scene.standing(status)
    scene.ready("Later", scheduled_for=scene.now + 30 * DAY)
    scene.admit("Later", scheduled_for=scene.now + 30 * DAY)
    claim = scene.delivering()
    told = (claim.lease, claim.task.delivery[0], BODY, DIGEST, scene.now)
    scene.do(deliveries.claim_send, *told)
    return scene


# Save ---------------------------------------------------------------------------------------------


def test_a_backup_holds_everything_in_one_file(populated: Scene, tmp_path: Path) -> None:
    seen: list[float] = []

    saved = backup.save(populated.path, tmp_path / "backups", AT, seen.append)

    assert saved.name == "agent-20260302T090000Z.db"
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]
    assert saved.stat().st_mode & 0o777 == 0o600
    assert seen[-1] == 1.0
    copy, there = Scene(saved), populated.image()
    copied = copy.image()
    copy.close()
    populated.close()
    assert copied.pop("meta") == [
        {"key": "backup_at", "value": "2026-03-02T09:00:00.000Z"},
        *there.pop("meta"),
    ]
    assert copied == there


def test_a_backup_ends_though_somebody_writes_all_the_time(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two pieces of the copy a whole task comes in; the copy shows one moment."""
    monkeypatch.setattr(backup, "_PAGES", 4)
    for _ in range(20):
        scene.admit()
    steps: list[float] = []

    def write(done: float) -> None:
        steps.append(done)
        assert len(steps) < 500, "the backup begins again and again"
        scene.admit("came meanwhile")

    saved = backup.save(scene.path, tmp_path / "backups", AT, write)

    assert len(steps) > 5
    copy = Scene(saved)
    assert len(copy.sql("SELECT id FROM tasks")) == 20
    assert copy.complaints() == []
    copy.close()


def test_a_backup_of_nothing_or_of_a_damaged_file_is_none(scene: Scene, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    with pytest.raises(StoreTrouble):
        backup.save(tmp_path / "nowhere.db", folder, AT, quiet)

    scene.admit()
    scene.sql("UPDATE tasks SET title = 'Pay Eve'")
    with pytest.raises(StoreCorrupt, match="not what was admitted"):
        backup.save(scene.path, folder, AT, quiet)

    assert [file.name for file in folder.iterdir()] == []


# Restore ------------------------------------------------------------------------------------------


def test_a_restored_file_holds_back_what_may_be_done_already(
    populated: Scene, tmp_path: Path
) -> None:
    stood = {task: populated.get(task) for task in _ids(populated)}
    saved = backup.save(populated.path, tmp_path / "backups", AT, quiet)
    populated.admit("After the backup")
    populated.close()

    held = backup.restore(saved, populated.path, AT + DAY).paused

    scene = Scene(populated.path)
    now = {task: scene.get(task) for task in _ids(scene)}
    assert now.keys() == stood.keys()
    for task, was in stood.items():
        waits = was.status in PAUSABLE and was.title != "Later"
        expected = (Status.PAUSED, was.status) if waits else (was.status, was.resume_to)
        assert (now[task].status, now[task].resume_to) == expected
        assert now[task].lease == was.lease + waits
    assert held == sum(task.status is Status.PAUSED for task in now.values()) - 1
    assert scene.complaints() == []
    assert scene.do(after_restore.incarnation) == 2
    assert events.list_after(scene.tx, 0, 10_000)[-held - 1].kind == "store.restored"
    scene.now = AT + DAY
    assert scene.claim() == []
    scene.close()


def test_whoever_was_shut_out_since_the_backup_stays_out(scene: Scene, tmp_path: Path) -> None:
    token = callers.ApiToken(
        id="tok-1", name="robot", scopes=frozenset({Scope.READ}), agent=True, created_at=AT
    )
    browser = callers.SignIn(id="sig-1", created_at=AT, expires_at=AT + 30 * DAY)
    scene.do(callers.add_token, token, b"t")
    scene.do(callers.add_sign_in, browser, b"s")
    saved = backup.save(scene.path, tmp_path / "backups", AT, quiet)
    scene.close()

    backup.restore(saved, scene.path, AT)

    restored = Scene(scene.path)
    assert callers.token_of(restored.tx, b"t", AT) is None
    assert callers.sign_in_of(restored.tx, b"s", AT) is None
    restored.close()


def test_what_was_on_the_wire_is_in_doubt_and_the_old_file_is_kept(
    populated: Scene, tmp_path: Path
) -> None:
    saved = backup.save(populated.path, tmp_path / "backups", AT, quiet)
    populated.admit("After the backup")
    populated.close()
    replaced = populated.path.read_bytes()

    backup.restore(saved, populated.path, AT + DAY)

    scene = Scene(populated.path)
    sends = [each.status for task in _ids(scene) for each in scene.get(task).delivery]
    assert sends.count(DeliveryStatus.UNKNOWN) == 1
    assert DeliveryStatus.SENDING not in sends
    scene.close()
    kept = populated.path.with_name("agent.replaced-20260303T090000Z.db")
    assert kept.read_bytes() == replaced
    assert {file.name for file in kept.parent.iterdir()} == {"agent.db", kept.name}


def test_a_log_that_was_left_beside_the_file_is_kept_with_it(
    populated: Scene, tmp_path: Path
) -> None:
    saved = backup.save(populated.path, tmp_path / "backups", AT, quiet)
    log = populated.path.with_name("agent.db-wal")
    populated.admit("Only in the log")
    written = log.read_bytes()

    backup.restore(saved, populated.path, AT + DAY)

    populated.close()
    kept = populated.path.with_name("agent.replaced-20260303T090000Z.db-wal")
    assert kept.read_bytes() == written
    home.prepare(populated.path)


def test_what_an_earlier_restore_left_does_not_get_into_this_one(
    populated: Scene, tmp_path: Path
) -> None:
    """SQLite would play a log that lies beside a file into it, whose ever it was."""
    saved = backup.save(populated.path, tmp_path / "backups", AT, quiet)
    other = Scene(tmp_path / "other.db")
    other.admit("From somewhere else")
    for suffix in ("", "-wal", "-shm"):
        left = other.path.with_name(other.path.name + suffix)
        populated.path.with_name(f"agent.restoring.db{suffix}").write_bytes(left.read_bytes())
    other.close()
    populated.close()

    backup.restore(saved, populated.path, AT + DAY)

    scene = Scene(populated.path)
    titles = {row["title"] for row in scene.sql("SELECT title FROM tasks")}
    scene.close()
    assert "From somewhere else" not in titles
    assert "Later" in titles


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_a_restore_that_was_cut_is_done_again_and_never_starts_empty(
    populated: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    saved = backup.save(populated.path, tmp_path / "backups", AT, quiet)
    populated.close()
    populated.path.with_name("agent.db-wal").write_bytes(b"left behind")
    left, rename = [renames], Path.rename

    class Cut(Exception):
        pass

    def count(path: Path, to: Path) -> Path:
        if not left[0]:
            raise Cut
        left[0] -= 1
        return rename(path, to)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", count)
        with pytest.raises(Cut):
            backup.restore(saved, populated.path, AT + DAY)
    if renames:
        with pytest.raises(StoreTrouble, match=r"damaged|interrupted"):
            home.prepare(populated.path)

    backup.restore(saved, populated.path, AT + 2 * DAY)

    home.prepare(populated.path)
    scene = Scene(populated.path)
    assert len(_ids(scene)) == len(Status) + 3
    scene.close()
    assert len(list(populated.path.parent.glob("agent.replaced-*.db"))) == 1


@pytest.mark.parametrize("what", ["missing", "empty", "text", "foreign", "damaged", "cut"])
def test_what_is_no_backup_is_refused_and_the_file_stays(
    populated: Scene, tmp_path: Path, what: str
) -> None:
    saved = backup.save(populated.path, tmp_path / "backups", AT, quiet)
    populated.close()
    before, whole = populated.path.read_bytes(), saved.read_bytes()
    match what:
        case "missing":
            saved.unlink()
        case "foreign":
            saved.unlink()
            with closing(sqlite3.connect(saved)) as other:
                other.execute("CREATE TABLE songs (name TEXT)")
        case _:
            place = whole.index(b"Water the plants")
            broken = whole[:place] + b"X" + whole[place + 1 :]
            text = {"empty": b"", "text": b"Dear diary", "cut": whole[:20_000], "damaged": broken}
            saved.write_bytes(text[what])

    with pytest.raises((BadInput, StoreForeign, StoreCorrupt), match=str(saved)):
        backup.restore(saved, populated.path, AT + DAY)

    assert populated.path.read_bytes() == before
    assert [file.name for file in populated.path.parent.iterdir()] == ["agent.db"]


# Unattended ---------------------------------------------------------------------------------------


async def test_after_a_restore_nothing_goes_out_unattended_that_may_be_out_already(
    tmp_path: Path,
) -> None:
    folder, outbox = tmp_path / "home", Outbox()
    async with World(folder, channels={"outbox": outbox}) as world:
        start = world.now
        soon = await world.add("Soon", content="Soon.", at=start + timedelta(hours=1))
        later = await world.add("Later", content="Later.", at=start + 10 * DAY)
        doubtful = await world.add("Doubtful", content="Hm.", at=start)
        outbox.answers.append(ConnectionResetError("cut"))
        await world.run()
        saved = backup.save(world.app.settings.database_file, tmp_path / "backups", start, quiet)
        await world.run(2 * DAY)
        tried, now = len(outbox.tried), world.now
        assert [parcel.body for parcel in outbox.sent] == ["Soon."]

    # What was planned for soon is held; what was in doubt is a question already.
    assert backup.restore(saved, folder / "agent.db", now) == after_restore.HeldTasks(1, 0)

    async with World(folder, channels={"outbox": outbox}, start=now) as world:
        await world.run(5 * DAY)
        assert len(outbox.tried) == tried, "something went out that may be out already"
        assert (await world.get(soon.id)).status is Status.PAUSED
        assert (await world.get(doubtful.id)).status is Status.NEEDS_REVIEW

        await world.app.owner.resume(soon.id)  # the owner looked, and wants it
        await world.run(5 * DAY)
        assert [parcel.body for parcel in outbox.sent] == ["Soon.", "Soon.", "Later."]
        assert (await world.get(later.id)).status is Status.COMPLETED


def _ids(scene: Scene) -> list[TaskId]:
    return [TaskId(str(row["id"])) for row in scene.sql("SELECT id FROM tasks ORDER BY no")]


def test_an_upgrade_keeps_a_copy_of_the_earlier_file_that_can_be_restored(tmp_path: Path) -> None:
    path, last = tmp_path / "agent.db", len(home.migrations()) - 1
    path.touch(mode=0o600)
    with closing(connect(path)) as connection:
        for number, script in enumerate(home.migrations()[:last], 1):
            connection.executescript(
                f"BEGIN; {script}; PRAGMA application_id = {APPLICATION_ID};"
                f" PRAGMA user_version = {number}; COMMIT;"
            )

    home.prepare(path)
    home.prepare(path)  # a start that is no upgrade keeps none

    (kept,) = (tmp_path / "backups").iterdir()
    assert kept.name == f"agent-before-upgrade-{last:04}.db"
    assert kept.stat().st_mode & 0o077 == 0
    with closing(connect(kept, writable=False)) as connection:
        assert home.version(connection) == last
    backup.restore(kept, tmp_path / "again" / "agent.db", AT)
    with closing(connect(tmp_path / "again" / "agent.db")) as connection:
        assert home.version(connection) == last + 1
