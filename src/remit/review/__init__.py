"""Reviews: the questions a run may ask, each with a key that makes it asked once; the inbox."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from remit.errors import NotPossibleNow
from remit.language.sentences import held_sentence, in_language, sentences, task_language
from remit.model.codec import stamp, text_of, to_json
from remit.model.contract import ChangedTest
from remit.model.delivery import Delivery
from remit.model.ids import ReviewId, TaskId
from remit.model.likeness import DraftedLesson, Lesson
from remit.model.permit import Permission, Reach
from remit.model.reply import PROJECT, Ask, Hold, Reply, ToolCall
from remit.model.review import (
    AT_ONCE,
    CONDITION,
    FIX,
    INTENDED,
    LESSON,
    MERGE,
    SEND,
    WORK,
    Decision,
    Review,
    ReviewAnswer,
    Settle,
    Undo,
)
from remit.model.status import Reason, Status
from remit.model.task import Taint, Task
from remit.ports import Clock
from remit.store import inbox, reviews
from remit.store.database import Database

ASKS_TEXT: Final = "Write the message, send it back, or decline."
ASKS_RECIPIENT: Final = "Answer with a name from your contacts or an address, or decline."
ASKS_REPAIR: Final = "Fix it, then continue."
ASKS_WORK: Final = (
    "Have it tried again in another way, do it yourself in its folder, accept it without proof and "
    "give a reason, or decline?"
)
ASKS_UNPROVEN: Final = "Accept it anyway, send it back, or decline?"
ASKS_INTENDED: Final = "With the changed tests, all pass."
ASKS_FIX: Final = "Have it fixed, or leave it?"
ASKS_BEGUN: Final = "Was it? Remit will not do it again unless you say so."


def question(task: Task, place: str, ask: Ask) -> Review:
    """Ask the owner what the brain needs to continue."""
    return _review(task, f"ask:{place}", ask.reason, ask.question, about=ask.about)


def _review(  # noqa: PLR0913 - all that a question has
    task: Task,
    key: str,
    reason: Reason,
    question: str,
    evidence: str = "",
    *,
    about: str | None = None,
    digest: str | None = None,
    resume_to: Status = Status.RUNNING,
) -> Review:
    """A question of this round of a task."""
    return Review(
        task_id=task.id,
        key=f"{task.round}:{key}",
        reason=reason,
        question=question,
        evidence=evidence,
        about=about,
        digest=digest,
        resume_to=resume_to,
    )


def endless(task: Task, turns: int, before: str = "") -> Review:
    """Ask whether a brain that keeps calling tools shall continue."""
    words = f"It has used tools in {turns} turns and has come to no end. Say go on, or decline."
    return question(task, f"{before}turns:{turns}", Ask(Reason.INPUT, _translate(task, words)))


def condition(task: Task, place: int, words: str) -> Review:
    """Ask whether a message's condition is true, if no brain can look it up."""
    asked = _sentences(task)["ask_holds"].format(words)
    planned = "\n".join(
        _sentences(task)["planned"].format(each.recipient, each.channel)
        + (f": {each.content}" if each.content else "")
        for each in task.delivery
        if each.recipient
    )
    key = f"condition:{place}"
    return _review(task, key, Reason.APPROVAL, asked, planned, about=CONDITION)


def _sentences(task: Task) -> dict[str, str]:
    return sentences(task_language(task))


def _translate(task: Task, *texts: str) -> str:
    """Return sentences of ours in the language of the message that a task came from."""
    return " ".join(in_language(each, task_language(task)) for each in texts)


def _arguments(wanted: ToolCall) -> str:
    return json.dumps(wanted.args, ensure_ascii=False, indent=2)


def call(task: Task, place: str, wanted: ToolCall, problem: str = "") -> Review:
    """Ask the owner to allow a tool call, bound by its digest."""
    digest, about = wanted.digest, f"call:{wanted.id}"
    asked = problem + _translate(task, f"May it use {wanted.tool} with these arguments?")
    key, shown = f"call:{place}:{digest}", _arguments(wanted)
    return _review(task, key, Reason.APPROVAL, asked, shown, about=about, digest=digest)


def begun(task: Task, place: str, wanted: ToolCall, why: str) -> Review:
    """Ask about a call that was begun and has no recorded end."""
    asked = _translate(task, f"It is not known whether {wanted.tool} was done.", why, ASKS_BEGUN)
    key, shown, about = f"begun:{place}", _arguments(wanted), f"call:{wanted.id}"
    return _review(task, key, Reason.AMBIGUOUS, asked, shown, about=about)


def held(
    task: Task,
    tries: int,
    hold: Hold,
    reply: Reply,
    delivery: Delivery | None = None,
    reach: Reach | None = None,
) -> Review:
    """Ask about a text that the gate held. The owner's text goes to this person, or is asked."""
    key = _held_key(tries, delivery)
    if delivery is not None and reach is not None and not reach.owner:
        key = f"{key}:{_place(task, delivery, reach)}"
    asked = _translate(task, hold.reason, ASKS_TEXT)
    after = Status.RUNNING if delivery is None and task.contract else Status.DELIVERING
    return _review(task, key, Reason.DELIVERABLE, asked, reply.text, resume_to=after)


def held_key(task: Task, tries: int = 0, delivery: Delivery | None = None) -> str:
    """Return the key under which the owner's own text is stored if the gate held the reply."""
    return f"{task.round}:{_held_key(tries, delivery)}"


def _held_key(tries: int, delivery: Delivery | None) -> str:
    return f"held:{delivery.id if delivery else 'reply'}:{tries}"


def ask_whom(task: Task, delivery: Delivery, tries: int, sentence: str) -> Review:
    """Ask whom some words mean, or which address that person has."""
    asked, about = _translate(task, sentence, ASKS_RECIPIENT), delivery.id
    key, text, after = f"whom:{delivery.id}:{tries}", delivery.content or "", Status.DELIVERING
    return _review(task, key, Reason.INPUT, asked, text, about=about, resume_to=after)


def whom_key(task: Task, delivery: Delivery, tries: int) -> str:
    """Return the key of the owner's answer about a recipient."""
    return f"{task.round}:whom:{delivery.id}:{tries}"


def permission(task: Task, delivery: Delivery, reach: Reach, body: str, why: str = "") -> Review:
    """Ask to write to someone other than the owner. The approval is bound by a digest."""
    digest, task_sentences = seal(task, delivery, reach, body), _sentences(task)
    to = Permission(reach.name, delivery.channel, reach.address or "")
    here = reach.owner and delivery.channel == "dashboard"
    name = task_sentences["you"] if reach.owner else reach.shown
    asked = task_sentences["keep_this" if here else "send_this"].format(name, delivery.channel)
    return _review(
        task,
        f"send:{delivery.id}:{_place(task, delivery, reach)}:{digest}",
        Reason.APPROVAL,
        f"{_translate(task, why.strip()) or _why_asked(task, reach)} {asked}".strip(),
        body,
        about=None if reach.owner else f"{SEND}:{text_of(to_json(to))}",
        digest=digest,
        resume_to=Status.DELIVERING,
    )


def _why_asked(task: Task, reach: Reach) -> str:
    """Why a message waits for a word of the owner, whatever the owner allowed."""
    if reach.owner or not (task.veto or task.taint is not Taint.OWNER):
        return ""
    if task.taint is not Taint.OWNER:
        return _sentences(task)["tainted"]
    return held_sentence(task.veto, task_language(task))


def ask_about_unproven(task: Task, why: str, evidence: str) -> Review:
    """Ask about work that fails its checks after all fixes; accepted code is merged first."""
    code = (task.assigned_agent or "").startswith(PROJECT)
    asked = _translate(task, f"Some checks failed: {why}. {ASKS_UNPROVEN}")
    after = Status.DELIVERING if task.delivery and not code else Status.RUNNING
    return _review(task, "unproven", Reason.VERIFICATION, asked, evidence, resume_to=after)


def unproven_key(task: Task) -> str:
    """Return the key of the owner's decision that this round's work is good as it is."""
    return f"{task.round}:unproven"


def ask_after_all_tried(task: Task, place: str, why: str, attempts: Sequence[str]) -> Review:
    """Ask after every specialist has tried: shows the attempts, and what can be done."""
    asked, shown = _translate(task, why, ASKS_WORK), "\n".join(attempts)
    return _review(task, f"work:{place}", Reason.VERIFICATION, asked, shown, about=WORK)


def merge(task: Task, branch: str, commit: str, tries: int, state: str, diff: str) -> Review:
    """Ask to merge finished work. The approval is bound to one commit."""
    choice = f"Merge {branch} into your folder, send it back, or leave it there?"
    asked, key = _translate(task, state, choice), f"merge:{commit}:{tries}"
    about = f"{MERGE}:{branch}"
    return _review(task, key, Reason.APPROVAL, asked, diff, about=about, digest=commit)


def ask_about_changed_tests(
    task: Task, changed: Sequence[ChangedTest], why: str, diff: str
) -> Review:
    """Ask about changed tests without which the work fails; bound to their content."""
    digest = hashlib.sha256(text_of([to_json(each) for each in changed]).encode()).hexdigest()
    named = ", ".join(each.path for each in changed)
    asked = _translate(task, why, ASKS_INTENDED, f"Is this change of {named} intended?")
    key, about = f"{INTENDED}:{digest}", f"{INTENDED}:{digest[:12]}"
    return _review(task, key, Reason.APPROVAL, asked, diff, about=about, digest=digest)


def fix(task: Task, what: str, evidence: str) -> Review:
    """Ask whether to fix merged work that failed its deferred checks."""
    asked = _translate(task, what, ASKS_FIX)
    return _review(task, "fix", Reason.APPROVAL, asked, evidence, about=FIX, resume_to=Status.NEW)


def lesson(task: Task, place: int, learned: Lesson, drafted: DraftedLesson) -> Review:
    """Ask about a lesson. The approval is bound to the whole new text of the file."""
    digest, key = drafted.digest, f"lesson:{place}:{drafted.digest}"
    offer = f"Put this into {learned.file.value}, or leave it out?"
    asked = _translate(task, learned.why, drafted.tried, offer)
    shown = f"Tasks: {', '.join(learned.tasks)}\n\n{drafted.diff}"
    about = f"{LESSON}:{learned.key}"
    return _review(task, key, Reason.APPROVAL, asked, shown, about=about, digest=digest)


def ask_to_unlock(task: Task, delivery: Delivery, why: str) -> Review:
    """Ask the owner to fix a channel's account before anything is sent on it."""
    what = f"{delivery.channel} does not take messages: {why.rstrip('.')}."
    return Review(
        task_id=task.id,
        key=f"locked:{delivery.id}:{task.lease}",
        reason=Reason.AUTH,
        question=_translate(task, what, ASKS_REPAIR),
        about=f"channel:{delivery.channel}",
        resume_to=Status.DELIVERING,
    )


def doubtful(task: Task, delivery: Delivery) -> Review:
    """Ask whether a message arrived, if its answer is unknown."""
    task_sentences = _sentences(task)
    who = delivery.recipient or task_sentences["you"]
    return Review(
        task_id=task.id,
        key=f"{doubt_key(delivery)}{task.lease}",
        reason=Reason.AMBIGUOUS,
        question=task_sentences["ask_arrived"].format(who, delivery.channel, delivery.reason),
        evidence=delivery.body or "",
        about=delivery.id,
        resume_to=Status.DELIVERING if task.status is Status.DELIVERING else Status.RUNNING,
    )


def doubt_key(delivery: Delivery) -> str:
    """Return the key prefix of questions whether this delivery arrived."""
    return f"doubt:{delivery.id}:"


def key_before(asked: Review) -> str:
    """Return the key that Remit 0.1.0 gave to a question about a text; it may be answered."""
    return f"{asked.key.partition(':')[0]}:send:{asked.digest}"


def _place(task: Task, delivery: Delivery, reach: Reach) -> str:
    """Return the digest of whom and which address a question names, whatever the text is."""
    return seal(task, delivery, reach, "")


def text_for_another_place(
    task: Task, delivery: Delivery, reach: Reach, decisions: Mapping[str, Decision]
) -> str | None:
    """Return what the owner last wrote for this delivery when it had another recipient or address.

    None if nothing was written, or if a later change of recipient said what to send instead.
    """
    place = _place(task, delivery, reach)
    prefixes = [f"{task.round}:send:{delivery.id}:"]
    if not reach.owner:  # a text to the owner, in place of a held one, has no address
        prefixes.append(f"{task.round}:held:{delivery.id}:")
    found = None
    for key, decision in decisions.items():
        if not key.startswith(tuple(prefixes)):
            continue
        if decision.answer is ReviewAnswer.EDIT and place not in key.split(":"):
            found = decision.text
        elif decision.answer is ReviewAnswer.READDRESS and decision.text is not None:
            found = None
    return found


def seal(task: Task, delivery: Delivery, reach: Reach, body: str) -> str:
    """Return the digest of what is approved: these bytes, channel, person, address and time."""
    slot = stamp(task.slot) if task.slot else ""
    place = (str(delivery.id), delivery.channel, slot)
    parts = (*place, "" if reach.owner else reach.name, reach.address or "", body)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


MAX_LATER: Final = timedelta(days=90)


class Inbox:
    """`settling` returns the function that applies an answer about a request to its task.

    `undo` is how long an approval can be undone.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        settling: Callable[[], Settle] | None = None,
        undo: Undo = AT_ONCE,
    ) -> None:
        self._db = db
        self._clock = clock
        self._settling = settling
        self._undo = undo

    async def waiting(self) -> list[Review]:
        return await self._db.read(reviews.waiting)

    async def of_task(self, task_id: TaskId) -> list[Review]:
        return await self._db.read(reviews.of_task, task_id)

    async def grant(self, reason: Reason, what: str, about: str | None = None) -> int:
        """Settle, in the owner's name, every question that waited for what exists now."""
        open_ = await self._db.read(reviews.waiting_for, reason, about)
        for each in open_:
            assert each.id is not None  # noqa: S101 - what waits has been stored
            await self.decide(each.id, Decision(ReviewAnswer.APPROVE, by=f"owner: {what}"))
        return len(open_)

    async def later(self, review_id: ReviewId, until: datetime) -> Review:
        """Postpone a question; it stays open and comes back by itself."""
        now = self._clock.now()
        if not now < until <= now + MAX_LATER:
            sentence = f"Say a time to come within {MAX_LATER.days} days, not {stamp(until)}."
            raise NotPossibleNow(sentence, field="until")
        return await self._db.write(inbox.put_off, review_id, until, now)

    async def decide(self, review_id: ReviewId, decision: Decision, *, grace: bool = False) -> Task:
        """Settle a question, once; the task continues from there.

        With `grace` a declined text is kept until the owner can no longer undo that.
        """
        settle = self._settling() if self._settling else None
        now, undo = self._clock.now(), self.undo_window if grace else self._undo
        return await self._db.write(reviews.decide, review_id, decision, now, settle, undo)

    @property
    def undo_window(self) -> Undo:
        """Which decisions can be undone on a page, and how long."""
        return replace(self._undo, declines=True)
