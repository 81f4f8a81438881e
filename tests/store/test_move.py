"""A store that is moved to Postgres: every row of every table, as it was."""

from datetime import timedelta
from pathlib import Path

from remit.files.kept_files import KeptFiles
from remit.model.conversation import Action, Conversation, Role, TaskRef
from remit.model.ids import ConversationId
from remit.model.reply import Usage
from remit.model.status import Status
from remit.store import conversations, cues, home, spending, tasks
from remit.store.conversations import NewTurnRecord
from remit.store.cues import Arrival, InboundCaps
from remit.store.postgres.files import StoredFiles
from remit.store.postgres.move import MoveResult, move
from tests.store.postgres import Postgres
from tests.store.scene import AT, PostgresScene, Scene

OWN_KEYS = (home.MOVED_TO, "postgres_schema", "postgres_oldest_schema")
ONLY_ONE_HAS = (
    "sqlite_",
    "tasks_text",
    "tasks_words",
    "documents",
    "duties",
    "unsealed",
    "worker_loads",
    "rates",
    "file_contents",
    "secret_fingerprints",
    "work_copies",
)


def populate(scene: Scene) -> None:
    made = [scene.standing(status) for status in Status]
    scene.do(tasks.delete, made[-1].id, scene.wait())
    talk = Conversation(ConversationId("conv-1"), "Plants", AT, AT)
    refs = (TaskRef(made[0].id, Action.CREATED),)
    said = NewTurnRecord(role=Role.USER, content="Water it", task_refs=refs)
    scene.do(conversations.begin, talk)
    scene.do(conversations.say, talk.id, said, AT)
    scene.do(spending.reserve, "key", made[0], Usage(10, 1, 1), [], AT)
    arrival = Arrival(ref="mail-1", door="mail", body={"subject": "Grüße"})
    scene.do(cues.come, arrival, InboundCaps(), AT, AT - timedelta(hours=9))
    scene.sql(
        "INSERT INTO snippets (task_id, words, beside, vector) VALUES (?, 'a', 'b', ?)",
        made[0].id,
        b"\x00\xff\x10",
    )


def test_every_row_is_there_as_it_was(tmp_path: Path, postgres_server: Postgres) -> None:
    old = Scene(tmp_path / "agent.db")
    populate(old)
    shares: list[float] = []

    near = KeptFiles(tmp_path / "files")
    file = near.keep("notes.txt", b"words\n")

    moved = move(old.path, postgres_server.store, shares.append, near)

    assert StoredFiles(tmp_path / "other", postgres_server.store).read(file.sha256) == b"words\n"
    new = PostgresScene(postgres_server.store)
    before, after = old.image(), new.image()
    for rows in (before["meta"], after["meta"]):
        rows[:] = [row for row in rows if row["key"] not in OWN_KEYS]
    assert {
        table: sorted(map(str, rows))
        for table, rows in before.items()
        if not table.startswith(ONLY_ONE_HAS)
    } == {
        table: sorted(map(str, rows))
        for table, rows in after.items()
        if not table.startswith(ONLY_ONE_HAS)
    }
    assert moved == MoveResult(len(Status), len(before["events"]))
    assert shares[-1] == 1.0
    assert new.complaints() == []
    new.ids = old.ids
    assert new.admit("The next one").id
    (row,) = new.sql("SELECT no FROM tasks ORDER BY no DESC LIMIT 1")
    assert row["no"] == len(Status) + 1
    old.close()
    new.close()
    postgres_server.wipe()
