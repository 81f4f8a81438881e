"""Damage to the file is noticed at the start, or it hit nothing: never is a task silently lost."""

from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from remit.errors import StoreTrouble
from remit.model.contract import WorkItem
from remit.model.delivery import Accepted, Answer, Delivery, Refused, Unknown
from remit.model.status import Actor, Reason, Status
from remit.store import audit, deliveries, events, home, reviews, search
from remit.store.database import Params, Row
from remit.store.search import TaskFilter
from tests.soak import SOAK
from tests.store.scene import BODY, DIGEST, Scene

pytestmark = pytest.mark.only_sqlite("damage to the file")


FLIPS = 200 if SOAK else 30
CUTS = 60 if SOAK else 10


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a file with tasks in every place of their life, all written down."""
    scene = Scene(tmp_path_factory.mktemp("whole") / "agent.db")
    populate(scene)
    assert scene.complaints() == []
    scene.close()
    return scene.path.read_bytes()


@pytest.fixture
def essence(whole: bytes, tmp_path: Path) -> object:
    (tmp_path / "whole.db").write_bytes(whole)
    return read(tmp_path / "whole.db")


def populate(scene: Scene) -> None:
    for n in range(5):
        for status in Status:
            scene.standing(status)
        scene.ready(
            f"Call Ana at {n}",
            scheduled_for=scene.now + timedelta(days=n + 1, minutes=7),
            work=(WorkItem("Find her number"), WorkItem("Say hello")),
            context={"person": "Ana", "threads": [n]},
        )
        for answer in (Accepted(f"w-{n}"), Refused("no such number"), Unknown("timeout"), None):
            _sent(scene, answer)
        scene.wait(60)


def _sent(scene: Scene, answer: Answer | None) -> None:
    sends = tuple(
        Delivery("whatsapp", "+66 2 123", content, id=scene.ids.delivery())
        for content in ("As I wrote it.", None)
    )
    claim = scene.running("Write to Ana", delivery=sends)
    scene.move(claim, Status.DELIVERING)
    first = sends[0]
    attempt = scene.do(deliveries.claim_send, claim.lease, first, BODY, DIGEST, scene.now)
    if answer is None:
        return  # it stays on the wire
    scene.do(deliveries.settle_send, claim.lease, first, attempt, answer, scene.now)
    review = scene.question(claim, Reason.APPROVAL, resume_to=Status.DELIVERING)
    scene.finish(claim, "wait", Status.NEEDS_REVIEW, by=Actor.COURIER, review=review)


def test_the_audit_reads_a_file_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path / "agent.db")
    populate(scene)
    largest = 0
    every = scene.tx.all

    def counted(name: str, params: Params = ()) -> list[Row]:
        nonlocal largest
        found = every(name, params)
        largest = max(largest, len(found)) if name.startswith(("audit", "list_d")) else largest
        return found

    monkeypatch.setattr(scene.tx, "all", counted)
    monkeypatch.setattr(audit, "_PAGE", 4)

    assert list(audit.complaints(scene.tx)) == []
    assert 0 < largest <= 4 * 4  # of four tasks, all that was told of their sends
    for table, column, word in (("tasks", "title", "title"), ("reviews", "question", "not ask")):
        ((rows,),) = (row.values() for row in scene.sql(f"SELECT count(*) FROM {table}"))  # noqa: S608
        scene.sql(f"UPDATE {table} SET {column} = {column} || '!'")  # noqa: S608 - names above
        assert sum(word in each for each in audit.complaints(scene.tx)) == rows, table
    scene.close()


def read(path: Path) -> object:
    """What must not change unnoticed: the tasks, their deliveries and questions, the journal."""
    scene = Scene(path)
    try:
        page = search.page(scene.tx, TaskFilter(limit=500))
        told = events.list_after(scene.tx, 0, 100_000)
        return (
            [
                (task.id, task.title, task.instructions, task.status, task.scheduled_for)
                for task in page.tasks
            ],
            [[_essence(each) for each in task.delivery] for task in page.tasks],
            [(review.id, review.reason, review.question) for review in reviews.waiting(scene.tx)],
            [(event.seq, event.kind, event.at, event.data, event.hash) for event in told],
        )
    finally:
        scene.close()


def _essence(delivery: Delivery) -> tuple[object, ...]:
    plan = (delivery.id, delivery.channel, delivery.recipient, delivery.content)
    return (*plan, delivery.status, delivery.body, delivery.receipt)


def survives(path: Path, damaged: bytes, essence: object) -> bool:
    """Whether a damaged file was taken for whole; then nothing that matters may be changed."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(damaged)
    try:
        home.prepare(path)
    except StoreTrouble:
        assert path.read_bytes() == damaged
        return False
    assert read(path) == essence
    return True


def test_a_flipped_bit_is_noticed_or_hit_nothing(
    whole: bytes, essence: object, tmp_path: Path
) -> None:
    dice = Random(20260302)  # noqa: S311 - dice
    survived = 0
    for _ in range(FLIPS):
        place, damaged = dice.randrange(len(whole)), bytearray(whole)
        damaged[place] ^= 1 << dice.randrange(8)
        survived += survives(tmp_path / "agent.db", bytes(damaged), essence)

    assert 0 < survived < FLIPS * 0.75  # a page of an empty table holds nothing to hit


def test_a_block_of_noise_is_noticed_or_hit_nothing(
    whole: bytes, essence: object, tmp_path: Path
) -> None:
    dice = Random(7)  # noqa: S311 - dice
    for _ in range(20):
        place, damaged = dice.randrange(len(whole) // 512) * 512, bytearray(whole)
        damaged[place : place + 512] = dice.randbytes(512)
        survives(tmp_path / "agent.db", bytes(damaged), essence)


def test_a_file_that_was_cut_short_is_never_taken_for_whole(
    whole: bytes, essence: object, tmp_path: Path
) -> None:
    dice = Random(8)  # noqa: S311 - dice
    pages = [n * 4096 for n in range(0, len(whole) // 4096, 3 if SOAK else 20)]
    odd = [1, 15, 16, 99, 100, 101, 511, 512, 4095, 4097, len(whole) - 1]
    for length in {*pages, *odd, *(dice.randrange(len(whole)) for _ in range(CUTS))}:
        assert not survives(tmp_path / "agent.db", whole[:length], essence), length


CHANGES = [
    ("UPDATE tasks SET title = 'Pay Eve' WHERE no = 1", "title"),
    ("UPDATE tasks SET instructions = 'Pay Eve' WHERE no = 1", "instructions"),
    ("UPDATE tasks SET source_ref = 'elsewhere' WHERE no = 1", "source"),
    ("UPDATE tasks SET scheduled_for = scheduled_for + 1 WHERE scheduled_for", "time"),
    ("UPDATE tasks SET scheduled_for = 1 WHERE no = 1", "time"),
    ("UPDATE tasks SET scheduled_for = NULL WHERE scheduled_for", "time"),
    ("UPDATE tasks SET status = 'cancelled', due_at = NULL WHERE status = 'ready'", "last move"),
    ("UPDATE tasks SET events = events + 1 WHERE no = 1", "events"),
    ("UPDATE tasks SET details = '{' WHERE no = 1", "cannot be read"),
    ('UPDATE tasks SET details = \'{"work":[{"what":1}]}\' WHERE no = 1', "cannot be read"),
    ("UPDATE tasks SET created_at = 9e17 WHERE no = 1", "cannot be read"),
    ("UPDATE deliveries SET recipient = 'eve' WHERE n = 0", "delivery of"),
    ("UPDATE deliveries SET content = 'Pay Eve' WHERE n = 0", "delivery of"),
    ("UPDATE deliveries SET channel = 'mail' WHERE n = 0", "delivery of"),
    ("DELETE FROM deliveries", "delivery of"),
    ("UPDATE deliveries SET status = 'pending' WHERE status = 'sent'", "journal says sent"),
    ("UPDATE deliveries SET status = 'sent' WHERE status = 'unknown'", "journal says unknown"),
    ("UPDATE deliveries SET status = 'unknown' WHERE status = 'sending'", "journal says sending"),
    ("UPDATE deliveries SET status = 'sent' WHERE status = 'refused'", "journal says refused"),
    ("UPDATE deliveries SET body = 'Pay Eve' WHERE body IS NOT NULL", "not what was sent"),
    ("UPDATE deliveries SET receipt = 'wamid-2' WHERE receipt IS NOT NULL", "not what came back"),
    ("UPDATE reviews SET question = 'Pay Eve?'", "does not ask what was asked"),
    ("UPDATE reviews SET reason = 'poison'", "does not ask what was asked"),
    ("UPDATE reviews SET reason = 'mood'", "cannot be read"),
    ("UPDATE tasks SET parcels = 0 WHERE parcels = 2", "shape"),
    ("UPDATE tasks SET precomposed = 1 WHERE parcels = 0", "shape"),
    ("DROP TRIGGER events_final; UPDATE events SET data = '{}' WHERE seq = 5", "Event 5 does not"),
    ("DROP TRIGGER events_final; UPDATE events SET at = at + 1 WHERE seq = 5", "Event 5 does not"),
    ("DROP TRIGGER events_kept; DELETE FROM events WHERE seq = 9", "Event 9 is missing"),
    ("DROP TRIGGER events_kept; DELETE FROM events WHERE seq = 1", "Event 1 is missing"),
]


@pytest.mark.parametrize(("statement", "word"), CHANGES)
def test_what_somebody_changed_behind_our_back_is_said(
    whole: bytes, tmp_path: Path, statement: str, word: str
) -> None:
    path = tmp_path / "agent.db"
    path.write_bytes(whole)
    scene = Scene(path)
    scene.connection.executescript(statement)

    found = " ".join(scene.complaints())
    scene.close()

    assert word in found
    with pytest.raises(StoreTrouble, match="is damaged"):
        home.prepare(path)


def test_a_task_without_its_beginning_is_said(scene: Scene) -> None:
    task = scene.admit()
    scene.connection.executescript("DROP TRIGGER events_kept; DELETE FROM events")

    assert f"Task {task.id} has no first event." in scene.complaints()


def test_a_broken_chain_proves_nothing_about_the_tasks(scene: Scene) -> None:
    scene.admit()
    scene.connection.executescript(
        "DROP TRIGGER events_final; UPDATE events SET data = 'no json at all'"
    )

    assert scene.complaints() == [
        "Event 1 does not match its hash: it, or one before it, was changed."
    ]


def test_only_the_end_of_a_long_journal_is_checked_in_haste(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(8):
        scene.admit()
    monkeypatch.setattr(audit, "RECENT", 3)
    scene.connection.executescript(
        "DROP TRIGGER events_final; UPDATE events SET actor = 'owner' WHERE seq = 2"
    )
    assert list(audit.complaints(scene.tx, whole=False)) == []

    scene.sql("UPDATE events SET actor = 'owner' WHERE seq = 7")
    assert len(list(audit.complaints(scene.tx, whole=False))) == 1
