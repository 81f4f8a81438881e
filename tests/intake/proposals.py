"""Proposals as a model would make them: a faithful one, and what is looked for in a comparison."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from remit.intake.compare import compare
from remit.intake.extract import Draft, Extraction, extract
from remit.intake.proposed import Mapped, Proposal, ProposedSend, ProposedTask
from remit.intake.recipients import Question
from remit.model.delivery import Delivery
from remit.model.plan import Became
from tests.intake.labelled import BOOK, NOW, ZONE, Message


def read(text: str) -> Extraction:
    return extract(text, now=NOW, zone=ZONE, book=BOOK)


def join(text: str, plan: Proposal) -> Extraction:
    return compare(text, read(text), plan, zone=ZONE, book=BOOK)


def faithful(found: Extraction) -> Proposal:
    """What a model says that leaves nothing out and adds nothing."""
    return Proposal(
        tasks=tuple(_task(draft) for draft in found.tasks), clauses=tuple(_mapped(found))
    )


def _task(draft: Draft) -> ProposedTask:
    return ProposedTask(
        title=draft.title,
        instructions=draft.instructions,
        work=tuple(item.description for item in draft.work),
        delivery=tuple(
            ProposedSend(channel=each.channel, recipient=each.recipient, content=each.content)
            for each in draft.deliveries
        ),
        type=draft.type,
        scheduled_for=draft.scheduled_for,
        recurrence=draft.recurrence.rule if draft.recurrence else None,
    )


def _mapped(found: Extraction) -> Iterator[Mapped]:
    for at, clause in enumerate(found.clauses, start=1):
        owners = [n for n, draft in enumerate(found.tasks, start=1) if clause in draft.clauses]
        became = clause.became or Became.WORK
        for owner in owners:
            yield Mapped(clause=at, became=became, task=owner)
        if not owners:
            yield Mapped(clause=at, became=Became.DECLINED, why="It asks for no task.")


def new_questions(text: str, joined: Extraction) -> list[Question]:
    """What is asked because of the model."""
    before = read(text).questions
    return [question for question in joined.questions if question not in before]


def lost(text: str, joined: Extraction, message: Message | None = None) -> list[str]:
    """What code read and the outcome neither holds nor asks about."""
    found = message.read() if message else read(text)
    zone = message.zone if message else ZONE
    asked = {question.clause for question in joined.questions}
    gone = [
        f"clause {clause.text!r}"
        for at, clause in enumerate(found.clauses)
        if clause not in joined.clauses and joined.clauses[at].became is None and at not in asked
    ]
    owned = {clause.start for draft in joined.tasks for clause in draft.clauses}
    gone += [
        f"clause {clause.text!r} has no task"
        for draft in found.tasks
        for clause in draft.clauses
        if clause.start not in owned
    ]
    for draft in found.tasks:
        gone += _lost(draft, joined, zone, text)
    return gone


def _lost(draft: Draft, joined: Extraction, zone: ZoneInfo, text: str) -> Iterator[str]:
    own = {clause.start for clause in draft.clauses}
    mine = [each for each in joined.tasks if own & {clause.start for clause in each.clauses}]
    asked = [q for each in mine for q in joined.questions_about(each)]
    waits = [(half, question) for question in asked for half in question.waits]
    for send in draft.deliveries:
        held = any(_fills(half, question, send) for half, question in waits)
        if not held and not any(send in each.deliveries for each in mine):
            yield f"send {send}"
    when = draft.scheduled_for
    timed = any((each.scheduled_for, each.recurrence) == (when, draft.recurrence) for each in mine)
    if when and not timed and not any(_offers(question, draft, zone, text) for question in asked):
        yield f"time {when}"
    words = "\n".join(text for each in mine for text in (each.instructions, each.title))
    if not all(line in words for line in draft.instructions.splitlines()) and len(mine) == 1:
        yield f"words {draft.instructions!r}"


def _fills(half: Delivery, question: Question, send: Delivery) -> bool:
    """Whether the first answer offered makes the very send of a half one."""
    option = next(iter(question.options), "")
    if option == "it is to go out":
        return (half.channel, half.recipient, half.content) == (
            send.channel,
            send.recipient,
            send.content,
        )
    match question.about.value:
        case "channel":
            whole = (option, half.recipient, half.content)
        case "recipient":
            who = None if option == BOOK.owner.name else option
            whole = (half.channel, who, half.content)
        case _:
            whole = (half.channel, half.recipient, option)
    return whole == (send.channel, send.recipient, send.content)


def _offers(question: Question, draft: Draft, zone: ZoneInfo, message: str) -> bool:
    if question.about.value != "time" or draft.scheduled_for is None:
        return False
    if draft.recurrence:
        return question.options[0] in message
    return question.options == (f"{draft.scheduled_for.astimezone(zone):%Y-%m-%d %H:%M}",)
