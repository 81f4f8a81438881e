"""The sections of the task page: work, deliveries, proof."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final

from msgspec import Struct

from remit.model.contract import (
    DEFERRED,
    NOT_DECIDED,
    Contract,
    ContractType,
    Criterion,
    Finding,
    GeneratedFrom,
    ItemStatus,
    Result,
    WorkItem,
)
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.proof import NOT_VERIFIED, ProofState, matched, owners_word, proof_of
from remit.model.review import SEND, Review
from remit.model.run import Event, EventKind
from remit.model.status import ACTIVE, Reason, Status
from remit.model.task import Taint, Task
from remit.server.page_language import say
from remit.server.web import task_history, words
from remit.settings.channels import ChannelSettings, names_for_people

DASHBOARD: Final = "dashboard"
_MARKS: Final = re.compile(r"^#{1,6} |[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}", re.MULTILINE)


class TaskChip(Struct, frozen=True):
    """A short label of a task, with the reason."""

    word: str
    icon: str = ""
    why: str = ""


def chips(task: Task) -> tuple[TaskChip, ...]:
    """Return a task's labels: proof, schedule, priority, taint."""
    proof = TaskChip(NOT_VERIFIED, "shield", "No contract says how to tell that it is done.")
    if contract := task.contract:
        proof = TaskChip(_TYPES[contract.type][0], "shield", _TYPES[contract.type][1])
    if (standing := proof_of(task)) in (ProofState.UNPROVEN, ProofState.REFUTED):
        proof = TaskChip(NOT_VERIFIED, "shield", _sentence(UNVERIFIED[standing]))
    kind = TaskChip("Recurring", "repeat") if task.series_id else _TIMES[task.type.value]
    rank = task.rule
    rule = say("By the rule {0}: {1}.", say(rank.name), say(rank.because)) if rank else ""
    found = (proof, kind, TaskChip(f"{PRIORITIES[task.priority.value]} priority", "", rule))
    taint = () if task.taint is Taint.OWNER else (_TAINTS[task.taint],)
    return (*(found[1:] if task.was_silent else found), *taint)


# Work ---------------------------------------------------------------------------------------------


class WorkRow(Struct, frozen=True):
    item: WorkItem
    kind: str
    icon: str
    word: str
    note: str = ""
    took: str = ""


def work(task: Task, happened: Sequence[Event], now: datetime) -> tuple[WorkRow, ...]:
    """Return each item, its state, and how long it took."""
    ticks, began = _ticks(happened)
    busy = task.status is Status.RUNNING
    rows: list[WorkRow] = []
    for n, item in enumerate(task.work, 1):
        if item.status is ItemStatus.COMPLETED:
            rows.append(WorkRow(item, "ok", "done", "done", took=ticks.get(n, "")))
        elif item.status is ItemStatus.FAILED:
            rows.append(WorkRow(item, "bad", "fail", "failed"))
        elif busy:
            took = task_history.time_span(now - began) if began else ""
            rows.append(WorkRow(item, "run", "run", "being done", _aloud(happened), took))
            busy = False
        else:
            rows.append(WorkRow(item, "idle", "pend", "not begun"))
    return tuple(rows)


def _ticks(happened: Iterable[Event]) -> tuple[dict[int, str], datetime | None]:
    """Return how long each item took, and when the next one was started."""
    found: dict[int, str] = {}
    since: datetime | None = None
    for event in happened:
        if event.kind in (EventKind.TASK_MOVED, EventKind.RUN_STARTED) and "lease" in event.data:
            since = event.at
        done = event.data.get("done")
        if event.kind is EventKind.RUN_SAID and isinstance(done, list):
            took = task_history.time_span(event.at - since) if since else ""
            found |= {n: took for n in done if isinstance(n, int) and n not in found}
            since = event.at
    return found, since


def _aloud(happened: Sequence[Event]) -> str:
    """Return the last progress text."""
    texts = (str(each.data.get("text", "")) for each in reversed(happened))
    for text in texts:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            return words.first_line(lines[-1], 120)
    return ""


# Delivery -----------------------------------------------------------------------------------------


class DeliveryCard(Struct, frozen=True, kw_only=True):
    """One delivery: where it goes, its state, and the exact text."""

    id: str
    name: str
    icon: str
    to: str
    kind: str
    word: str
    mark: str  # the icon of its state
    text: str = ""
    note: str = ""
    review: str = ""  # the question it waits for
    markdown: bool = False
    where: str = ""  # the address, if it differs from the name

    @property
    def first(self) -> str:
        """How it begins, on one line without marks."""
        flat = " ".join(_MARKS.sub("", self.text).split())
        return words.first_line(flat, 150)

    @property
    def folds(self) -> bool:
        return self.text.strip() != self.first


class CardContext(Struct, frozen=True):
    """What cards need: the agent's name, the owner's zone, the channels' names."""

    agent: str
    zone: tzinfo
    channels: Mapping[str, str]
    reports: bool = False  # whether results are messages of their own


def cards(task: Task, asked: Sequence[Review], place: CardContext) -> tuple[DeliveryCard, ...]:
    waiting = [each for each in asked if each.decision is None]
    return tuple(_card(each, task, waiting, place) for each in _group_parts(task.delivery))


def _group_parts(deliveries: Iterable[Delivery]) -> list[tuple[Delivery, ...]]:
    """Group the parts of a long text into one card."""
    found: dict[str, list[Delivery]] = {}
    for each in deliveries:
        found.setdefault(str(each.id).partition(".")[0], []).append(each)
    return [tuple(parts) for parts in found.values()]


def _card(
    parts: tuple[Delivery, ...], task: Task, waiting: Sequence[Review], place: CardContext
) -> DeliveryCard:
    first, worst = parts[0], min(parts, key=lambda each: _ORDER.index(each.status))
    review = (
        _question_of_delivery(first, waiting) if worst.status is not DeliveryStatus.SENT else None
    )
    kind, word, mark = _state(worst, task, review, place.zone)
    body = "\n".join(each.body for each in parts if each.body)
    draft = review.evidence if review is not None and review.reason in _DRAFTS else ""
    text = draft or body or first.content or ""
    return DeliveryCard(
        id=str(first.id),
        name=place.channels.get(first.channel, first.channel),
        icon=words.channel_icon(place.channels.get(first.channel, first.channel).lower()),
        to=first.recipient or "You",
        where=first.address if first.address and first.address != first.recipient else "",
        kind=kind,
        word=word,
        mark=mark,
        text=text,
        note=_note(parts, worst) if text or worst.reason else _nothing(task, place.agent),
        review=str(review.id) if review is not None else "",
        markdown=first.channel == DASHBOARD,
    )


def _question_of_delivery(delivery: Delivery, waiting: Iterable[Review]) -> Review | None:
    """Return the open question this delivery waits for."""
    for review in waiting:
        kind, _, rest = (review.about or "").partition(":")
        if review.about == delivery.id or review.reason is Reason.DELIVERABLE:
            return review
        if kind == "channel" and rest == delivery.channel:
            return review
        if kind == SEND and json.loads(rest).get("channel") == delivery.channel:
            return review
    return None


def _state(
    delivery: Delivery, task: Task, review: Review | None, zone: tzinfo
) -> tuple[str, str, str]:
    """Return a colour, a word and an icon."""
    match delivery.status:
        case DeliveryStatus.SENT:
            word = say("Posted" if delivery.channel == DASHBOARD else "Sent")
            return "ok", f"{word}{_clock(delivery.sent_at, zone)}", "done"
        case DeliveryStatus.SENDING:
            return "run", "Sending", "run"
        case DeliveryStatus.REFUSED:
            return "bad", "Refused", "fail"
        case DeliveryStatus.UNKNOWN:
            since = _clock(delivery.doubted_at, zone)
            return "you", say("Unknown since{0}", since) if since else "Unknown", "ask"
        case DeliveryStatus.PENDING:
            return _pending(delivery, task, review)


def _pending(delivery: Delivery, task: Task, review: Review | None) -> tuple[str, str, str]:
    if review is not None:
        return "you", ("Needs review" if review.reason in _HELD else "Asks first"), "you"
    if task.ended:
        return ("ok", "Nothing to report", "done") if task.was_silent else ("idle", "Not sent", "x")
    if task.status is Status.DELIVERING:
        return "run", "Next", "pend"
    if delivery.content is not None:
        return "plan", "Text is ready", "clock"
    checks = task.contract is not None and task.contract.type is not ContractType.ADVISORY
    return "idle", "After checks" if checks else "After the work", "pend"


def _note(parts: Sequence[Delivery], worst: Delivery) -> str:
    if worst.status in (DeliveryStatus.REFUSED, DeliveryStatus.UNKNOWN) and worst.reason:
        return worst.reason
    if worst.reported is not None and worst.reported.arrived:
        return "The provider says that it arrived."
    sent = sum(each.status is DeliveryStatus.SENT for each in parts)
    return say("{0} of {1} parts sent.", sent, len(parts)) if len(parts) > 1 else ""


def _nothing(task: Task, agent: str) -> str:
    if task.ended:
        return (task.was_silent and task.result_summary) or "No text was written."
    verb = "once the checks pass" if task.contract else "when the work is done"
    return say("No text yet. {0} writes it {1}.", agent, say(verb))


def _clock(at: datetime | None, zone: tzinfo) -> str:
    return f" {at.astimezone(zone):%H:%M}" if at else ""


def channel_labels(channels: Mapping[str, ChannelSettings]) -> dict[str, str]:
    """What each channel is called on the page."""
    return names_for_people(channels) | {DASHBOARD: "Dashboard"}


# Contract -----------------------------------------------------------------------------------------


class ProofRow(Struct, frozen=True):
    activity: str
    description: str
    kind: str
    icon: str
    word: str
    note: str = ""
    took: str = ""
    pattern: str = ""


class ProofTable(Struct, frozen=True):
    rows: tuple[ProofRow, ...]
    since: str  # who made it
    kind: str
    word: str
    icon: str
    says: str = ""  # for a result that no check confirms


def proof(task: Task, *, edited: bool = False) -> ProofTable | None:
    """Return the contract as a table with the findings; None if there is none.

    `edited`: the owner changed the text after it was checked.
    """
    contract = task.contract
    if contract is None:
        return None
    findings = task.verdict.findings if task.verdict else ()
    checking = task.status is Status.VERIFYING
    rows = [_row(each, found, checking=checking) for each, found in matched(contract, findings)]
    since, standing = _FROM[contract.generated_from], _proof_state(rows, task, contract)
    if edited and task.verdict is not None:
        text = "You changed it after it was checked. The findings are about what it was before."
        return ProofTable(tuple(rows), since, "idle", "Not verified", "pend", text)
    return ProofTable(tuple(rows), since, *standing, _sentence(unverified_reason(task)))


def unverified_reason(task: Task) -> str:
    """Return why no check confirms it, with the owner's reason."""
    sentence = UNVERIFIED.get(proof_of(task), "")
    return f"{sentence} You said: {owners_word(task)}" if owners_word(task) else sentence


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _row(criterion: Criterion, found: Finding | None, *, checking: bool) -> ProofRow:
    name = criterion.activity.replace("_", " ").replace("-", " ").capitalize()
    says, pattern = criterion.description, criterion.pattern or ""
    if found is not None and found.error == DEFERRED:
        return ProofRow(name, says, "plan", "clock", "later", "When its group ends", "", pattern)
    if found is None:
        kind, icon, word = ("run", "run", "running") if checking else ("idle", "pend", "not yet")
        return ProofRow(name, says, kind, icon, word, pattern=pattern)
    kind, icon, word = _RESULTS[found.result]
    if (found.error or "").startswith(NOT_DECIDED):
        kind, icon, word = "idle", "eye", NOT_DECIDED.rstrip(": ")
    tries = say("{0} tries", found.attempts) if found.attempts > 1 else ""
    ran = found.started_at is not None and found.ended_at is not None
    took = task_history.time_span(found.ended_at - found.started_at) if ran else ""  # type: ignore[operator]
    facts = ", ".join(each for each in (tries, took) if each)
    return ProofRow(name, says, kind, icon, word, found.error or found.note or "", facts, pattern)


def _proof_state(rows: Sequence[ProofRow], task: Task, contract: Contract) -> tuple[str, str, str]:
    if contract.type is ContractType.ADVISORY:
        return "plan", "Not verified, for you to judge", "eye"
    if task.was_silent:
        return "idle", "Nothing to check", "pend"
    if proof_of(task) in (ProofState.UNPROVEN, ProofState.REFUTED):
        return "you", "Not verified", "alert"
    passed = sum(row.kind == "ok" for row in rows)
    failed = sum(row.kind == "bad" for row in rows)
    if failed or (rows and passed == len(rows)):
        word = words.verified_words(task) or say("{0} of {1} checks failed", failed, len(rows))
        return ("bad", word, "fail") if failed else ("ok", word, "done")
    busy = task.status in ACTIVE
    word = say("{0} of {1} checks passed", passed, len(rows)) if rows else "No checks of its own"
    return ("run", word, "run") if busy else ("idle", word, "pend")


_DRAFTS: Final = frozenset({Reason.APPROVAL, Reason.DELIVERABLE, Reason.AMBIGUOUS})
_HELD: Final = frozenset({Reason.DELIVERABLE, Reason.VERIFICATION})
# The most important first.
_ORDER: Final = (
    DeliveryStatus.UNKNOWN,
    DeliveryStatus.REFUSED,
    DeliveryStatus.SENDING,
    DeliveryStatus.PENDING,
    DeliveryStatus.SENT,
)
_TYPES: Final = {
    ContractType.VERIFIABLE: ("Verifiable", "Checks decide whether it is done."),
    ContractType.ADVISORY: ("Advisory, not verified", "No check can prove it: read it and judge."),
    ContractType.SKIP: ("Light checks", "Only the cheapest checks are made."),
}
_TIMES: Final = {
    "immediate": TaskChip("Immediate", "bolt", "It starts as soon as it can."),
    "scheduled": TaskChip("At a set time", "clock", "It waits for its time."),
}
PRIORITIES: Final = {"low": "Low", "med": "Medium", "high": "High", "critical": "Critical"}
_TAINTS: Final = {
    Taint.CONTACT: TaskChip("Read a contact's words", "alert", "It may do less without you."),
    Taint.PUBLIC: TaskChip("Read strangers' words", "alert", "It may do less without you."),
}
UNVERIFIED: Final = {
    ProofState.ADVISORY: "no check can prove advice. What came of it is for you to read and judge.",
    ProofState.UNPROVEN: "you took it although its checks did not pass.",
    ProofState.REFUTED: "what was checked when its group ended failed.",
}
_FROM: Final = {
    GeneratedFrom.AUTO: "from rules",
    GeneratedFrom.USER: "by you",
    GeneratedFrom.PRD: "from a requirements document",
}
_RESULTS: Final = {
    Result.PASS: ("ok", "done", "passed"),
    Result.FAIL: ("bad", "fail", "failed"),
    Result.SKIPPED: ("idle", "pend", "skipped"),
}
