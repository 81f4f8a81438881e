"""Applies the owner's answer to a task. Pure: it runs where the decision is written.

An answer that cannot be read is asked again, with what was not understood. Nothing is guessed or
lost.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from remit.contacts import ChannelName, ContactBook
from remit.intake import answers
from remit.intake.answered_question import (
    AnsweredQuestion,
    at_home,
    request_of,
    send,
    with_change,
    with_time,
    without_gaps,
    without_halves,
)
from remit.intake.answers import NamedRecipients
from remit.intake.extract import extract
from remit.intake.extraction import QuestionTopic, as_title
from remit.intake.veto import find_veto
from remit.language.time.resolve import Now, TimeDoubt
from remit.model.contract import Clause, ClauseOutcome, Gap, WorkItem
from remit.model.delivery import Delivery
from remit.model.recurrence import Repeats
from remit.model.review import SettledTask
from remit.model.task import Task, TaskType
from remit.model.veto import ConditionKind, VetoCue, VetoKind

MOST_TITLE: Final = 120


def settle(
    task: Task, gap: Gap, answer: str, *, now: datetime, zone: ZoneInfo, book: ContactBook
) -> SettledTask:
    """Apply an answer to one gap of a task, or say why it cannot be applied."""
    answer = answers.chosen_option(answer.strip(), gap.options) or answer.strip()
    if answers.is_yes(answer) and gap.options:
        answer = gap.options[0] if len(gap.options) == 1 else answer
    asked = AnsweredQuestion(task, gap, answer, now, zone, book)
    if answers.is_no(answer) and not answers.is_left_out(answer) and not _is_option(gap, answer):
        over = gap.about in (QuestionTopic.CONFIRM, QuestionTopic.TIME)
        return (
            SettledTask(asked.closed(ClauseOutcome.DECLINED), over=True)
            if over
            else _left_out(asked)
        )
    if answers.is_left_out(answer):
        return _left_out(asked)
    if answers.begins_with_no(answer):
        return asked.again(f"{answer!r:.100} reads as a no, so nothing was done.")
    made = _BY_SORT[QuestionTopic(gap.about)](asked)
    if not made.problem and _is_unchanged(made.task, task):
        made = asked.again()  # the same answer once more
    if made.problem:
        return made
    return _in_time(replace(made, task=_held_back(made.task, asked)), asked)


def _is_unchanged(made: Task, task: Task) -> bool:
    same = (made.gaps, made.delivery) == (task.gaps, task.delivery)
    return same and made.scheduled_for == task.scheduled_for


def _held_back(task: Task, asked: AnsweredQuestion) -> Task:
    """Return the task with the answer's own vetoes, and one for each text not shown before."""
    cues = find_veto(asked.answer, asked.book) if asked.gap.about != QuestionTopic.CONFIRM else ()
    before = {each.content for each in asked.task.delivery}
    new = [each.content for each in task.delivery if each.recipient and each.content]
    texts = [VetoCue(VetoKind.ANSWER, text[:60], 0, 0) for text in new if text not in before]
    return replace(task, veto=(*task.veto, *cues, *texts)) if cues or texts else task


# When ---------------------------------------------------------------------------------------------


def _time(asked: AnsweredQuestion) -> SettledTask:
    text = "" if asked.clause.became not in (None, ClauseOutcome.TIME) else asked.clause.text
    if answers.is_of_it(asked.answer):
        return _of_event(asked)
    clauses = request_of(asked.task).clauses
    ends = [
        each.text for each in clauses if each.became is ClauseOutcome.TIME and each.text != text
    ]
    found = answers.when(asked.answer, text, now=asked.now, zone=asked.zone, elsewhere=ends)
    if not found:
        return asked.again()
    if len(found) > 1:
        return asked.again("A task has one time. Say which one.")
    doubt = found[0]
    if isinstance(doubt, TimeDoubt):
        return asked.again(doubt.why, doubt.options)
    return SettledTask(with_time(asked.closed(ClauseOutcome.TIME), doubt))


def _of_event(asked: AnsweredQuestion) -> SettledTask:
    """Treat the time as part of the subject; a reminder still needs its own time."""
    closed = asked.closed(ClauseOutcome.CONSTRAINT)
    if any(each.about == QuestionTopic.TIME for each in closed.gaps):
        return SettledTask(closed)
    if not closed.plan.composed:
        return SettledTask(with_time(closed, Now()))
    gap = Gap(asked.gap.clause, QuestionTopic.TIME.value)
    return asked.asks(closed, gap, "When is the reminder due?")


def _in_time(made: SettledTask, asked: AnsweredQuestion) -> SettledTask:
    """Ask again about a time that passed while waiting for the answer."""
    task = made.task
    late = task.scheduled_for is not None and task.scheduled_for <= asked.now
    # A slot is run late: what was asked about it is what held it up.
    limit = any(each.at == task.scheduled_for for each in task.conditions)  # not before this
    if made.over or task.gaps or not late or limit or task.repeats or task.slot:
        return made
    clauses = request_of(task).clauses
    at = next((n for n, each in enumerate(clauses, 1) if each.became is ClauseOutcome.TIME), 1)
    gap = Gap(at, QuestionTopic.TIME.value)
    sentence = f"{clauses[at - 1].text!r:.100} has passed meanwhile. When is it to be?"
    return asked.asks(task, gap, sentence)


# Whom, and by which way ---------------------------------------------------------------------------


def _channel(asked: AnsweredQuestion) -> SettledTask:
    if answers.is_of_it(asked.answer):
        task = _add_work(without_halves(asked.task, asked.gap.waits), asked)
        return SettledTask(asked.closed(ClauseOutcome.WORK, at_home(task, asked.book)))
    waits = _waits(asked)
    if answers.is_then(asked.answer) and all(each.channel for each in waits):
        return _fill(asked, dict(zip(waits, waits, strict=True)))
    found = answers.find_recipients(asked.answer, asked.book) or NamedRecipients()
    ways = _ways(found, waits, asked.book)
    if found.doubt or not found.channels or ways is None:
        unpaired = "It is not said who gets it through which channel." if found.channels else ""
        return asked.again(found.doubt.sentence if found.doubt else unpaired)
    return _fill(asked, {half: replace(half, channel=way.name) for half, way in ways.items()})


def _add_work(task: Task, asked: AnsweredQuestion) -> Task:
    """Return the task with the clause as part of its work."""
    *others, last = task.work or (WorkItem(task.title),)
    words = asked.clause.text
    if words not in last.description:
        last = replace(last, description=f"{last.description} {words}")
    gaps = tuple(gap for gap in task.gaps if gap.key != asked.gap.key)
    return replace(task, work=(*others, last), gaps=gaps)


def _ways(
    found: NamedRecipients, waits: Sequence[Delivery], book: ContactBook
) -> dict[Delivery, ChannelName] | None:
    """Return the channel of each send: one for all, or one for each person as named."""
    if len(found.channels) == 1:
        return dict.fromkeys(waits, found.channels[0])
    if len(found.people) != len(found.channels):
        return None
    names = (None if who is book.owner else who.name for who in found.people)
    by_name = dict(zip(names, found.channels, strict=True))
    if any(half.recipient not in by_name for half in waits):
        return None
    return {half: by_name[half.recipient] for half in waits}


def _recipient(asked: AnsweredQuestion) -> SettledTask:
    found = answers.find_recipients(asked.answer, asked.book)
    if found is None or found.doubt or not found.people:
        return asked.again(found.doubt.sentence if found and found.doubt else "")
    people = tuple(dict.fromkeys(found.people))
    if len(people) > 1 or len(found.channels) > 1:
        return asked.again("Name one person. Write a message of its own for each of the others.")
    name = None if people[0] is asked.book.owner else people[0].name
    way = found.channels[0].name if found.channels else ""
    waits = _waits(asked)
    return _fill(
        asked,
        {half: replace(half, recipient=name, channel=way or half.channel) for half in waits},
    )


def _waits(asked: AnsweredQuestion) -> tuple[Delivery, ...]:
    """Return the sends that lack the answer: those of the question, the only one, or a new one."""
    sent = asked.task.delivery
    return asked.gap.waits or (sent if len(sent) == 1 else (Delivery(""),))


def _fill(asked: AnsweredQuestion, known: Mapping[Delivery, Delivery]) -> SettledTask:
    """Complete the sends that waited; those that lack nothing more are planned."""
    task = asked.closed(ClauseOutcome.DELIVERY)
    task = replace(task, delivery=tuple(each for each in task.delivery if each not in known))
    return _release(task, tuple(known.values()), asked)


def _release(task: Task, halves: Sequence[Delivery], asked: AnsweredQuestion) -> SettledTask:
    """Plan the complete sends; an incomplete one keeps what is known."""
    by_id = {half.id: half for half in halves if half.id}
    gaps = tuple(
        replace(
            gap, waits=tuple(by_id.get(half.id, half) if half.id else half for half in gap.waits)
        )
        for gap in task.gaps
    )
    elsewhere = {half.id for gap in gaps for half in gap.waits if half.id}
    whole = [half for half in halves if half.id not in elsewhere]
    return send(replace(task, gaps=gaps), whole, asked)


# What ---------------------------------------------------------------------------------------------


def _content(asked: AnsweredQuestion) -> SettledTask:
    text = answers.letter(asked.answer)
    if asked.gap.letter and text is None:
        text = asked.answer
    if text is not None and text.strip():
        return _fill_texts(asked, lambda _: text)
    by_name = _texts(asked)
    if by_name is not None:
        return _fill_texts(asked, lambda half: by_name[half.recipient])
    if answers.quotes(asked.answer) or not _is_plain(asked):
        return asked.again()
    task = _retitle(_working(asked.closed(ClauseOutcome.WORK), asked.answer), asked.answer)
    return _release(task, tuple(half for half in asked.gap.waits if half.id), asked)


def _texts(asked: AnsweredQuestion) -> dict[str | None, str] | None:
    """Return one text for each recipient who waits for one: `Bob: "…", Anna: "…"`."""
    found = answers.find_recipients(asked.answer, asked.book)
    if found is None or not found.texts or len(found.texts) != len(found.people):
        return None
    owner = asked.book.owner
    names = [None if who is owner else who.name for who in found.people]
    texts = dict(zip(names, found.texts, strict=True))
    return texts if all(half.recipient in texts for half in asked.gap.waits) else None


def _fill_texts(asked: AnsweredQuestion, text: Callable[[Delivery], str]) -> SettledTask:
    """Put the owner's exact text into the sends that waited for it."""
    waits = [(each.channel, each.recipient) for each in asked.gap.waits if each.id is None]
    alone = len(asked.task.delivery) == 1 and not asked.gap.waits
    sent = tuple(
        replace(each, content=text(each))
        if alone or (each.content is None and (each.channel, each.recipient) in waits)
        else each
        for each in asked.task.delivery
    )
    halves = tuple(replace(each, content=text(each)) for each in asked.gap.waits if each.id)
    task = asked.closed(ClauseOutcome.DELIVERY, replace(asked.task, delivery=sent))
    return _release(_retitle(task, asked.answer), halves, asked)


def _is_plain(asked: AnsweredQuestion) -> bool:
    """Whether an answer names only a thing, with no time and no recipient."""
    found = extract(asked.answer, now=asked.now, zone=asked.zone, book=asked.book)
    (draft, *more) = found.tasks or (None,)
    if draft is None or more or found.questions:
        return False
    return not (draft.deliveries or draft.scheduled_for)


def _task(asked: AnsweredQuestion) -> SettledTask:
    """Read the answer as a request, so that no clause of it is lost."""
    if answers.is_yes(asked.answer) and any(map(answers.is_yes, asked.gap.options)):
        return SettledTask(asked.closed(ClauseOutcome.WORK))  # as it was said
    found = extract(asked.answer, now=asked.now, zone=asked.zone, book=asked.book)
    if len(found.tasks) != 1:
        return asked.again(
            "That asks for several things. Say one thing to do." if found.tasks else ""
        )
    if found.questions:
        return asked.again(f"{found.questions[0].sentence} Say it all in one sentence.")
    draft, task = found.tasks[0], asked.closed(ClauseOutcome.WORK)
    if draft.scheduled_for and task.scheduled_for:
        return asked.again("The time is known. Say only what to do.")
    for item in draft.work:
        task = _working(task, item.description)
    task = replace(task, instructions=_lines(task.instructions, asked.answer))
    if draft.scheduled_for:
        rule = draft.recurrence
        series = Repeats(rule.rule, rule.zone, rule.first) if rule else None
        task = replace(
            task, type=TaskType.SCHEDULED, scheduled_for=draft.scheduled_for, repeats=series
        )
    made = send(_retitle(task, asked.answer), draft.deliveries, asked)
    return replace(made, task=at_home(made.task, asked.book))


def _working(task: Task, text: str) -> Task:
    return replace(task, work=(*task.work, WorkItem(text)))


def _lines(before: str, after: str) -> str:
    return before if after in before else f"{before}\n{after}"


def _retitle(task: Task, text: str) -> Task:
    """Return the task with a title from the answer, if its title was only its own words."""
    words = as_title(" ".join(text.split()))
    title = words if len(words) <= MOST_TITLE else words[: MOST_TITLE - 3].rstrip() + "..."
    known = {request_of(task).text.strip(), *(each.text for each in request_of(task).clauses)}
    own = task.title in known | {as_title(each) for each in known}
    return replace(task, title=title) if own and title else task


def _is_option(gap: Gap, answer: str) -> bool:
    """Whether a no is one of the offered answers."""
    return gap.about != QuestionTopic.CONFIRM and answer.casefold() in map(
        str.casefold, gap.options
    )


def _confirm(asked: AnsweredQuestion) -> SettledTask:
    """Release a held task after a yes, or apply a change; else ask again."""
    if answers.is_yes(asked.answer):
        return SettledTask(_released(asked.closed(ClauseOutcome.CONSTRAINT), asked.now))
    changed = with_change(asked)
    return asked.again() if changed is None else SettledTask(changed)


def _released(task: Task, now: datetime) -> Task:
    """Return the confirmed task: it runs at its time, or now if that has passed."""
    if task.only_if and all(each.content for each in task.delivery):
        task = replace(task, veto=())  # its words were shown; at each run the policy holds
    waited = any(each.kind is ConditionKind.AFTER_OK for each in task.conditions)
    late = task.scheduled_for is not None and task.scheduled_for <= now
    return with_time(task, Now()) if waited and late and not task.repeats else task


# Left out -----------------------------------------------------------------------------------------


def _left_out(asked: AnsweredQuestion) -> SettledTask:
    """Leave the clause out; if nothing remains, the task is over."""
    gap, clause = asked.gap, asked.clause
    task = asked.closed(ClauseOutcome.DECLINED)
    if gap.about == QuestionTopic.TIME:
        due = clause.became not in (None, ClauseOutcome.TIME)  # nothing says when, so it never is
        return SettledTask(task, over=True) if due else SettledTask(with_time(task, Now()))
    if gap.about == QuestionTopic.CONTENT:
        waits = {(each.channel, each.recipient) for each in gap.waits if each.id is None}
        kept = (d for d in task.delivery if d.content or (d.channel, d.recipient) not in waits)
        task = replace(task, delivery=tuple(kept))
    if gap.about == QuestionTopic.TASK:
        task = _without_clause(task, clause)
    moot = tuple(each for each in task.gaps if _is_moot(each, gap.waits))
    task = without_gaps(without_halves(task, gap.waits), moot, "Nothing is left to be sent.")
    sends = any(each.content for each in task.delivery)
    over = not (task.work or sends or task.gaps)
    return SettledTask(at_home(task, asked.book), over=over)


def _without_clause(task: Task, clause: Clause) -> Task:
    """Return the task without the work of one clause."""
    left = [item for item in task.work if item.description not in clause.text]
    instructions = f"{task.instructions}\nLeave this out: {clause.text}"
    return replace(task, work=tuple(left), instructions=instructions)


def _is_moot(gap: Gap, gone: Sequence[Delivery]) -> bool:
    """Whether everything that waited for a gap is gone."""
    names = {half.id for half in gone if half.id}
    return bool(gap.waits) and all(half.id in names for half in gap.waits)


_BY_SORT: Final[dict[QuestionTopic, Callable[[AnsweredQuestion], SettledTask]]] = {
    QuestionTopic.TIME: _time,
    QuestionTopic.CHANNEL: _channel,
    QuestionTopic.RECIPIENT: _recipient,
    QuestionTopic.CONTENT: _content,
    QuestionTopic.TASK: _task,
    QuestionTopic.CONFIRM: _confirm,
}
