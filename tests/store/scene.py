"""A small store to try verbs on: one file, one connection, tasks in every state."""

import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Concatenate, Final, ParamSpec, TypeVar

from msgspec.structs import replace

from remit.model.contract import RankingRule
from remit.model.delivery import Answer, Delivery
from remit.model.ids import Ids, ReviewId, TaskId, WorkerId
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.status import ACTIVE, TERMINAL, Actor, Reason, Status
from remit.model.task import Priority, Source, SourceKind, Task
from remit.store import audit, deliveries, events, moves, queue, reviews, tasks
from remit.store.connection import SqliteTx, connect
from remit.store.database import Cell, Row, Tx, statements
from remit.store.group_commit import StoreConnection
from remit.store.moves import Ending
from remit.store.postgres.connection import PostgresTx
from remit.store.postgres.connection import connect as connect_postgres
from remit.store.queue import ClaimedTask, ClaimFilter
from remit.testing import provide_database
from tests.sample_task import sample_task

P = ParamSpec("P")
T = TypeVar("T")

AT: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
RULE: Final = RankingRule("default", "no rule matched")
WORKER: Final = WorkerId("wrk-1")
BODY: Final = "Sanur is calm and shallow."
DIGEST: Final = hashlib.sha256(BODY.encode()).hexdigest()
ROOMY: Final = ClaimFilter(64, {}, suspects=True, ageing=timedelta(seconds=900))


class Scene:
    """Runs every verb in its own transaction, as the writer does."""

    _tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tx = self._open()
        self.now = AT
        self.ids = Ids(lambda: self.now, Random(7).getrandbits)  # noqa: S311 - ids, not secrets

    def _open(self) -> StoreConnection:
        provide_database(self.path)
        self.connection = connect(self.path)
        # There is no power cut here; test_durability.py has them.
        self.connection.execute("PRAGMA synchronous = OFF")
        return SqliteTx(self.connection)

    def close(self) -> None:
        self.tx.close()

    def do(self, verb: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a verb; an error leaves no changes."""
        self.tx.begin()
        try:
            result = verb(self.tx, *args, **kwargs)
        except BaseException as error:
            self.tx.rollback()
            meaning = self.tx.explain(error) if isinstance(error, Exception) else None
            raise (meaning or error) from error
        self.tx.commit()
        return result

    def sql(self, text: str, *params: Cell) -> list[Row]:
        """Bypass the verbs, straight into the database; its errors have a sentence."""
        try:
            return self.tx.ask(text, params)
        except Exception as error:
            raise (self.tx.explain(error) or error) from error

    def wait(self, seconds: float = 1) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    # Tasks --------------------------------------------------------------------------------------

    def task(self, title: str = "Water the plants", **changes: object) -> Task:
        """Return a task as intake makes it, not stored yet."""
        ident = self.ids.task()
        own = {"source": Source(SourceKind.MANUAL, ident), "session_id": self.ids.session()}
        words = f"Please: {title}"
        return sample_task(
            title, self.now, **{"id": ident, "instructions": words, **own, **changes}
        )

    def admit(self, title: str = "Water the plants", **changes: object) -> Task:
        return self.do(tasks.admit, self.task(title, **changes))

    def admit_as_before(self, task: Task) -> Task:
        """Store a task in a file of before migration 21, which had no column for the contract."""
        known = statements()
        text = known["insert_task"]
        assert isinstance(known, dict)
        known["insert_task"] = re.sub(r", :?contract_type", "", text)
        try:
            return self.do(tasks.admit, task)
        finally:
            known["insert_task"] = text

    def ready(
        self, title: str = "Water the plants", priority: Priority = Priority.LOW, **changes: object
    ) -> Task:
        task = self.admit(title, **changes)
        assert self.do(queue.rank, task.id, priority, RULE, self.now)
        return self.get(task.id)

    def claim(self, worker: WorkerId = WORKER, wanted: ClaimFilter = ROOMY) -> list[ClaimedTask]:
        return self.do(queue.claim, worker, wanted, self.ids.run, self.now)

    def running(self, title: str = "Water the plants", **changes: object) -> ClaimedTask:
        """Return a task that a leg holds, ahead of everything else that is due."""
        task = self.ready(title, Priority.CRITICAL, **changes)
        (claim,) = self.claim(wanted=replace(ROOMY, room=1))
        assert claim.task.id == task.id
        return claim

    def delivering(self, *channels: str) -> ClaimedTask:
        """Return a task in delivery, with one delivery per channel."""
        sends = tuple(Delivery(name, id=self.ids.delivery()) for name in channels or ("outbox",))
        claim = self.running("Send the letter", delivery=sends)
        self.move(claim, Status.DELIVERING)
        return replace(claim, task=self.get(claim.task.id))

    def asking(self, reason: Reason = Reason.INPUT, **more: object) -> tuple[Task, ReviewId]:
        """Return a task that waits for the owner."""
        claim = self.running()
        review = self.question(claim, reason, **more)
        self.finish(claim, "wait", Status.NEEDS_REVIEW, review=review)
        assert review.id is not None
        return self.get(claim.task.id), review.id

    def standing(self, status: Status) -> Task:
        """Return a task with this status that no leg holds."""
        if status in ACTIVE | {Status.COMPLETED, Status.FAILED}:
            return self._at_rest(status)
        if status is Status.NEEDS_REVIEW:
            return self.asking()[0]
        task = self.admit() if status is Status.NEW else self.ready()
        if status is Status.PAUSED:
            self.do(moves.pause, task.id, self.now)
        elif status is Status.CANCELLED:
            self.do(moves.cancel, task.id, self.now)
        return self.get(task.id)

    def _at_rest(self, status: Status) -> Task:
        claim = self.delivering() if status is Status.DELIVERING else self.running()
        if status is Status.VERIFYING:
            self.move(claim, status)
        outcome = {Status.COMPLETED: "done", Status.FAILED: "fail"}.get(status, "retry")
        by = {Status.VERIFYING: Actor.VERIFIER, Status.DELIVERING: Actor.COURIER}
        later = None if status in TERMINAL else self.now + timedelta(minutes=5)
        self.finish(claim, outcome, status, by=by.get(status, Actor.EXECUTOR), due_at=later)
        return self.get(claim.task.id)

    # Verbs --------------------------------------------------------------------------------------

    def get(self, task_id: TaskId) -> Task:
        return tasks.get(self.tx, task_id)

    def move(self, claim: ClaimedTask, to: Status, by: Actor = Actor.EXECUTOR) -> None:
        task = self.get(claim.task.id)
        self.do(moves.move, task, claim.lease, to, by, details=None, now=self.now)

    def finish(self, claim: ClaimedTask, outcome: str, to: Status, **more: object) -> None:
        plain = Ending(outcome=outcome, to=to, by=Actor.EXECUTOR)
        ending = replace(plain, **more)
        task = self.get(claim.task.id)
        self.do(moves.finish, task, claim.lease, claim.task.last_updated, ending, self.now)

    def decide(
        self, asked: Review | ReviewId, answer: ReviewAnswer, text: str | None = None
    ) -> Task:
        """Let the owner answer, a second later."""
        review = asked.id if isinstance(asked, Review) else asked
        assert review is not None
        return self.do(reviews.decide, review, Decision(answer, text), self.wait())

    def send(self, claim: ClaimedTask, answer: Answer | None = None, n: int = 0) -> None:
        """Claim a delivery and record what came back; without an answer it stays on its way."""
        sending = claim.task.delivery[n]
        attempt = self.do(deliveries.claim_send, claim.lease, sending, BODY, DIGEST, self.now)
        if answer is not None:
            self.do(deliveries.settle_send, claim.lease, sending, attempt, answer, self.now)

    def question(self, claim: ClaimedTask, reason: Reason = Reason.INPUT, **more: object) -> Review:
        review = Review(
            id=self.ids.review(),
            task_id=claim.task.id,
            key=f"ask:{claim.lease.number}",
            reason=reason,
            question="Which ones?",
            resume_to=Status.RUNNING,
        )
        return replace(review, **more)

    # What must always be true -------------------------------------------------------------------

    def kinds(self, task_id: TaskId) -> list[str]:
        return [event.kind.value for event in events.of_task(self.tx, task_id)]

    def image(self) -> dict[str, list[Row]]:
        """Return the content of the database, table by table."""
        tables = [str(row["name"]) for row in self.sql(self._tables)]
        return {table: self.sql(f"SELECT * FROM {table}") for table in tables}  # noqa: S608

    def complaints(self) -> list[str]:
        """Return what the audit finds, and gaps in the sequence of events."""
        found = list(audit.complaints(self.tx))
        seqs = [row["seq"] for row in self.sql("SELECT seq FROM events ORDER BY seq")]
        if seqs != list(range(1, len(seqs) + 1)):
            found.append("the journal has a gap")
        return found


class PostgresScene(Scene):
    """The same on Postgres, in a database of its own."""

    _tables = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"

    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__(Path())

    def _open(self) -> StoreConnection:
        return PostgresTx(self.url, lambda: connect_postgres(self.url, process_clock=True))
