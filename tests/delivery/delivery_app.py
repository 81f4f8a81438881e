"""The real spine, courier and store, split into single effects that a model can walk.

A leg is the production code from `run.run` to `moves.finish`. It is deterministic, so its place
follows from its input and the answers so far: it is run again from the beginning with the same
answers, up to its next effect. An effect is a store verb, run on a real in-memory database, or a
call of the channel, which the model answers.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Concatenate, Final, ParamSpec, TypeAlias, TypeVar, cast

from remit import run
from remit.brain.think import NoBrain, Thinker
from remit.delivery.courier import Courier
from remit.engine.local import LocalEngine
from remit.engine.steps import LocalSteps
from remit.errors import LeaseLost
from remit.model.contract import RankingRule
from remit.model.delivery import (
    Answer,
    Delivery,
    DeliveryReport,
    Found,
    Parcel,
    ProviderReport,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.model.ids import DeliveryId, Ids, ReviewId, RunId, TaskId, WorkerId
from remit.model.review import Decision, ReviewAnswer
from remit.model.task import Priority
from remit.plan import Planner
from remit.settings import EngineSettings
from remit.store import deliveries, home, moves, queue, reviews, tasks
from remit.store.connection import SqliteTx, row_to_dict
from remit.store.database import Cell, OnCommit, Params, Row, Tx, statement
from remit.store.queue import ClaimedTask, ClaimFilter
from remit.system.background import Background, TimeLimit
from remit.verify import Verifier
from tests.sample_task import sample_task
from tests.stage import NoRecall

P = ParamSpec("P")
T = TypeVar("T")

NOW: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)  # it is always now; the past was longer ago
GRACE: Final = 3600.0
HOUR: Final = timedelta(hours=1)
ID: Final = TaskId("task-01JZ0000000000000000000000")
KEY: Final = DeliveryId("dlv-01JZ0000000000000000000000")
_MS: Final = int(NOW.timestamp() * 1000)
_TABLES: Final = ("tasks", "deliveries", "attempts", "reviews", "steps")
_SELECT: Final = {name: f"SELECT * FROM {name}" for name in _TABLES}  # noqa: S608 - named above
_LONG_AGO: Final = _MS - int(GRACE * 1000)

Rows: TypeAlias = tuple[tuple[tuple[Cell, ...], ...], ...]  # of each table, all rows
Protocol: TypeAlias = type[Courier]


@dataclass(frozen=True, slots=True)
class Verb:
    """The leg wants this written."""

    work: Callable[[Tx], object]
    name: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The leg wants the channel to send, or to look up."""

    what: str  # "send" or "find"


class _Next(BaseException):
    """No error: it marks how far a leg is known."""

    def __init__(self, want: Verb | Ask) -> None:
        super().__init__()
        self.want = want


class _Chance(Random):
    def random(self) -> float:
        return 0.0


@dataclass(frozen=True, slots=True)
class Sort:
    """What a channel can do about an unknown send."""

    looks: bool = False  # it can look up what arrived, and what bounced
    files: bool = False  # it can look up, and knows every accepted message
    gives: bool = False  # the same key is one message, so it is sent again
    blind: bool = False  # a bug: it takes silence and 5xx for a no
    forgets: bool = False  # a bug: it resends, but does not recognise the key
    hasty: bool = False  # a bug: it resends, and takes a no to that for a no to the first


class _Script:
    """Store, channel and clock of one leg: repeat the known answers, then stop."""

    name: Final = "post"
    guidance: Final = ""
    most: Final = 100
    grace: Final = GRACE

    def __init__(self, heard: Sequence[object], kind: Sort) -> None:
        self._heard = list(heard)
        keeps = SendGuarantee.LOOKUP if kind.looks or kind.files else SendGuarantee.NOTHING
        self.keeps = SendGuarantee.KEY if kind.gives else keeps
        self._blind = kind.blind

    def now(self) -> datetime:
        return NOW

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(seconds)

    async def write(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        def verb(tx: Tx) -> object:
            return work(tx, *args, **kwargs)

        return cast("T", self._next(Verb(verb, work.__name__)))

    async def read(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        def verb(tx: Tx) -> object:
            return work(tx, *args, **kwargs)

        return cast("T", self._next(Verb(verb, f"reads {work.__name__}")))

    async def turn(self) -> None:
        """Nothing else wants to go on."""

    def on_commit(self, tell: OnCommit) -> None:
        """Nobody is told: the model looks by itself."""

    async def close(self) -> None:
        """Do nothing: nothing is held."""

    async def send(self, parcel: Parcel) -> Answer:
        assert (parcel.key, parcel.body) == (KEY, "Good day.")
        answer = cast("Answer", self._next(Ask("send")))
        if self._blind and isinstance(answer, Unknown):
            return SendRetry(answer.why, GRACE)
        return answer

    async def find(self, parcel: Parcel) -> Found | None:
        assert (parcel.key, parcel.body) == (KEY, "Good day.")
        return cast("Found | None", self._next(Ask("find")))

    def _next(self, want: Verb | Ask) -> object:
        if not self._heard:
            raise _Next(want)
        said = self._heard.pop(0)
        if isinstance(said, BaseException):
            raise said
        return said


class PlayedTx(SqliteTx):
    """The production statements; some may be replaced by wrong ones, to test the checks."""

    def __init__(self, connection: sqlite3.Connection, wrong: Mapping[str, str]) -> None:
        super().__init__(connection)
        self._wrong = wrong

    def run(self, name: str, params: Params = ()) -> int:
        sql = self._wrong.get(name) or statement(name)
        return self._connection.execute(sql, params).rowcount

    def one(self, name: str, params: Params = ()) -> Row | None:
        sql = self._wrong.get(name) or statement(name)
        found: Row | None = self._connection.execute(sql, params).fetchone()
        return found


class App:
    """The database at some point, and what becomes of it."""

    def __init__(
        self, kind: Sort, protocol: Protocol = Courier, wrong: Mapping[str, str] | None = None
    ) -> None:
        self._kind = kind
        self._protocol = protocol
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.row_factory = row_to_dict
        home.migrate(self._connection)
        # Only so that a point can be restored; nothing else bypasses the rules.
        self._connection.execute("DROP TRIGGER tasks_start_new")
        self._tx = PlayedTx(self._connection, wrong or {})
        self._columns = {name: self._columns_of(name) for name in _TABLES}
        self._loop = asyncio.new_event_loop()
        self.calls = 0

    def close(self) -> None:
        self._loop.close()
        self._connection.close()

    # The store ----------------------------------------------------------------------------------

    def first(self) -> Rows:
        """Return a task with one delivery to the owner, ranked and due."""
        sends = (Delivery("post", content="Good day.", id=KEY),)
        task = sample_task("Greet", NOW, id=ID, delivery=sends)

        def begin(tx: Tx) -> None:
            tasks.admit(tx, task)
            queue.rank(tx, ID, Priority.LOW, RankingRule("default", "no rule matched"), NOW)

        return self.does(None, begin)[0]

    def does(self, rows: Rows | None, work: Callable[[Tx], T]) -> tuple[Rows, T | LeaseLost]:
        """Run a verb on this state of the store; return the new state."""
        self.calls += 1
        said: T | LeaseLost
        self._tx.begin()
        try:
            if rows is not None:
                self._load(rows)
            self._connection.execute("SAVEPOINT verb")
            try:
                said = work(self._tx)
            except LeaseLost as lost:
                self._connection.execute("ROLLBACK TO verb")
                said = lost
            return self._dump(), said
        finally:
            self._tx.rollback()

    def _columns_of(self, table: str) -> tuple[str, ...]:
        found = self._connection.execute(f"PRAGMA table_info({table})").fetchall()
        return tuple(str(row["name"]) for row in found)

    def _dump(self) -> Rows:
        return tuple(
            tuple(tuple(row.values()) for row in self._connection.execute(_SELECT[name]))
            for name in _TABLES
        )

    def _load(self, rows: Rows) -> None:
        for name, found in zip(_TABLES, rows, strict=True):
            marks = ", ".join("?" * len(self._columns[name]))
            insert = f"INSERT INTO {name} VALUES ({marks})"  # noqa: S608 - one of five names
            self._connection.executemany(insert, found)

    def table(self, rows: Rows, name: str) -> list[dict[str, Cell]]:
        columns = self._columns[name]
        return [dict(zip(columns, row, strict=True)) for row in rows[_TABLES.index(name)]]

    # The engine ---------------------------------------------------------------------------------

    def claims(self, rows: Rows, worker: str) -> tuple[Rows, ClaimedTask | None]:
        lease = cast("int", self.table(rows, "tasks")[0]["lease"])
        wanted = ClaimFilter(1, {}, suspects=True, ageing=HOUR)
        claimer = WorkerId(worker)
        after, found = self.does(
            rows, lambda tx: queue.claim(tx, claimer, wanted, lambda: RunId(f"run-{lease}"), NOW)
        )
        assert not isinstance(found, LeaseLost)
        return after, found[0] if found else None

    def releases(self, rows: Rows, worker: str) -> Rows:
        """Another process starts, and takes the holder for dead."""
        lease = cast("int", self.table(rows, "tasks")[0]["lease"])
        review = ReviewId(f"rev-poison-{lease}")
        starter = WorkerId(worker)
        return self.does(rows, lambda tx: queue.release_orphans(tx, starter, lambda: review, NOW))[
            0
        ]

    def later(self, rows: Rows) -> Rows:
        """Time passes until the task is due; a doubt older than its grace stays so."""

        def wait(tx: Tx) -> None:
            tx.ask("UPDATE tasks SET due_at = ?", (_MS,))
            tx.ask(
                "UPDATE deliveries SET doubted_at = ? WHERE doubted_at IS NOT NULL", (_LONG_AGO,)
            )

        return self.does(rows, wait)[0]

    # Everybody else -----------------------------------------------------------------------------

    def reported(self, rows: Rows, ref: str, arrived: bool) -> Rows:
        said = DeliveryReport(
            ProviderReport(ref, arrived, "" if arrived else "undeliverable"), "post", KEY
        )
        return self.does(rows, lambda tx: deliveries.report(tx, said, NOW))[0]

    def decided(self, rows: Rows, review: str, answer: ReviewAnswer) -> Rows:
        decision, asked = Decision(answer), ReviewId(review)
        return self.does(rows, lambda tx: reviews.decide(tx, asked, decision, NOW))[0]

    def cancelled(self, rows: Rows) -> Rows:
        return self.does(rows, lambda tx: moves.cancel(tx, ID, NOW))[0]

    # A leg --------------------------------------------------------------------------------------

    def wants(self, claim: ClaimedTask, heard: Sequence[object]) -> Verb | Ask | None:
        """Return the next effect of a leg that got these answers; None at its end."""
        script = _Script(heard, self._kind)
        courier = self._protocol({"post": script}, now=script.now)
        rooms = run.RunPorts(Planner(), NoRecall(), Thinker(NoBrain(), {}), Verifier({}), courier)
        try:
            self._loop.run_until_complete(_leg(claim, script, rooms))
        except _Next as stop:
            return stop.want
        return None


async def _leg(claim: ClaimedTask, script: _Script, rooms: run.RunPorts) -> None:
    """Run the leg as the engine does."""
    ids = Ids(script.now, lambda _: claim.lease.number)
    loops = Background(script.now, script.sleep)
    engine = LocalEngine(script, script, ids, rooms, EngineSettings(attempts=9), loops)
    engine._chance = _Chance()
    steps = LocalSteps(claim, script, script, TimeLimit(3600))
    me = asyncio.current_task()
    assert me is not None
    engine._legs[claim.task.id] = (me, steps)
    await engine._leg(steps)
