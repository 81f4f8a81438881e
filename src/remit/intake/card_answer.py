"""One card per message: opened with all open points, answered at once or line by line.

An answer changes every task that waits for it. What is still open goes on the next card; a text
given in an answer is shown there before it is sent.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts import ContactBook
from remit.intake import answers
from remit.intake.answered_question import LEAVE_OUT
from remit.intake.card import card_lines, card_question, is_small_talk, make_card, number_gaps
from remit.intake.extraction import QuestionTopic
from remit.intake.settle import settle
from remit.language.sentences import (
    held_sentence,
    message_language,
    sentences,
    text_in_language,
)
from remit.model.codec import from_json
from remit.model.contract import Gap
from remit.model.delivery import Delivery
from remit.model.ids import Ids
from remit.model.permit import Permission
from remit.model.review import CARD, SEND, Review, SettledCard, SettledTask
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.model.veto import ConditionKind

# The card that approves a text to somebody, as it will be sent; None if it cannot be shown yet.
Approve: TypeAlias = Callable[[Task, Delivery], Review | None]

_NUMBERED: Final = re.compile(r"\s*(\d{1,2})\s*[:.)]\s+(\S.*)")
# Which line an answer is tried on first. Almost any words may be a text, so that comes late; what
# is only to be confirmed is changed by what no open line takes.
_ORDER: Final = (
    *(QuestionTopic.CHANNEL, QuestionTopic.RECIPIENT, QuestionTopic.TIME),
    *(QuestionTopic.TASK, QuestionTopic.CONTENT, QuestionTopic.CONFIRM),
)


class CardAnswerContext(Struct, frozen=True):
    """What is needed to make and answer a card."""

    zone: ZoneInfo
    ids: Ids
    approve: Approve


# A card is opened ---------------------------------------------------------------------------------


def open_card(
    tasks: Sequence[Task], table: CardAnswerContext, *, number: int = 0, problem: str = ""
) -> tuple[list[Task], Review | None]:
    """Return the tasks with numbered lines, and the one question about them, if any is open.

    A single text that needs only a yes is shown exactly as the send would show it.
    """
    waiting = number_gaps(task for task in tasks if task.gaps)
    by_id = {task.id: task for task in waiting}
    if not waiting:
        return list(tasks), None
    approvals = [each for task in waiting for each in approvals_of(task, table.approve)]
    if len(waiting) == 1 and len(approvals) == 1 and _only_confirm(waiting[0]) and not problem:
        task = waiting[0]
        card = replace(
            approvals[0], id=table.ids.review(), question=_send_question(task, approvals)
        )
        by_id[task.id] = replace(task, gaps=())
    else:
        card = _review(waiting, table, approvals, number, problem)
    return [by_id.get(task.id, task) for task in tasks], card


def _review(
    waiting: Sequence[Task],
    table: CardAnswerContext,
    approvals: Sequence[Review],
    number: int,
    problem: str,
) -> Review:
    card = make_card([_with_addresses(task, approvals) for task in waiting], table.zone)
    return Review(
        id=table.ids.review(),
        task_id=waiting[0].id,
        key=f"{CARD}:{number}",
        reason=Reason.APPROVAL if card.is_one_yes else Reason.INPUT,
        question=card_question(card, problem),
        evidence="\n".join(card_lines(card, with_message=True, asks=False)),
        about=f"{CARD}:{' '.join(task.id for task in waiting)}",
        digest=_digest(approvals),
        resume_to=Status.NEW,
    )


def _with_addresses(task: Task, approvals: Sequence[Review]) -> Task:
    """Return the task as the card shows it: with the address of each text."""
    own = iter([each for each in approvals if each.task_id == task.id])
    sends = [
        replace(each, address=_address(next(own, None))) if each.recipient else each
        for each in task.delivery
    ]
    return replace(task, delivery=tuple(sends))


def _address(approval: Review | None) -> str | None:
    address = (approval.about or "").removeprefix(f"{SEND}:") if approval else ""
    return from_json(Permission, json.loads(address)).address or None if address else None


def _send_question(task: Task, approvals: Sequence[Review]) -> str:
    """Return why it is asked and whom it reaches, in the language of the message."""
    language = message_language(task.request.text if task.request else "")
    say = sentences(language)
    send = next(each for each in _with_addresses(task, approvals).delivery if each.recipient)
    name = f"{send.recipient} ({send.address})" if send.address else send.recipient
    waits = any(each.kind is ConditionKind.AFTER_OK for each in task.conditions)
    parts = [held_sentence(task.veto, language) if task.veto else ""]
    parts += [say["ask_ok"]] if waits else []
    parts += [say["send_this"].format(name, send.channel)]
    return " ".join(each for each in parts if each)


def approvals_of(task: Task, approve: Approve) -> list[Review]:
    """Return the approvals that a yes gives: one per text; none if a text is not known yet."""
    if not any(gap.about == QuestionTopic.CONFIRM for gap in task.gaps):
        return []
    found = [approve(task, each) for each in task.delivery if each.recipient is not None]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else []


def _only_confirm(task: Task) -> bool:
    return all(gap.about == QuestionTopic.CONFIRM for gap in task.gaps)


def _digest(approvals: Sequence[Review]) -> str | None:
    """Return the digest that a yes is bound to: every text with its recipient and address."""
    whole = "\n".join(str(each.digest) for each in approvals)
    return hashlib.sha256(whole.encode()).hexdigest() if approvals else None


# A card is answered -------------------------------------------------------------------------------


def settle_card(
    tasks: Sequence[Task],
    review: Review,
    answer: str,
    now: datetime,
    book: ContactBook,
    table: CardAnswerContext,
) -> SettledCard:
    """Apply an answer to the tasks that wait for it, and ask for what is still open."""
    made = _Answering(tuple(tasks), review, now, book, table)
    made.take(answer.strip())
    return made.settled()


class _Answering:
    """The tasks of a card while an answer is applied."""

    def __init__(
        self,
        tasks: Sequence[Task],
        review: Review,
        now: datetime,
        book: ContactBook,
        table: CardAnswerContext,
    ) -> None:
        self._before = {task.id: task for task in tasks}
        self._made = {task.id: SettledTask(task) for task in tasks}
        self._review, self._now, self._book, self._table = review, now, book, table
        text = next((task.request.text for task in tasks if task.request), "")
        self._language = message_language(text)
        self._problem = ""

    # Which line is meant --------------------------------------------------------------------------

    def take(self, answer: str) -> None:
        """Apply the whole answer, or keep the reason why it cannot be."""
        say = sentences(self._language)
        if is_small_talk(answer):
            self._problem = say["not_read"].format(answer[:100])
            return
        if answers.is_yes(answer) and self._has_changed():
            self._problem = say["changed"]
            return
        for number, words in _pieces(answer):
            lines = [each for each in self._lines() if number in (None, each[1].line)]
            if not lines and number is not None:
                self._problem = say["no_such_line"].format(number)
                return
            self._fill(lines, words)

    def _lines(self) -> list[tuple[Task, Gap]]:
        """Return the open lines, in the order in which an answer is tried."""
        key, _, _ = self._review.key.rpartition(":")
        open_ = [(each.task, gap) for each in self._made.values() for gap in each.task.gaps]
        if not self._review.card_tasks:  # a question of an earlier version asks about one gap
            open_ = [(task, gap) for task, gap in open_ if gap.key == key]
        return sorted(open_, key=lambda each: _ORDER.index(QuestionTopic(each[1].about)))

    def _fill(self, lines: Sequence[tuple[Task, Gap]], words: str) -> None:
        """Give words to the first line that accepts them; a yes or a no goes to every line."""
        problems: list[str] = []
        for_all = answers.is_yes(words) or answers.is_no(words)
        taken = False
        for task, gap in lines:
            now = self._made[task.id].task
            open_ = next((each for each in now.gaps if each.key == gap.key), None)
            if open_ is None:
                continue  # it became needless by what was said before
            done = settle(now, open_, words, now=self._now, zone=self._table.zone, book=self._book)
            if done.problem:
                problems.append(done.problem)
                self._made[task.id] = replace(self._made[task.id], task=done.task)
                continue
            taken = True
            self._made[task.id] = replace(done, over=done.over or self._made[task.id].over)
            if not for_all:
                return
        if not taken and problems:
            self._problem = self._refusal(problems, words)

    def _refusal(self, problems: Sequence[str], words: str) -> str:
        """Return why no line accepts the words; with one line, its own sentence."""
        reason = problems[0].removesuffix(LEAVE_OUT).rstrip()
        known = self._language == "en" or text_in_language(reason, self._language) != reason
        if known and len(problems) == 1:
            return text_in_language(problems[0], self._language)
        say = sentences(self._language)
        hint = say["how_line"] if len(problems) > 1 else say["how"]
        return f"{say['not_read'].format(words[:100])} {hint}"

    def _has_changed(self) -> bool:
        """Whether a yes would approve something else than the card showed."""
        if self._review.digest is None:
            return False
        approvals = [
            each for task in self._before.values() for each in approvals_of(task, self._approve)
        ]
        return _digest(approvals) != self._review.digest

    @property
    def _approve(self) -> Approve:
        return self._table.approve

    # What comes of it -----------------------------------------------------------------------------

    def settled(self) -> SettledCard:
        """Return the tasks as they are now, the given approvals, and the next card."""
        for each in tuple(self._made.values()):
            self._name_deliveries(each)
        approved = [review for each in self._made.values() for review in self._approvals(each)]
        for each in tuple(self._made.values()):
            self._show_before_it_goes(each)
        made = [each for each in self._made.values() if not each.over]
        asked = [each.task for each in made if self._asks(each.task)]
        number = int(self._review.key.rpartition(":")[2]) + 1
        tasks, card = open_card(asked, self._table, number=number, problem=self._problem)
        for task in tasks:
            self._made[task.id] = replace(self._made[task.id], task=task)
        return SettledCard(
            tuple(self._made.values()), card, tuple(approved), understood=not self._problem
        )

    def _name_deliveries(self, each: SettledTask) -> None:
        named = tuple(
            send if send.id else replace(send, id=self._table.ids.delivery())
            for send in each.task.delivery
        )
        self._made[each.task.id] = replace(each, task=replace(each.task, delivery=named))

    def _approvals(self, each: SettledTask) -> Iterator[Review]:
        """Return what a yes approved, as the card showed it."""
        before = self._before[each.task.id]
        asked = any(gap.about == QuestionTopic.CONFIRM for gap in before.gaps)
        open_ = any(gap.about == QuestionTopic.CONFIRM for gap in each.task.gaps)
        if not asked or open_ or each.over or self._review.digest is None:
            return
        for review in approvals_of(before, self._approve):
            yield replace(review, id=self._table.ids.review())

    def _show_before_it_goes(self, each: SettledTask) -> None:
        """Ask to confirm a held task that is complete, as the card shows it."""
        task, before = each.task, self._before[each.task.id]
        confirmed = any(gap.about == QuestionTopic.CONFIRM for gap in before.gaps)
        if task.gaps or each.over or confirmed or not task.veto or task == before:
            return
        gap = Gap(1, QuestionTopic.CONFIRM.value, ("yes", "no"))
        shown = replace(task, gaps=(gap,))
        if approvals_of(shown, self._approve):
            self._made[task.id] = replace(each, task=shown)

    def _asks(self, task: Task) -> bool:
        """Whether the next card asks about a task; not if another question still does."""
        if self._review.card_tasks:
            return bool(task.gaps)
        known = {gap.key for gap in self._before[task.id].gaps}
        key, _, _ = self._review.key.rpartition(":")
        return any(gap.key == key or gap.key not in known for gap in task.gaps)


def _pieces(answer: str) -> list[tuple[int | None, str]]:
    """Return the answer by card lines, if each of its lines begins with a number; else whole."""
    lines = [each for each in answer.splitlines() if each.strip()]
    found = [_NUMBERED.fullmatch(each) for each in lines]
    if not lines or not all(found):
        return [(None, answer)]
    return [(int(each[1]), each[2].strip()) for each in found if each]
