"""When each move of the table happens, and what else it changes: the guards."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec import Struct

from remit.model.review import OPTIONS, ReviewAnswer
from remit.model.status import ACTIVE, PAUSABLE, TERMINAL, Actor, Reason, Status

NEW, READY, RUNNING, VERIFYING, DELIVERING, NEEDS_REVIEW, PAUSED, COMPLETED, FAILED, CANCELLED = (
    Status
)
_, PRIORITISE, ENGINE, EXECUTOR, VERIFIER, COURIER, REAPER, META, OWNER, _ = Actor
APPROVAL, INPUT, AUTH, DELIVERABLE, VERIFICATION, AMBIGUOUS, POISON = Reason
APPROVE, EDIT, BACK, ANSWER, ARRIVED, RESEND, DROP, DECLINE, READDRESS = ReviewAnswer


class Config(NamedTuple):
    """Everything of a task that decides what may happen next."""

    status: Status = NEW
    resume_to: Status | None = None
    reason: Reason | None = None
    cancel: bool = False  # cancel_requested
    deleted: bool = False  # deleted_at is set
    asked: bool = False  # a review about the request itself is open
    due: bool = True
    precomposed: bool = False
    checked: bool = False  # the contract is verifiable or skip
    proven: bool = False  # every criterion passed, or the owner accepted it
    tries: int = 1
    fixes: int = 1
    unsent: int = 0
    sending: bool = False  # claimed, no answer yet
    unknown: bool = False  # sent, result unknown
    refused: bool = False


Guard = Callable[[Config], bool]
Effect = Callable[[Config], Config]


class Situation(Struct, frozen=True):
    """Something that happens to a task: by whom, from where to where, when, and its effect."""

    name: str
    by: Actor
    was: Status
    to: Status
    when: Guard
    then: Effect

    @property
    def row(self) -> tuple[Status, Status, Actor]:
        return self.was, self.to, self.by

    @property
    def moves(self) -> bool:
        return self.was is not self.to


def always(_: Config) -> bool:
    return True


def same(config: Config) -> Config:
    return config


def _of(
    name: str, by: Actor, pair: tuple[Status, Status], when: Guard = always, then: Effect = same
) -> Situation:
    return Situation(name, by, *pair, when, then)


# When ---------------------------------------------------------------------------------------------
# Of what the owner asked to stop, nothing goes on; what is being sent is not interrupted.


def _goes_on(c: Config) -> bool:
    return not c.cancel


def _at_rest(c: Config) -> bool:
    return not c.cancel and not c.sending


def _has_more_to_send(c: Config) -> bool:
    return _at_rest(c) and c.unsent > 0


def _is_sending(c: Config) -> bool:
    return c.sending


def _all_out(c: Config) -> bool:
    return not c.sending and not c.unsent


def _proof_given(c: Config) -> bool:
    return not c.cancel and (c.proven or not c.checked)


# Then ---------------------------------------------------------------------------------------------


def _set(**changes: object) -> Effect:
    return lambda c: c._replace(**changes)  # type: ignore[arg-type]


def _ask(reason: Reason, resume_to: Status) -> Effect:
    return _set(reason=reason, resume_to=resume_to)


def _held(c: Config) -> Config:
    """The owner's own text is checked as the brain's would be."""
    return _ask(DELIVERABLE, RUNNING if c.checked else DELIVERING)(c)


def _verification_fails(c: Config) -> Config:
    return _ask(VERIFICATION, DELIVERING if c.unsent else RUNNING)(c)


def _claimed(c: Config) -> Config:
    return c._replace(sending=True, unsent=c.unsent - 1)


def _back_to_unsent(c: Config) -> Config:
    return c._replace(sending=False, unsent=c.unsent + 1, tries=c.tries - 1)


_NOBODY_KNOWS = _set(sending=False, unknown=True, reason=AMBIGUOUS, resume_to=DELIVERING)

# The situations -----------------------------------------------------------------------------------

_SENDS = (DELIVERING, DELIVERING)
_WORK_ASKS, _SEND_ASKS = (RUNNING, NEEDS_REVIEW), (DELIVERING, NEEDS_REVIEW)

_BEFORE_WORK = (
    _of("ranked", PRIORITISE, (NEW, READY), lambda c: not c.asked),
    _of("against policy", PRIORITISE, (NEW, CANCELLED)),
    _of("a duplicate", META, (NEW, CANCELLED)),
    _of("not wanted", OWNER, (NEW, CANCELLED)),
    _of("the request is made clear", OWNER, (NEW,) * 2, lambda c: c.asked, _set(asked=False)),
    _of("starts", ENGINE, (READY, RUNNING), lambda c: c.due and not c.precomposed),
    _of("sends as written", ENGINE, (READY, DELIVERING), lambda c: c.due and c.precomposed),
    _of("a duplicate", META, (READY, CANCELLED)),
    _of("not wanted", OWNER, (READY, CANCELLED)),
    *(
        _of("its time comes", ENGINE, (status,) * 2, lambda c: not c.due, _set(due=True))
        for status in (NEW, READY, PAUSED)
    ),
)

_AT_WORK = (
    _of(
        "work done, to be checked",
        EXECUTOR,
        (RUNNING, VERIFYING),
        lambda c: _goes_on(c) and c.checked,
    ),
    _of(
        "work done, to be sent",
        EXECUTOR,
        (RUNNING, DELIVERING),
        lambda c: _proof_given(c) and c.unsent > 0,
    ),
    _of(
        "work done, nothing to send",
        EXECUTOR,
        (RUNNING, COMPLETED),
        lambda c: _proof_given(c) and _all_out(c),
    ),
    *(
        _of(f"asks for {reason}", EXECUTOR, _WORK_ASKS, _goes_on, _ask(reason, RUNNING))
        for reason in (APPROVAL, INPUT, AUTH)
    ),
    _of(
        "the deliverable is held",
        EXECUTOR,
        _WORK_ASKS,
        lambda c: _goes_on(c) and c.unsent > 0,
        _held,
    ),
    _of("permanent error", EXECUTOR, (RUNNING, FAILED), _goes_on),
    *(
        _of("stops as asked", EXECUTOR, (status, CANCELLED), lambda c: c.cancel)
        for status in (RUNNING, VERIFYING)
    ),
    _of(
        "passes, to be sent",
        VERIFIER,
        (VERIFYING, DELIVERING),
        lambda c: _goes_on(c) and c.unsent > 0,
        _set(proven=True),
    ),
    _of(
        "passes, nothing to send",
        VERIFIER,
        (VERIFYING, COMPLETED),
        lambda c: _goes_on(c) and _all_out(c),
        _set(proven=True),
    ),
    _of(
        "fails, to be fixed",
        VERIFIER,
        (VERIFYING, RUNNING),
        lambda c: _goes_on(c) and c.fixes > 0,
        lambda c: c._replace(fixes=c.fixes - 1),
    ),
    _of(
        "fails, no fixes left",
        VERIFIER,
        (VERIFYING, NEEDS_REVIEW),
        lambda c: _goes_on(c) and not c.fixes,
        _verification_fails,
    ),
)

_ON_THE_WAY = (
    _of("claims", COURIER, _SENDS, _has_more_to_send, _claimed),
    _of("accepted", COURIER, _SENDS, _is_sending, _set(sending=False)),
    _of(
        "not sent, may be tried again",
        COURIER,
        _SENDS,
        lambda c: c.sending and c.tries > 0,
        _back_to_unsent,
    ),
    _of("refused", COURIER, _SENDS, _is_sending, _set(sending=False, refused=True)),
    _of("nobody knows", COURIER, _SEND_ASKS, _is_sending, _NOBODY_KNOWS),
    *(
        _of(f"{what}: {each}", by, _SEND_ASKS, _has_more_to_send, _ask(each, DELIVERING))
        for what, by, reasons in (
            ("may not go out", COURIER, (APPROVAL, AUTH, DELIVERABLE)),
            ("calls it back", OWNER, (APPROVAL, DELIVERABLE)),
        )
        for each in reasons
    ),
    *(
        _of(f"calls a decline back: {each}", OWNER, _WORK_ASKS, _at_rest, _ask(each, RUNNING))
        for each in (APPROVAL, INPUT, AUTH)
    ),
    _of("all sent", COURIER, (DELIVERING, COMPLETED), lambda c: _all_out(c) and not c.refused),
    _of("one was refused", COURIER, (DELIVERING, FAILED), lambda c: _all_out(c) and c.refused),
    _of(
        "leaves the rest unsent",
        COURIER,
        (DELIVERING, CANCELLED),
        lambda c: c.cancel and not c.sending and c.unsent > 0,
    ),
)


def _crashes(status: Status) -> Iterable[Situation]:
    yield _of(
        "tries again",
        REAPER,
        (status, status),
        lambda c: _at_rest(c) and c.tries > 0,
        lambda c: c._replace(tries=c.tries - 1),
    )
    yield _of(
        "crashes again and again",
        REAPER,
        (status, NEEDS_REVIEW),
        lambda c: _at_rest(c) and not c.tries,
        _ask(POISON, DELIVERING if status is DELIVERING else RUNNING),
    )


def _pauses(status: Status) -> Iterable[Situation]:
    yield _of(
        "not now", OWNER, (status, PAUSED), _at_rest, lambda c: c._replace(resume_to=c.status)
    )
    yield _of("goes on", OWNER, (PAUSED, status), lambda c: c.resume_to is status)


_DECIDED: dict[ReviewAnswer, Effect] = {
    APPROVE: lambda c: c._replace(tries=1, proven=c.reason is VERIFICATION or c.proven),
    EDIT: same,
    BACK: _set(tries=1, fixes=1, proven=False),
    ANSWER: same,
    ARRIVED: _set(unknown=False),
    RESEND: lambda c: c._replace(unknown=False, unsent=c.unsent + 1),
    DROP: _set(unknown=False, refused=True),
    DECLINE: same,
}
_LEADS_TO: dict[ReviewAnswer, tuple[Status, ...]] = {
    APPROVE: (RUNNING, DELIVERING),
    EDIT: (RUNNING, DELIVERING),
    BACK: (RUNNING,),
    ANSWER: (RUNNING,),
    ARRIVED: (DELIVERING,),
    RESEND: (DELIVERING,),
    DROP: (DELIVERING,),
    DECLINE: (CANCELLED,),
    READDRESS: (),  # it moves as an approval does, and the run asks anew
}


def _decides(answer: ReviewAnswer, to: Status) -> Situation:
    def offered(c: Config) -> bool:
        asked = c.reason is not None and answer in OPTIONS[c.reason]
        turns = answer in (BACK, DECLINE)
        return asked and (turns or to is c.resume_to)

    return _of(f"decides: {answer}", OWNER, (NEEDS_REVIEW, to), offered, _DECIDED[answer])


def _flags() -> Iterable[Situation]:
    for status in sorted(ACTIVE):
        yield _of("asks to stop", OWNER, (status, status), _goes_on, _set(cancel=True))
    for status in sorted(TERMINAL):
        yield _of(
            "deletes or restores",
            OWNER,
            (status, status),
            always,
            lambda c: c._replace(deleted=not c.deleted),
        )


SITUATIONS = (
    *_BEFORE_WORK,
    *_AT_WORK,
    *_ON_THE_WAY,
    *(s for status in sorted(ACTIVE) for s in _crashes(status)),
    *(s for status in sorted(PAUSABLE) for s in _pauses(status)),
    *(_decides(answer, to) for answer in ReviewAnswer for to in _LEADS_TO[answer]),
    _of("not wanted", OWNER, (PAUSED, CANCELLED)),
    *_flags(),
)

FIRST = tuple(
    Config(asked=asked, due=due, checked=checked, precomposed=precomposed, unsent=unsent)
    for asked in (False, True)
    for due in (False, True)
    for unsent in (0, 1, 2)
    for checked, precomposed in ((False, False), (True, False), (False, True))
    if unsent or not precomposed
)
