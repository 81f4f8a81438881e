"""Everything a leg may do to its task, beside what the model says about it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Final

from remit.model.delivery import Accepted, Answer, Delivery, Refused, SendRetry, Unknown
from remit.model.review import Review
from remit.model.status import Actor, Reason, Status
from remit.store import deliveries, events, moves, runs
from remit.store.deliveries import DashboardPost
from remit.store.moves import Ending
from remit.store.queue import ClaimedTask
from tests.store.scene import BODY, DIGEST, Scene
from tests.store.twin import Twin, questions

Act = Callable[[Scene, Twin, ClaimedTask], None]

BY: Final = {
    Status.RUNNING: Actor.EXECUTOR,
    Status.VERIFYING: Actor.VERIFIER,
    Status.DELIVERING: Actor.COURIER,
}
WAYS_ON: Final = {
    "work done, to be checked": Status.VERIFYING,
    "work done, to be sent": Status.DELIVERING,
    "passes, to be sent": Status.DELIVERING,
}
ANSWERS: Final[dict[str, Answer]] = {
    "accepted": Accepted("ref"),
    "not sent, may be tried again": SendRetry("busy"),
    "refused": Refused("no such number"),
    "nobody knows": Unknown("timeout"),
}
ENDS: Final = {
    "work done, nothing to send": Status.COMPLETED,
    "passes, nothing to send": Status.COMPLETED,
    "all sent": Status.COMPLETED,
    "permanent error": Status.FAILED,
    "one was refused": Status.FAILED,
    "stops as asked": Status.CANCELLED,
    "leaves the rest unsent": Status.CANCELLED,
}
OUTCOMES: Final = {Status.COMPLETED: "done", Status.FAILED: "fail", Status.CANCELLED: "cancelled"}
DOUBTLESS: Final = ("all sent", "one was refused")  # with an unknown send, a leg asks first


def acts(twin: Twin) -> Iterator[Act]:
    """Yield what may happen next in the leg that holds this task."""
    yield record_a_step
    if twin.torn:
        yield doubt
        return
    if twin.config.sending:
        yield from (partial(answer, said=said) for said in ANSWERS)
        return
    yield from (partial(go_on, way=way) for way in WAYS_ON if twin.may(way))
    if twin.may("claims"):
        yield from (send, post)
    for way in ENDS:
        if twin.may(way) and not (twin.doubts and way in DOUBTLESS):
            yield partial(end, way=way)
    yield from (partial(ask, question=found) for found in questions(twin.config))
    yield from _other_ends(twin)


def _other_ends(twin: Twin) -> Iterator[Act]:
    if twin.doubts and twin.config.status is Status.DELIVERING:
        yield ask_whether_it_arrived
    if twin.may("fails, to be fixed"):
        yield fix
    if twin.pausing and twin.may("not now"):
        yield stop_at_a_boundary
    yield from (partial(try_later, outcome=word) for word in ("retry", "parked"))


def record_a_step(scene: Scene, twin: Twin, claim: ClaimedTask) -> None:
    step = {f"step-{events.last(scene.tx)}": "done"}
    wish = scene.do(runs.record_steps, claim.lease, step, None, scene.now)
    assert (wish in ("cancel", "delete")) is twin.config.cancel
    assert (wish == "pause") is twin.pausing


def go_on(scene: Scene, twin: Twin, claim: ClaimedTask, way: str) -> None:
    task, by = scene.get(twin.id), BY[twin.config.status]
    scene.do(moves.move, task, claim.lease, WAYS_ON[way], by, details=None, now=scene.now)
    twin.happens(way)


def send(scene: Scene, twin: Twin, claim: ClaimedTask) -> None:
    parcel = parcel_of(scene, twin, "pending")
    twin.attempt = scene.do(deliveries.claim_send, claim.lease, parcel, BODY, DIGEST, scene.now)
    twin.happens("claims")


def post(scene: Scene, twin: Twin, claim: ClaimedTask) -> None:
    parcel = parcel_of(scene, twin, "pending")
    scene.do(deliveries.post, claim.lease, DashboardPost(parcel, BODY, DIGEST), scene.now)
    twin.happens("claims")
    twin.happens("accepted")


def answer(scene: Scene, twin: Twin, claim: ClaimedTask, said: str) -> None:
    parcel, told = parcel_of(scene, twin, "sending"), ANSWERS[said]
    assert scene.do(deliveries.settle_send, claim.lease, parcel, twin.attempt, told, scene.now)
    if said == "nobody knows":  # the model asks in the same breath, a leg when it ends
        twin.adjust(sending=False, unknown=True)
        twin.doubts += 1
    else:
        twin.adjust(tries=1)
        twin.happens(said)


def doubt(scene: Scene, twin: Twin, claim: ClaimedTask) -> None:
    parcel = parcel_of(scene, twin, "sending")
    scene.do(deliveries.doubt, claim.lease, parcel, "cut", scene.now)
    twin.torn, twin.doubts = False, twin.doubts + 1


def end(scene: Scene, twin: Twin, claim: ClaimedTask, way: str) -> None:
    to = ENDS[way]
    by = Actor.EXECUTOR if way == "stops as asked" else BY[twin.config.status]
    _finish(scene, twin, claim, Ending(outcome=OUTCOMES[to], to=to, by=by, summary=way))
    twin.happens(way)
    twin.leg_ends()


def ask(scene: Scene, twin: Twin, claim: ClaimedTask, question: tuple[str, Reason, Status]) -> None:
    name, reason, resume_to = question
    _wait(scene, twin, claim, review_of(scene, twin, reason, resume_to))
    if twin.config.cancel and twin.doubts:  # that comes first
        twin.review = None
        twin.leg_ends()
        twin.due_at = scene.now
        return
    if twin.config.cancel:  # then nobody is asked
        delivering = twin.config.status is Status.DELIVERING
        name = "leaves the rest unsent" if delivering else "stops as asked"
    twin.happens(name)
    twin.leg_ends()


def ask_whether_it_arrived(scene: Scene, twin: Twin, claim: ClaimedTask) -> None:
    _wait(scene, twin, claim, review_of(scene, twin, Reason.AMBIGUOUS, Status.DELIVERING))
    twin.adjust(sending=True, unknown=False)
    twin.happens("nobody knows")
    twin.leg_ends()


def fix(scene: Scene, twin: Twin, claim: ClaimedTask) -> None:
    wished, now = twin.pausing, scene.now
    told = Ending(
        outcome="retry", to=Status.RUNNING, by=Actor.VERIFIER, due_at=now, settles=False, round=1
    )
    _finish(scene, twin, claim, told)
    twin.happens("fails, to be fixed")
    twin.leg_ends()
    twin.pausing, twin.due_at = wished, now


def stop_at_a_boundary(scene: Scene, twin: Twin, claim: ClaimedTask) -> None:
    was = twin.config.status
    told = Ending(outcome="paused", to=Status.PAUSED, by=Actor.OWNER, resume_to=was)
    _finish(scene, twin, claim, told)
    twin.happens("not now")
    twin.leg_ends()


def try_later(scene: Scene, twin: Twin, claim: ClaimedTask, outcome: str) -> None:
    status, wished, now = twin.config.status, twin.pausing, scene.now
    due = now + timedelta(minutes=10) if outcome == "retry" else now
    told = Ending(outcome=outcome, to=status, by=BY[status], due_at=due, settles=False)
    _finish(scene, twin, claim, told)
    twin.leg_ends()
    twin.pausing = wished
    twin.due_at = now if wished or twin.config.cancel else due


def parcel_of(scene: Scene, twin: Twin, status: str) -> Delivery:
    return next(each for each in scene.get(twin.id).delivery if each.status == status)


def review_of(scene: Scene, twin: Twin, reason: Reason, resume_to: Status) -> Review:
    twin.review = ident = scene.ids.review()
    about = parcel_of(scene, twin, "unknown").id if reason is Reason.AMBIGUOUS else None
    return Review(
        id=ident,
        task_id=twin.id,
        key=f"ask:{ident}",
        reason=reason,
        question="Well?",
        about=about,
        resume_to=resume_to,
    )


def _wait(scene: Scene, twin: Twin, claim: ClaimedTask, review: Review) -> None:
    by = BY[twin.config.status]
    told = Ending(outcome="wait", to=Status.NEEDS_REVIEW, by=by, review=review)
    _finish(scene, twin, claim, told)


def _finish(scene: Scene, twin: Twin, claim: ClaimedTask, told: Ending) -> None:
    task, began = scene.get(twin.id), claim.task.last_updated
    scene.do(moves.finish, task, claim.lease, began, told, scene.now)
