"""The card of a message: what was understood, whom it reaches, and what is still open.

It is receipt, question and confirmation at once, in the language of the message. Every interface
shows this card in its own layout.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.intake.extraction import QuestionTopic
from remit.language.files import phrases_in_all, section
from remit.language.sentences import (
    DEFAULT_LANGUAGE,
    held_sentence,
    in_language,
    message_language,
    sentences,
)
from remit.language.tokens import keys_of, tokenize
from remit.model import rrule
from remit.model.contract import ClauseOutcome, Gap
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.review import ContactRule, Review
from remit.model.task import Task
from remit.model.veto import LED_KINDS, ConditionKind
from remit.system.owner_zone import show_moment

_UNKNOWN: Final = "?"
_MOST_SAID: Final = 500  # characters of a message


class CardRow(Struct, frozen=True):
    """One line of a card. `kind` is for a page that draws it; `label` is for the reader."""

    kind: str
    label: str
    value: str


class OpenLine(Struct, frozen=True):
    """Something that the owner has yet to answer; `number` stays the same until then."""

    number: int
    about: str
    question: str
    options: tuple[str, ...]
    clause: str
    task_id: TaskId


class CardTask(Struct, frozen=True):
    id: TaskId
    title: str
    rows: tuple[CardRow, ...]


class RequestCard(Struct, frozen=True):
    language: str
    message: str
    tasks: tuple[CardTask, ...]
    held: str  # why nobody else gets anything without a yes; empty if nothing holds it
    open: tuple[OpenLine, ...]

    @property
    def is_one_yes(self) -> bool:
        """Whether only a yes is missing."""
        return bool(self.open) and all(each.about == QuestionTopic.CONFIRM for each in self.open)


def make_card(
    tasks: Sequence[Task],
    zone: ZoneInfo,
    *,
    asks_first: Collection[str | None] = (),
    reviews: Sequence[Review] = (),
    running: bool = True,
) -> RequestCard:
    """Return the card of a message that became these tasks, with `reviews` open.

    `asks_first` are the ids of sends that need the owner's approval; `running` says whether tasks
    are being worked on now.
    """
    message = next((task.request.text for task in tasks if task.request), "")
    language = message_language(message)
    waiting = {review.task_id for review in reviews} | {task.id for task in tasks if task.gaps}
    start = sentences(language)["now" if running else "when_up"]
    made = tuple(
        CardTask(
            task.id,
            task.title,
            tuple(_rows(task, language, zone, asks_first, start, waits=task.id in waiting)),
        )
        for task in tasks
    )
    waits = [task for task in tasks if task.gaps]
    cues = tuple(dict.fromkeys(cue for task in waits for cue in task.veto))
    held = held_sentence(cues, language) if cues else ""
    return RequestCard(language, message, made, held, tuple(_open(waits, language)))


def card_question(card: RequestCard, problem: str = "") -> str:
    """Return the question of the card; `problem` says why the last answer was refused."""
    say = sentences(card.language)
    lines = [each.question for each in card.open]
    if len(lines) > 1 and card.is_one_yes:
        lines = [card.held, say["go_ahead"]]
    elif len(lines) > 1:
        numbered = (f"{each.number}: {each.question}" for each in card.open)
        lines = [say["several"].format(len(card.open)), *numbered]
    return " ".join(each for each in (problem, *lines) if each)


def card_lines(card: RequestCard, *, with_message: bool = False, asks: bool = True) -> list[str]:
    """Return the card as plain text; `with_message`: the message first; `asks`: the open lines."""
    say = sentences(card.language)
    text = card.message if len(card.message) <= _MOST_SAID else f"{card.message[:_MOST_SAID]}…"
    lines = [f"{say['said']}: {text}"] if with_message else []
    for n, task in enumerate(card.tasks):
        lines += [""] if n else []
        lines += [f"{row.label}: {row.value}" if row.label else row.value for row in task.rows]
    lines += [say["options"].format("; ".join(each.options)) for each in _choices(card)]
    return [*lines, card_question(card)] if asks and card.open else lines


def _choices(card: RequestCard) -> list[OpenLine]:
    return [each for each in card.open if each.options and each.about != QuestionTopic.CONFIRM]


def is_small_talk(text: str) -> bool:
    """Whether words only thank, greet or laugh."""
    keys = [key for key in keys_of(tokenize(text)) if any(c.isalnum() for c in key)]
    talk, at = phrases_in_all("answers", "talk"), 0
    while at < len(keys) and (found := talk.at(keys, at)):
        at = found[1]
    return bool(keys) and at == len(keys)


def rule_question(rule: ContactRule, text: str) -> str:
    """Return the question whether a standing wish shall be a rule, in the message's language."""
    language = message_language(text)
    say, days = sentences(language), section(language, "wish")["week"]
    hours = [say["rule_hours"].format(each.since, each.till) for each in rule.quiet.hours]
    named = f" {say['and']} ".join(days[day] for day in rule.quiet.days)
    times = [*hours, *([say["rule_days"].format(named)] if named else [])]
    return say["rule"].format(rule.name, f" {say['and']} ".join(times))


# Lines of a card ----------------------------------------------------------------------------------


def _rows(
    task: Task,
    language: str,
    zone: ZoneInfo,
    asks_first: Collection[str | None],
    start: str,
    *,
    waits: bool,
) -> Iterator[CardRow]:
    say = sentences(language)
    yield CardRow("task", say["task"], task.title)
    if task.plan.composed:
        yield CardRow("work", say["work"], say["no_work"])
    for item in task.work:
        yield CardRow("work", say["work"], item.description)
    for delivery in _sends(task):
        asks = delivery.id in asks_first
        yield from _send_rows(delivery, say, asks=asks, held=bool(task.veto))
    for limit in task.conditions:
        label = limit.kind.value if limit.kind not in LED_KINDS else "limit"
        part = f" ({limit.pattern})" if limit.pattern else ""
        yield CardRow("limit", say[label], limit.words + part)
    when = _time_line(task, say, zone, start, waits=waits)
    yield CardRow("runs", say["runs"], in_language(when, language))
    if task.repeats is not None:
        yield CardRow("repeats", say["repeats"], _how_often(task, language))
    for words in _left_out(task, language):
        yield CardRow("left_out", say["left_out"], words)


def _send_rows(
    delivery: Delivery, say: dict[str, str], *, asks: bool, held: bool
) -> Iterator[CardRow]:
    yield CardRow("goes_to", say["goes_to"], _to_whom(delivery, say))
    if delivery.content is not None:
        yield CardRow("text", say["text"], delivery.content)
    elif delivery.recipient is not None:
        yield CardRow("text", say["text"], say["text_later" if asks or held else "text_unseen"])
    if asks:
        yield CardRow("asks_first", "", say["asks_first"])


def _left_out(task: Task, language: str) -> Iterator[str]:
    """Return what the owner said and Remit does not do, each with the reason."""
    for clause in task.request.clauses if task.request else ():
        if clause.became is ClauseOutcome.DECLINED:
            why = f" ({in_language(clause.why, language)})" if clause.why else ""
            yield f"{clause.text}{why}"


def _sends(task: Task) -> Iterator[Delivery]:
    """Return the planned sends, and the incomplete ones."""
    yield from (each for each in task.delivery if not each.part)
    halves: dict[str, Delivery] = {}
    pairs = [(gap, half) for gap in task.gaps for half in gap.waits if half.id]
    for gap, half in pairs:
        known = halves.get(str(half.id), half)
        if gap.about == QuestionTopic.RECIPIENT or (
            gap.about == QuestionTopic.TASK and not half.recipient
        ):
            known = replace(known, recipient=_UNKNOWN)
        if gap.about == QuestionTopic.CHANNEL:
            known = replace(known, channel=_UNKNOWN)
        halves[str(half.id)] = known
    yield from halves.values()


def _to_whom(delivery: Delivery, say: dict[str, str]) -> str:
    channel = delivery.channel if delivery.channel not in ("", _UNKNOWN) else say["some_channel"]
    if delivery.recipient is None:
        return say["to_owner"].format(channel=channel)
    known = delivery.address not in (None, delivery.recipient)
    whom = say["somebody"] if delivery.recipient == _UNKNOWN else delivery.recipient
    name = f"{whom} ({delivery.address})" if known else whom
    return say["to_person"].format(name=name, channel=channel)


def _time_line(task: Task, say: dict[str, str], zone: ZoneInfo, start: str, *, waits: bool) -> str:
    timed = not any(gap.about == QuestionTopic.TIME for gap in task.gaps)
    at = show_moment(task.scheduled_for, zone) if task.scheduled_for and timed else ""
    if waits:
        return f"{at}, {say['when_answered']}" if at else say["when_answered"]
    return at or start


def _how_often(task: Task, language: str) -> str:
    """Return the rule in words in English; in another language, the owner's own words."""
    assert task.repeats is not None  # noqa: S101 - asked only then
    clauses = task.request.clauses if task.request else ()
    own = [each.text.strip() for each in clauses if each.became is ClauseOutcome.TIME]
    return (
        rrule.in_words(task.repeats) if language == DEFAULT_LANGUAGE or not own else ", ".join(own)
    )


# What is open -------------------------------------------------------------------------------------


def number_gaps(tasks: Iterable[Task]) -> list[Task]:
    """Return the tasks, each gap with its number on the card."""
    made: list[Task] = []
    count = 0
    for task in tasks:
        gaps = tuple(replace(gap, line=count + n) for n, gap in enumerate(task.gaps, 1))
        count += len(gaps)
        made.append(replace(task, gaps=gaps))
    return made


def open_lines(tasks: Sequence[Task]) -> tuple[OpenLine, ...]:
    """Return what is open about the tasks of a card."""
    text = next((task.request.text for task in tasks if task.request), "")
    return tuple(_open(tasks, message_language(text)))


def _open(tasks: Iterable[Task], language: str) -> Iterator[OpenLine]:
    for n, (task, gap) in enumerate(((t, g) for t in tasks for g in t.gaps), 1):
        question = gap_question(task, gap, language)
        clause = task.request.clauses[gap.clause - 1].text if task.request else ""
        options = tuple(in_language(each, language) for each in gap.options)
        yield OpenLine(gap.line or n, gap.about, question, options, clause, task.id)


def gap_question(task: Task, gap: Gap, language: str) -> str:
    """Return the question for a gap, in the language of the message."""
    if gap.about == QuestionTopic.CONFIRM:
        return _confirm_question(task, language)
    asked = in_language(gap.question, language) if gap.question else ""
    if asked and (asked != gap.question or language == DEFAULT_LANGUAGE):
        return asked
    say = sentences(language)
    clause = task.request.clauses[gap.clause - 1].text.strip() if task.request else ""
    parts = [say[f"ask_{gap.about}"]]
    parts += [say["about"].format(clause)] if clause else []
    return " ".join(parts)


def _confirm_question(task: Task, language: str) -> str:
    """Ask whether to send it, with the words that hold it back and its conditions."""
    say = sentences(language)
    limits = {kind: [c.words for c in task.conditions if c.kind is kind] for kind in ConditionKind}
    held = held_sentence(task.veto, language) if task.veto else ""
    names = list(dict.fromkeys(each.recipient for each in task.delivery if each.recipient))
    asked = say["to_whom"].format(f" {say['and']} ".join(names)) if names else say["go_ahead"]
    if limits[ConditionKind.AFTER_OK]:
        asked = say["ask_ok"]
    elif limits[ConditionKind.ONLY_IF]:
        asked = say["ask_only_if"].format("; ".join(limits[ConditionKind.ONLY_IF]))
    return f"{held} {asked}".strip()
