"""The steps of a leg on the store: every step, move and send is written under the lease."""

import contextlib
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Concatenate, Final, ParamSpec, TypeVar, Unpack, cast, get_type_hints

from msgspec.structs import replace

from remit.errors import LeaseLost, RemitError, StoreTrouble, Transient, WriteRefused
from remit.model.codec import Json, JsonMap, from_json, to_json
from remit.model.delivery import (
    Answer,
    Delivery,
    DeliveryStatus,
    Found,
    SendCap,
    SendHistory,
    Unknown,
)
from remit.model.delivery_moves import after_answer
from remit.model.ids import WorkerId
from remit.model.review import Decision
from remit.model.run import Lease
from remit.model.status import Actor, Status
from remit.model.task import RunFindings, Task
from remit.ports import Clock
from remit.store import deliveries, moves, rows, runs
from remit.store.database import Database, Tx
from remit.store.deliveries import DashboardPost
from remit.store.moves import LegMove
from remit.store.queue import ClaimedTask
from remit.system.background import OutOfTime, TimeLimit

P = ParamSpec("P")
T = TypeVar("T")

TROUBLE_PAUSE: Final = 1.0
MAX_REFUSALS: Final = 10  # of one write in a row, while the store takes others


class RunStopped(RemitError):
    """The owner asked to stop, or the process ends; the leg stops at this boundary."""

    def __init__(self, wish: str) -> None:
        super().__init__(wish)
        self.wish = wish


class LocalSteps:
    """Implements `ports.Steps` and `ports.SendLedger` on a local store."""

    def __init__(self, claim: ClaimedTask, db: Database, clock: Clock, limit: TimeLimit) -> None:
        self.task: Task = claim.task
        self.lease: Lease = claim.lease
        self.started_at: datetime = clock.now()
        self.wish: str | None = wish_of(claim.task)
        self.parting = False  # the process ends: stop at the next boundary
        self.hurried = False  # it ends now: do not wait for a full disk
        self.working = False  # a step may be interrupted; a write or a send never
        self.ended = False  # how the leg ended is written down
        self._recorded: dict[str, Json] = dict(claim.steps)
        self._looked: dict[str, Json] = {}  # done, but not yet written
        self._owed: dict[str, Json] = {}  # those of them that the end of the leg must write
        self._decisions: Mapping[str, Decision] = claim.decisions
        self._db = db
        self._clock = clock
        self._limit = limit
        self._moves: list[LegMove] = []  # made, and written with the next write
        self._news = False  # whether the task's details changed since they were written
        self._last_post: DashboardPost | None = None  # made, and not yet written down

    @property
    def ledger(self) -> "LocalSteps":
        return self

    async def do(
        self, name: str, work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        result = await self.look(name, work, *args, **kwargs)
        await self.save()
        return result

    async def look(
        self, name: str, work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if name in self._recorded:
            return from_json(_return_type(work), self._recorded[name])
        self.boundary()
        self.working = True
        try:
            result = await self._limit.run(work(*args, **kwargs))
        except OutOfTime:
            sentence = f"The step {name} took longer than {self._limit.seconds:.0f} s."
            raise Transient(sentence) from None
        finally:
            self.working = False
        self._looked[name] = self._recorded[name] = to_json(result)
        return result

    async def move(self, to: Status, by: Actor, *, soon: bool = False) -> None:
        self.boundary()
        if self.task.status is to:
            if self._owed:
                await self.save()
            return
        done, self._looked, self._owed = self._looked, {}, {}
        if soon:
            self.task.check_move(to, by)
            self._moves.append(LegMove(self.task, to, by, self._details(), done))
            self.task = replace(self.task, status=to)
            return
        wish = await self.write(
            moves.move,
            self.task,
            self.lease,
            to,
            by,
            details=self._details(),
            now=self._clock.now(),
            steps=done,
        )
        self.wish = wish or self.wish  # what was heard meanwhile is not forgotten
        if wish and done:
            self.boundary()
        self.task = replace(self.task, status=to)

    async def decided(self, key: str) -> Decision | None:
        return self._decisions.get(key)

    async def decisions(self, prefix: str) -> Mapping[str, Decision]:
        return {key: each for key, each in self._decisions.items() if key.startswith(prefix)}

    def has(self, name: str) -> bool:
        return name in self._recorded

    async def tell(self, text: str = "", done: Sequence[int] = ()) -> None:
        ticked = self.task.ticked(done)
        if not text and ticked == self.task:
            return
        self.task = ticked
        details: JsonMap = {"run": self.lease.run_id}
        details |= {"text": text} if text else {}
        details |= {"done": list[Json](done)} if done else {}
        # A leg that lost its lease, or cannot write now, learns it with the next step.
        with contextlib.suppress(LeaseLost, StoreTrouble):
            await self._db.write(
                runs.say,
                self.lease,
                details,
                rows.details(ticked) if done else None,
                self._clock.now(),
            )

    def keep(self, **found: Unpack[RunFindings]) -> None:
        before = self.task
        self.task = before.keeping(**found)
        self._news |= self.task != before

    # The ledger ---------------------------------------------------------------------------------

    async def claim(self, delivery: Delivery, body: str, cap: SendCap | None = None) -> int:
        self.boundary()
        digest = hashlib.sha256(body.encode()).hexdigest()
        now = self._clock.now()
        details = (self.lease, delivery, body, digest, now)
        if cap is None:
            attempt = await self.write(deliveries.claim_send, *details)
        else:
            attempt = await self.write(deliveries.claim_capped, *details, cap=cap)
        if not attempt:
            return 0
        self._change(
            delivery,
            lambda each: replace(
                each, status=DeliveryStatus.SENDING, body=body, address=delivery.address
            ),
        )
        return attempt

    async def settle(self, delivery: Delivery, attempt: int, answer: Answer) -> None:
        now = self._clock.now()
        settled = await self.write(
            deliveries.settle_send, self.lease, delivery, attempt, answer, now
        )
        if not settled:
            raise LeaseLost(self.task.id, self.lease.number)
        self._change(delivery, lambda each: after_answer(each, answer, now))

    async def post(self, delivery: Delivery, body: str) -> None:
        self.boundary()
        digest = hashlib.sha256(body.encode()).hexdigest()
        now, sent = self._clock.now(), DeliveryStatus.SENT
        post = DashboardPost(delivery, body, digest)
        if all(each.id == delivery.id or each.status is sent for each in self.task.delivery):
            self._last_post = post  # the leg ends here: it is written with its end
        else:
            await self.write(deliveries.post, self.lease, post, now)
        self._change(delivery, lambda each: replace(each, status=sent, body=body, sent_at=now))

    async def doubt(self, delivery: Delivery, why: str) -> None:
        now = self._clock.now()
        await self.write(deliveries.doubt, self.lease, delivery, why, now)
        self._change(delivery, lambda each: after_answer(each, Unknown(why), now))

    async def split(self, delivery: Delivery, parts: Sequence[str]) -> None:
        self.boundary()
        cut = delivery.cut(parts)
        named = [(part.id, part.body or "") for part in cut if part.id]
        await self.write(deliveries.split, self.lease, delivery, named, self._clock.now())
        self.task = self.task.with_parts(delivery, cut)

    async def clear(self, delivery: Delivery, answer: Found) -> None:
        now = self._clock.now()
        await self.write(deliveries.clear, self.lease, delivery, answer, now)
        self._change(delivery, lambda each: after_answer(each, answer, now))

    async def sends(self, delivery: Delivery) -> SendHistory:
        return await self._db.read(deliveries.sends, delivery)

    async def save(self) -> None:
        if self._looked:
            done, self._looked, self._owed = self._looked, {}, {}
            now = self._clock.now()
            wish = await self.write(runs.record_steps, self.lease, done, self._details(), now)
            self.wish = wish or self.wish

    def owe(self) -> None:
        self._owed = dict(self._looked)

    # Beneath ------------------------------------------------------------------------------------

    async def finish(self, ending: moves.Ending) -> None:
        """Write down how the leg ended, with what is not written down yet."""
        ending = replace(ending, details=ending.details or self._details())
        await self.write(
            moves.finish,
            self.task,
            self.lease,
            self.started_at,
            ending,
            self._clock.now(),
            post=self._last_post,
            steps=self._owed,
        )
        self.ended = True

    @property
    def asked(self) -> str | None:
        """What this leg was asked to do instead of continuing."""
        return self.wish or ("park" if self.parting else None)

    def boundary(self) -> None:
        """A point where a run may stop: nothing is half done."""
        if self.asked is not None:
            raise RunStopped(self.asked)

    async def write(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Write; wait while the disk is full or the file is locked. Nothing is lost.

        Raises WriteRefused if the store takes other writes, but never this one.
        """
        if self._moves:
            made, self._moves = self._moves, []
            work = moves.after_moves(made, self.lease, self._clock.now(), work)
        refusals = 0
        while True:
            try:
                return await self._db.write(work, *args, **kwargs)
            except StoreTrouble as trouble:
                if self.hurried:
                    raise
                refusals = refusals + 1 if await self._takes_others() else 0
                if refusals == MAX_REFUSALS:
                    raise WriteRefused(str(trouble)) from trouble
                await self._clock.sleep(TROUBLE_PAUSE)

    async def _takes_others(self) -> bool:
        return await takes_writes(self._db, self.lease.worker, self._clock.now())

    def _details(self) -> str | None:
        if not self._news:
            return None
        self._news = False
        return rows.details(self.task)

    def _change(self, delivery: Delivery, work: Callable[[Delivery], Delivery]) -> None:
        self.task = replace(
            self.task,
            delivery=tuple(
                work(each) if each.id == delivery.id else each for each in self.task.delivery
            ),
        )


def _return_type(work: Callable[P, Awaitable[T]]) -> type[T]:
    """Return the return type of a step's function, from its annotations."""
    return cast("type[T]", get_type_hints(work)["return"])


async def takes_writes(db: Database, worker: WorkerId, now: datetime) -> bool:
    """Whether the store takes a write of a worker."""
    try:
        await db.write(runs.beat, worker, now)
    except StoreTrouble:
        return False
    return True


def wish_of(task: Task) -> str | None:
    """Return the owner's open request for a held task: cancel, pause or None."""
    if task.cancel_requested:
        return "cancel"
    return "pause" if task.pause_requested else None
