"""Tasks beside their models: whatever the engine, the owner and the world may do to them."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Final

import pytest

from remit.errors import BadInput, IllegalMove, RemitError
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import WorkerId
from remit.model.review import NEEDS_TEXT, OPTIONS, Decision, ReviewAnswer, Undo
from remit.model.status import ACTIVE, PAUSABLE, Actor, Reason, Status
from remit.model.task import Priority
from remit.store import events, moves, queue, reviews, tasks
from tests.model.lifecycle_situations import Config
from tests.store.legs import acts, review_of
from tests.store.scene import ROOMY, RULE, Scene
from tests.store.twin import OPEN_ENDED, ROWS, Twin, unlawful

Deed = Callable[[], None]
Shape = tuple[int, str, bool, bool]  # deliveries, kind, an open question, planned for later

KINDS: Final = ("plain", "checked", "hopeless", "precomposed")
SOON: Final = timedelta(minutes=30)
# What comes next, by weight and mood: a task whose legs never work gets nowhere.
EASY: Final = (*["work"] * 6, *["dispatch"] * 2, *["decide"] * 2, *["owner"] * 2, "world", "crash")
MOODY: Final = (*["work"] * 2, *["dispatch"] * 2, "decide", *["owner"] * 4, "world")
SHAKY: Final = (*["work"] * 2, *["dispatch"] * 3, "decide", *["crash"] * 3)
MOODS: Final = (EASY, MOODY, SHAKY)
WISHES: Final = [
    *("pause", "resume", "hasten") * 2,
    "cancel",
    "cancel and hide",
    "delete",
    "undelete",
]


class Stage:
    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.twins: list[Twin] = []
        self.workers = 0

    def close(self) -> None:
        self.scene.close()

    @property
    def worker(self) -> WorkerId:
        return WorkerId(f"wrk-{self.workers}")

    def compare(self) -> None:
        """Check that store and model agree, and that both published views make a legal step."""
        for twin in self.twins:
            task = self.scene.get(twin.id)
            found = twin.differences(task)
            if twin.seen is not None:
                (last,) = events.last_of_task(self.scene.tx, twin.id, 1)
                found += unlawful(twin.seen, task, last.actor)
            assert not found, (found, self.scene.kinds(twin.id))
            twin.seen = task

    def inspect(self) -> None:
        """Check that the file is intact, and that nothing is due that waits for the owner."""
        found = self.scene.complaints()
        assert not found, found
        astray = self.scene.sql(
            "SELECT id, status FROM tasks WHERE due_at IS NOT NULL AND (worker IS NOT NULL"
            " OR status NOT IN ('new', 'ready', 'running', 'verifying', 'delivering'))"
        )
        assert astray == [], "what is held, or waits for its owner, is due"

    def possible(self, what: str) -> Iterator[Deed]:
        """Return what may happen next, of one kind."""
        return _KINDS[what](self)

    def _work(self) -> Iterator[Deed]:
        for twin in self.twins:
            if twin.claim is not None:
                yield from (partial(act, self.scene, twin, twin.claim) for act in acts(twin))

    def _decisions(self) -> Iterator[Deed]:
        asked = [twin for twin in self.twins if twin.review is not None]
        yield from (
            partial(self._decide, twin, answer) for twin in asked for answer in ReviewAnswer
        )
        yield from (partial(self._call_back, twin) for twin in asked if self._lets_out(twin))

    def _wishes(self) -> Iterator[Deed]:
        return (partial(self._wish, twin, wish) for wish in WISHES for twin in self.twins)

    def _world(self) -> Iterator[Deed]:
        yield self._an_hour_passes
        yield from (partial(self._forbidden, twin) for twin in self.twins if twin.claim)

    def _dispatches(self) -> Iterator[Deed]:
        yield self.dispatch

    def _crashes(self) -> Iterator[Deed]:
        yield self._the_process_dies

    # The engine ---------------------------------------------------------------------------------

    def admit(self, sends: int, kind: str, asked: bool, later: bool) -> None:
        precomposed = kind == "precomposed" and sends > 0
        content = "As written." if precomposed else None
        parcels = [Delivery("o", None, content, id=self.scene.ids.delivery()) for _ in range(sends)]
        due_at = self.scene.now + SOON if later else self.scene.now
        task = self.scene.admit(delivery=tuple(parcels), scheduled_for=due_at if later else None)
        config = Config(
            asked=asked,
            due=not later,
            precomposed=precomposed,
            checked=kind in ("checked", "hopeless"),
            fixes=0 if kind == "hopeless" else 1,
            unsent=sends,
        )
        twin = Twin(task.id, config, due_at)
        if asked:
            review = review_of(self.scene, twin, Reason.INPUT, Status.NEW)
            self.scene.do(reviews.open_review, review, Actor.INTAKE, self.scene.now)
        self.twins.append(twin)

    def dispatch(self) -> None:
        """Rank what is new, then claim what is due."""
        for twin in self.twins:
            ranked = self.scene.do(queue.rank, twin.id, Priority.LOW, RULE, self.scene.now)
            assert ranked is twin.may("ranked")
            if ranked:
                twin.happens("ranked")
        self.compare()
        due = {twin.id: twin for twin in self.twins if self._claimable(twin)}
        claims = self.scene.do(queue.claim, self.worker, ROOMY, self.scene.ids.run, self.scene.now)
        taken = {claim.task.id for claim in claims}
        suspects = {twin.id for twin in due.values() if twin.crashes and not _is_asked_first(twin)}
        assert taken <= due.keys()
        assert due.keys() - taken <= suspects
        assert len(taken & suspects) == min(len(suspects), 1)
        for claim in claims:
            twin = due[claim.task.id]
            twin.claim = claim
            if twin.config.status is Status.READY:
                twin.happens("sends as written" if twin.config.precomposed else "starts")

    def _claimable(self, twin: Twin) -> bool:
        if twin.claim is not None:
            return False
        if twin.config.status is Status.READY:
            return twin.config.due
        return twin.config.status in ACTIVE and twin.due_at <= self.scene.now

    def _forbidden(self, twin: Twin) -> None:
        """Check that the leg cannot do what no row of the table allows."""
        assert twin.claim
        task, lease, now = self.scene.get(twin.id), twin.claim.lease, self.scene.now
        for to in Status:
            for by in Actor:
                if (task.status, to, by) not in ROWS:
                    with pytest.raises(IllegalMove):
                        self.scene.do(moves.move, task, lease, to, by, details=None, now=now)

    def _the_process_dies(self) -> None:
        self.workers += 1
        held, now = [twin for twin in self.twins if twin.claim], self.scene.now
        freed = self.scene.do(queue.release_orphans, self.worker, self.scene.ids.review, now)
        assert freed == len(held)
        for twin in held:
            twin.crash()
            twin.due_at = now
            if twin.config.status is Status.NEEDS_REVIEW:
                twin.review = reviews.of_task(self.scene.tx, twin.id)[-1].id

    def _an_hour_passes(self) -> None:
        self.scene.wait(3600)
        for twin in self.twins:
            if not twin.config.due and twin.config.status in OPEN_ENDED:
                twin.happens("its time comes")

    # The owner ----------------------------------------------------------------------------------

    def _wish(self, twin: Twin, wish: str) -> None:
        """Try a request of the owner, allowed or not."""
        match wish:
            case "cancel" | "cancel and hide":
                self._cancel(twin, hide=wish != "cancel")
            case "delete" | "undelete":
                self._delete(twin, hide=wish == "delete")
            case "pause":
                self._pause(twin)
            case "resume":
                self._resume(twin)
            case _:
                self._hasten(twin)

    def _pause(self, twin: Twin) -> None:
        allowed = twin.config.status in PAUSABLE and not twin.config.cancel
        if self._does(allowed, twin, moves.pause):
            twin.pausing = twin.claim is not None
            if not twin.pausing:
                twin.happens("not now")

    def _resume(self, twin: Twin) -> None:
        paused, wished = twin.config.status is Status.PAUSED, twin.pausing
        if not self._does(paused or wished, twin, moves.resume):
            return
        twin.pausing = False
        if wished:
            return
        twin.happens("goes on", twin.config.resume_to)
        if twin.config.status in ACTIVE:
            twin.due_at = self.scene.now
        elif twin.due_at > self.scene.now:
            twin.adjust(due=False)  # a hastened task waits for its time again

    def _cancel(self, twin: Twin, *, hide: bool) -> None:
        if not self._does(not twin.ended, twin, moves.cancel, hide=hide):
            return
        twin.hiding, twin.pausing = hide, False
        if twin.config.status in ACTIVE:
            twin.due_at = self.scene.now
            if not twin.config.cancel:
                twin.happens("asks to stop")
        elif self._ends_later(twin):
            pass
        elif twin.config.status is Status.NEEDS_REVIEW:
            twin.happens("decides: decline")
        else:
            twin.happens("not wanted", Status.CANCELLED)
        twin.settled()

    def _ends_later(self, twin: Twin) -> bool:
        """Whether an unknown send is asked about first, except the one just asked about."""
        others = twin.doubts + twin.torn - (twin.config.reason is Reason.AMBIGUOUS)
        if others <= 0 or twin.config.resume_to is None:
            return False
        assert (twin.config.status, twin.config.resume_to, Actor.OWNER) in ROWS
        twin.adjust(status=twin.config.resume_to, resume_to=None, reason=None, cancel=True)
        twin.due_at, twin.review = self.scene.now, None
        return True

    def _hasten(self, twin: Twin) -> None:
        allowed = twin.config.status in PAUSABLE - {Status.NEW} and twin.claim is None
        if self._does(allowed, twin, moves.hasten):
            twin.adjust(due=True)
            if twin.config.status in ACTIVE:
                twin.due_at = self.scene.now

    def _delete(self, twin: Twin, *, hide: bool) -> None:
        done = self._does(twin.ended, twin, tasks.delete if hide else tasks.undelete)
        if done and hide is not twin.config.deleted:
            twin.happens("deletes or restores")

    def _decide(self, twin: Twin, answer: ReviewAnswer) -> None:
        assert twin.review
        review, now = twin.review, self.scene.now
        offered = answer in OPTIONS[twin.config.reason or Reason.INPUT]
        if not offered or answer in NEEDS_TEXT:
            with pytest.raises(BadInput):
                self.scene.do(reviews.decide, review, Decision(answer, " "), now)
        if not offered:
            return
        self.scene.do(reviews.decide, review, Decision(answer, "Blue ones."), now)
        twin.review = None
        if twin.config.status is Status.NEEDS_REVIEW:
            self._decided(twin, answer)
        elif answer is ReviewAnswer.DECLINE:
            twin.happens("not wanted", Status.CANCELLED)
        elif twin.config.status is Status.NEW:
            twin.happens("the request is made clear")
        else:
            twin.adjust(asked=False)  # in the model nobody asks while a task is paused
        twin.settled()

    def _lets_out(self, twin: Twin) -> bool:
        """Whether an approval would release something, and nothing is out yet."""
        parcels = self.scene.get(twin.id).delivery
        unsent = parcels and all(each.status is DeliveryStatus.PENDING for each in parcels)
        asks = twin.config.reason in (Reason.APPROVAL, Reason.DELIVERABLE)
        return bool(unsent) and asks and twin.config.resume_to is Status.DELIVERING

    def _call_back(self, twin: Twin) -> None:
        """Approve, and undo before anything is claimed: the question is as before."""
        assert twin.review
        reason, now = twin.config.reason, self.scene.now
        answer = ReviewAnswer.APPROVE if reason is Reason.APPROVAL else ReviewAnswer.EDIT
        said = Decision(answer, "Blue ones.")
        self.scene.do(reviews.decide, twin.review, said, now, None, Undo(60))
        twin.happens(f"decides: {answer}", Status.DELIVERING)
        if not self._does(not twin.config.cancel, twin, moves.undo):
            twin.review, twin.crashes, twin.due_at = None, 0, now + timedelta(seconds=60)
            return
        twin.happens(f"calls it back: {reason}")
        twin.crashes = 0
        kept = self.scene.do(reviews.get, twin.review)
        assert (kept.decision, kept.draft) == (None, "Blue ones.")

    def _decided(self, twin: Twin, answer: ReviewAnswer) -> None:
        if answer is ReviewAnswer.DECLINE and self._ends_later(twin):
            twin.crashes = 0
            return
        to = {ReviewAnswer.BACK: Status.RUNNING, ReviewAnswer.DECLINE: Status.CANCELLED}
        twin.happens(f"decides: {answer}", to.get(answer, twin.config.resume_to))
        if answer in (ReviewAnswer.ARRIVED, ReviewAnswer.RESEND, ReviewAnswer.DROP):
            twin.doubts -= 1
            twin.adjust(unknown=twin.doubts > 0 or twin.torn)
        twin.crashes, twin.due_at = 0, self.scene.now

    def _does(self, allowed: bool, twin: Twin, verb: Callable[..., object], **more: object) -> bool:
        """Let the owner do something; a forbidden action is refused and changes nothing."""
        if allowed:
            self.scene.do(verb, twin.id, self.scene.now, **more)
            return True
        before = self.scene.get(twin.id)
        with pytest.raises(RemitError):
            self.scene.do(verb, twin.id, self.scene.now, **more)
        assert self.scene.get(twin.id) == before
        return False


def _is_asked_first(twin: Twin) -> bool:
    return twin.config.status is Status.DELIVERING and bool(twin.doubts or twin.torn)


_KINDS: Final[dict[str, Callable[[Stage], Iterator[Deed]]]] = {
    "work": Stage._work,
    "dispatch": Stage._dispatches,
    "decide": Stage._decisions,
    "owner": Stage._wishes,
    "world": Stage._world,
    "crash": Stage._crashes,
}
