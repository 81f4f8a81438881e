"""Checks the facts in a model's reading and turns it into tasks.

Every person must be named in the owner's words and be in the contact book, every channel must
exist, a text to send must stand in the message, and every time must agree with what code reads in
its words. A doubt that concerns only the owner is noted; one that concerns others is asked on the
card.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from msgspec.structs import replace

from remit.contacts import ChannelName, Contact, ContactBook
from remit.errors import BadInput
from remit.intake import answers
from remit.intake.extraction import (
    Draft,
    Extraction,
    Question,
    QuestionTopic,
    as_title,
    channel_for,
    resolve,
    way_to,
)
from remit.intake.message_words import MessageWords, is_small_key, message_words
from remit.intake.reading_form import Reading, ReadSend, ReadTask
from remit.intake.reading_ledger import MarkedSpan, write_ledger
from remit.intake.text_cues import may_be_no_text
from remit.intake.veto import find_veto, reaches_others
from remit.intake.word_lookup import Span
from remit.language.order_words import SmallTalk, asks_for_work
from remit.language.time.resolve import Moment, Recurrence, TimeDoubt
from remit.language.tokens import fold, keys_of, tokenize
from remit.model import rrule
from remit.model.codec import check_moment
from remit.model.contract import ClauseOutcome, WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId
from remit.model.recurrence import Repeats
from remit.model.veto import Condition, ConditionKind, VetoCue, VetoKind

_MINUTE: Final = timedelta(minutes=1)
_IDLE: Final = {"INTERVAL": "1", "BYSECOND": "0", "WKST": "MO"}  # what goes without saying
_CLOCK: Final = ("BYHOUR", "BYMINUTE")
_WHEN: Final = Question(QuestionTopic.TIME, "When is it to be?")


class CheckedTime(Struct, frozen=True):
    """When a task runs. `veto` is a doubt that matters only if others are reached."""

    when: Moment | Recurrence | None = None
    veto: VetoCue | None = None
    question: Question | None = None
    note: str | None = None


def check_time(
    task: ReadTask, message: MessageWords, plain: Extraction, *, now: datetime, zone: ZoneInfo
) -> CheckedTime:
    """Return the time that model and code read; if they differ, code's, with a note."""
    read = _of_model(task, zone)
    words = " ".join(task.time_words)
    places = [next(message.places(each), None) for each in task.time_words]
    if not all(places) or not places:
        invented = read is not None or bool(places)
        return CheckedTime(question=_WHEN) if invented else CheckedTime()
    place = places[0] or (0, 0)
    own = answers.when(words, "", now=now, zone=zone) or ()
    ours = [each for each in own if isinstance(each, Moment | Recurrence)]
    doubt = own[0] if own and isinstance(own[0], TimeDoubt) else None
    unsure = VetoCue(VetoKind.TIME, words, *place)
    if len(ours) == 1 == len(own) and (read is None or type(read) is type(ours[0])):
        if read is not None and (_is_same(ours[0], read) or _is_read_too(read, plain)):
            return CheckedTime(ours[0] if _is_same(ours[0], read) else read)
        return CheckedTime(ours[0], unsure, note=_echo(words, ours[0], zone))
    if read is None or _start(read) <= now:
        why = doubt.why if doubt else f"When is {words!r}?"
        return CheckedTime(
            question=Question(QuestionTopic.TIME, why, doubt.options if doubt else ())
        )
    veto = None if doubt and _is_option(read, doubt, zone) else unsure
    return CheckedTime(read, veto, note=_echo(words, read, zone))


def _is_read_too(when: Moment | Recurrence, plain: Extraction) -> bool:
    """Whether code reads this time in the whole message: "wake me at 6" is of the morning."""
    return [draft.scheduled_for for draft in plain.tasks] == [getattr(when, "at", None)]


def _is_option(when: Moment | Recurrence, doubt: TimeDoubt, zone: ZoneInfo) -> bool:
    """Whether code thinks a time possible: "09:00" for "in the morning"."""
    return any(f"{_start(when).astimezone(zone):%H:%M}" in option for option in doubt.options)


def _of_model(task: ReadTask, zone: ZoneInfo) -> Moment | Recurrence | None:
    """Return the time that the model read, if it is valid."""
    try:
        at = task.at
        if at is None:
            return None
        at = (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
        check_moment(at, "at")
        if not task.rrule:
            return Moment(at)
        rule = _with_clock(task.rrule.upper().removeprefix("RRULE:"), at, zone)
        first = next(rrule.slots(Repeats(rule, zone.key, at), at - _MINUTE), None)
    except (BadInput, OverflowError, ValueError):
        return None
    return Recurrence(rule, zone.key, first) if first else None


def _with_clock(rule: str, at: datetime, zone: ZoneInfo) -> str:
    if "BYHOUR" in rule or "HOURLY" in rule or "MINUTELY" in rule:
        return rule
    local = at.astimezone(zone)
    return f"{rule};BYHOUR={local.hour};BYMINUTE={local.minute}"


def _start(when: Moment | Recurrence) -> datetime:
    return when.at if isinstance(when, Moment) else when.first


def _is_same(one: Moment | Recurrence, other: Moment | Recurrence) -> bool:
    if isinstance(one, Moment) and isinstance(other, Moment):
        return abs(one.at - other.at) < _MINUTE
    if isinstance(one, Recurrence) and isinstance(other, Recurrence):
        return abs(one.first - other.first) < _MINUTE and _rule(one.rule) == _rule(other.rule)
    return False


def _rule(rule: str) -> dict[str, frozenset[str]]:
    """Return an RRULE for comparison, in no order; daily on some days is weekly on these."""
    pairs = (part.partition("=") for part in rule.upper().split(";"))
    parts = {name: value for name, _, value in pairs if _IDLE.get(name) != value}
    if parts.get("FREQ") == "DAILY" and "BYDAY" in parts and "INTERVAL" not in parts:
        parts["FREQ"] = "WEEKLY"
    return {n: frozenset(v.split(",")) for n, v in parts.items() if n not in _CLOCK}


def _echo(words: str, when: Moment | Recurrence, zone: ZoneInfo) -> str:
    return f"{words!r} is read as {_start(when).astimezone(zone):%A %Y-%m-%d %H:%M}."


class CheckedTask(Struct):
    """One task that the model read, with what code found."""

    draft: Draft
    marks: list[MarkedSpan] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    vetoes: list[VetoCue] = field(default_factory=list)
    texts: list[Span] = field(default_factory=list)  # what somebody else is to read


def checked_reading(
    text: str,
    reading: Reading,
    plain: Extraction,
    *,
    now: datetime,
    zone: ZoneInfo,
    book: ContactBook,
) -> Extraction:
    """Return the reading as it may be acted on. `plain` is what the closed patterns read."""
    message = message_words(text, book)
    check = _Check(message, plain, now, zone)
    tasks = [check.task(each, n) for n, each in enumerate(reading.tasks)]
    open_questions = [
        Question(QuestionTopic(each.about), each.question)
        for each in reading.questions
        if any(True for _ in message.places(each.words))
    ]
    if open_questions and not tasks:
        tasks = [_unread(text, open_questions[:1])]
    elif open_questions:
        tasks[0].questions += open_questions[:1]
    if len(tasks) == 1:
        tasks[0].draft = _with_owners_channel(tasks[0].draft, plain)
    if not tasks and _is_order(plain, text) and not find_veto(text, book):
        return _despite_model(plain)
    talk = SmallTalk(reading.talk) if reading.talk and not tasks else None
    found = write_ledger(message, tasks, talk or (None if tasks else SmallTalk.CHATTER))
    texts = tuple(dict.fromkeys(span for task in tasks for span in task.texts))
    return replace(found, texts=texts, conditions=tuple(check.quiet_words(reading, found)))


def _is_order(plain: Extraction, text: str) -> bool:
    """Whether code reads an order for certain; what may as well be a remark is the model's."""
    return any(not draft.is_loose for draft in plain.tasks) or (
        bool(plain.tasks) and asks_for_work(text)
    )


def _despite_model(plain: Extraction) -> Extraction:
    """Keep an order that code reads and the model does not; ask if it reaches others."""
    names = dict.fromkeys(d.recipient for draft in plain.tasks for d in draft.deliveries)
    unsure = tuple(VetoCue(VetoKind.RECIPIENT, name, 0, 0) for name in names if name)
    return replace(plain, veto=(*plain.veto, *unsure))


def _with_owners_channel(draft: Draft, plain: Extraction) -> Draft:
    """Send work without a recipient to the channel that the owner's words name."""
    deliveries = [each for other in plain.tasks for each in other.deliveries]
    if draft.deliveries or not draft.work or any(each.recipient for each in deliveries):
        return draft
    return replace(draft, deliveries=tuple(Delivery(each.channel) for each in deliveries[:1]))


def _unread(text: str, questions: Sequence[Question]) -> CheckedTask:
    """Return a task that waits for the answer to a question."""
    title = as_title(" ".join(text.split()))[:120]
    return CheckedTask(Draft(title=title, instructions=text), questions=list(questions))


class _Check(Struct, frozen=True):
    message: MessageWords
    plain: Extraction
    now: datetime
    zone: ZoneInfo

    def task(self, task: ReadTask, number: int) -> CheckedTask:
        when = check_time(task, self.message, self.plain, now=self.now, zone=self.zone)
        draft = Draft(
            title=as_title(" ".join(task.title.split()) or task.instructions[:120]),
            instructions=task.instructions,
            work=tuple(WorkItem(each) for each in task.work if each.strip()),
            notes=(when.note,) if when.note else (),
        )
        made = CheckedTask(_with_time(draft, when))
        if when.question:
            made.questions.append(when.question)
        if when.veto:
            made.vetoes.append(when.veto)
        made.marks += [
            MarkedSpan(s, ClauseOutcome.TIME) for each in task.time_words for s in self._first(each)
        ]
        for n, send in enumerate(task.sends):
            self._send(made, task, send, f"half-{number}-{n}")
        made.vetoes += map(self._limit, task.limits)
        brain = bool(made.draft.work) or any(d.content is None for d in made.draft.deliveries)
        made.draft = replace(made.draft, needs_brain=brain)
        return made

    def quiet_words(self, reading: Reading, found: Extraction) -> Iterator[Condition]:
        """Yield the owner's words that ask for silence, if nobody else is written to.

        They must stand in the message and hold a word that denies or sets a condition.
        """
        if any(reaches_others(draft.deliveries) for draft in found.tasks):
            return
        for words in filter(None, (task.quiet for task in reading.tasks)):
            for start, end in self._first(words):
                text = self.message.text[start:end]
                if find_veto(text, self.message.book):
                    yield Condition(ConditionKind.QUIET, text, end)

    def _limit(self, words: str) -> VetoCue:
        """Hold back what the model calls limited, even where code finds no word for it."""
        start, end = next(iter(self._first(words)), (0, 0))
        return VetoCue(VetoKind.HOLD, words.strip()[:60], start, end)

    def _send(self, made: CheckedTask, task: ReadTask, send: ReadSend, name: str) -> None:
        person = self._person(send)
        channel = self._channel(send)
        content = self._content(made, task, send, person)
        book = self.message.book
        recipient = None if person is book.owner else getattr(person, "name", None)
        half = Delivery(
            channel.name if isinstance(channel, ChannelName) else "",
            recipient,
            content,
            id=DeliveryId(name),
        )
        way: str | Question
        if isinstance(person, Question):
            way = person
        elif isinstance(channel, Question):
            way = channel
        else:
            way = self._asked_channel(send, recipient) or way_to(person, channel, book)
        if isinstance(way, Question):
            made.questions.append(replace(way, waits=(half,)))
            return
        sent = Delivery(way, recipient, content)
        known = [each for each in made.draft.deliveries if each.recipient == recipient]
        if sent not in known and (content is not None or not known):
            made.draft = replace(made.draft, deliveries=(*made.draft.deliveries, sent))
        if recipient is not None:
            doubts = list(self._doubts(send, recipient, content))
            made.vetoes += doubts
            if content is not None and not doubts:
                made.texts += filter(self.message.is_ordered_text, self._first(content))

    # Whom, and by which channel -----------------------------------------------------------------

    def _person(self, send: ReadSend) -> Contact | Question:
        """Return the person that the message's words name; the model's word is not enough."""
        if send.to is None:
            return self.message.book.owner
        words = send.to_words or send.to
        if not any(True for _ in self.message.places(words)):
            return Question(QuestionTopic.RECIPIENT, "To whom is it to go?")
        return resolve(words, self.message.book)

    def _channel(self, send: ReadSend) -> ChannelName | Question | None:
        """Return the channel that the message names; the model cannot choose another."""
        if send.channel is None or fold(send.channel) not in self._named_channels():
            return None
        return channel_for(send.channel, send.channel, self.message.book)

    def _asked_channel(self, send: ReadSend, recipient: str | None) -> Question | None:
        """Return what the closed patterns ask about a channel that the model left out."""
        return next(
            (
                each
                for each in self.plain.questions
                if each.about is QuestionTopic.CHANNEL
                and send.channel is None
                and any(recipient == d.recipient for d in each.waits if recipient)
            ),
            None,
        )

    def _named_channels(self) -> frozenset[str]:
        """Return the channels that the message names, by name and by kind."""
        message, found = self.message, set[str]()
        for at in range(len(message.keys)):
            if named := message.channel_at(at):
                found.add(fold(named[0]))
            verb = message.verb_at(at)
            if verb and verb[0].channel:
                found.add(fold(verb[0].channel))
        kinds = {fold(each.name): fold(each.kind) for each in message.book.channels}
        return frozenset(found | {name for name, kind in kinds.items() if kind in found})

    def _content(
        self, made: CheckedTask, task: ReadTask, send: ReadSend, person: Contact | Question
    ) -> str | None:
        """Return the owner's exact text; what is not in the message is work."""
        words = [send.to_words] if send.to_words else []
        made.marks += [
            MarkedSpan(s, ClauseOutcome.DELIVERY) for each in words for s in self._first(each)
        ]
        if send.text is None or not send.text.strip():
            return None
        place = next(self.message.places(send.text.strip()), None)
        if place is not None:
            made.marks.append(MarkedSpan(place, ClauseOutcome.DELIVERY))
            return self.message.text[slice(*place)]
        if person is self.message.book.owner and self._has_words(send.text):
            return send.text
        if not task.work:
            written = WorkItem(f"Write this: {send.text}")
            made.draft = replace(made.draft, work=(*made.draft.work, written))
        if person is not self.message.book.owner:
            made.vetoes.append(VetoCue(VetoKind.MODEL_TEXT, send.text[:60], 0, 0))
        return None

    def _has_words(self, text: str) -> bool:
        """Whether a text has only words of the message, in any order, and small ones."""
        left = set(keys_of(tokenize(text))) - set(self.message.keys)
        return all(map(is_small_key, left))

    def _doubts(self, send: ReadSend, recipient: str, content: str | None) -> Iterator[VetoCue]:
        """Yield what makes it uncertain that this person is to get this text."""
        words = send.to_words or send.to or ""
        waits = (d for each in self.plain.questions for d in each.waits)
        every = (*(d for draft in self.plain.tasks for d in draft.deliveries), *waits)
        ours = [each for each in every if each.recipient]
        same = [d for d in ours if d.recipient == recipient]
        inside = any(fold(words) in fold(each.content or "") for each in every)  # a reminder
        if ((ours or inside) and not same) or not self.message.addresses(words):
            start, end = next(self.message.places(words), (0, 0))
            yield VetoCue(VetoKind.RECIPIENT, words, start, end)
        if content is None:
            return
        agreed = any(d.content == content for d in same)
        known = agreed or any(map(self.message.is_ordered_text, self.message.places(content)))
        if not known or may_be_no_text(self.message, content, words):
            start, end = next(self.message.places(content), (0, 0))
            yield VetoCue(VetoKind.TEXT, content[:60], start, end)

    def _first(self, words: str | None) -> Iterable[Span]:
        place = next(self.message.places(words), None) if words else None
        return () if place is None else (place,)


def _with_time(draft: Draft, when: CheckedTime) -> Draft:
    match when.when:
        case Recurrence() as rule:
            return replace(draft, scheduled=True, scheduled_for=rule.first, recurrence=rule)
        case Moment(at=at):
            return replace(draft, scheduled=True, scheduled_for=at)
        case None:
            return replace(draft, scheduled=when.question is not None)
