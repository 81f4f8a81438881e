"""The labelled messages: how they are read from their files, and how an extraction is scored."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

import yaml

from remit.intake.extract import Draft, Extraction, extract
from remit.intake.recipients import Book, Channel, Contact

HERE = Path(__file__).parent
NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)  # a Wednesday, ten in the morning in Berlin
ZONE = ZoneInfo("Europe/Berlin")

Raw = dict[str, object]
Sent = tuple[str, str | None, str | None]


@dataclass(frozen=True)
class Expected:
    """One task as it should be read."""

    type: str
    at: datetime | None
    every: str | None
    work: tuple[str, ...]
    deliveries: tuple[Sent, ...]
    brain: bool
    noted: bool


@dataclass(frozen=True)
class Message:
    say: str
    now: datetime
    zone: ZoneInfo
    clauses: tuple[tuple[str, str], ...]
    tasks: tuple[Expected, ...]
    asks: tuple[str, ...]
    answer: str | None

    def read(self) -> Extraction:
        return extract(self.say, now=self.now, zone=self.zone, book=BOOK)


@dataclass
class Score:
    """How many of the clauses and fields that should be there are."""

    clauses: int = 0
    clauses_right: int = 0
    fields: int = 0
    fields_right: int = 0
    wrong: list[str] = field(default_factory=list)

    def clause(self, name: str, *, right: bool) -> None:
        self.clauses += 1
        self.clauses_right += right
        if not right:
            self.wrong.append(name)

    def field(self, name: str, expected: object, found: object) -> None:
        """Count a field that either side says something about."""
        if not expected and not found:
            return
        self.fields += 1
        self.fields_right += expected == found
        if expected != found:
            self.wrong.append(f"{name}: {found!r}, not {expected!r}")

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.clauses + other.clauses,
            self.clauses_right + other.clauses_right,
            self.fields + other.fields,
            self.fields_right + other.fields_right,
            self.wrong + other.wrong,
        )

    @property
    def share(self) -> float:
        return (self.clauses_right + self.fields_right) / (self.clauses + self.fields)


def messages(half: str) -> list[Message]:
    files = sorted((HERE / "messages").glob(f"{half}*.yml"))
    return [_message(raw) for path in files for raw in yaml.safe_load(path.read_text())]


def score(message: Message) -> Score:
    """Compare what was read with what should have been."""
    found = message.read()
    made = Score()
    for became, words in message.clauses:
        right = _became(found, message.say, words) == {became}
        made.clause(f"clause {words!r}, not {became}", right=right)
    made.field("number of tasks", len(message.tasks), len(found.tasks))
    asked = sorted(question.about for question in found.questions)
    made.field("asks", sorted(message.asks), [str(each) for each in asked])
    made.field("answer", message.answer, found.answer and str(found.answer))
    for expected, draft in zip(message.tasks, found.tasks, strict=False):
        _score_task(made, expected, draft)
    for expected in message.tasks[len(found.tasks) :]:
        made.field("task", expected, None)
    return made


def _score_task(made: Score, expected: Expected, draft: Draft) -> None:
    recurrence = draft.recurrence
    work = [_plain(item.description) for item in draft.work]
    sent = [(each.channel, each.recipient, each.content) for each in draft.deliveries]
    made.field("type", expected.type, str(draft.type))
    made.field("scheduled_for", expected.at, draft.scheduled_for)
    made.field("recurrence", expected.every, recurrence.rule if recurrence else None)
    made.field("work", [_plain(each) for each in expected.work], work)
    made.field("deliveries", list(expected.deliveries), sent)
    made.field("needs_brain", expected.brain, draft.needs_brain)
    made.field("noted", expected.noted, bool(draft.notes))


def _became(found: Extraction, text: str, words: str) -> set[str]:
    """What the words became: of every letter that lies in a clause at all."""
    start = text.find(words)
    assert start >= 0, f"{words!r} is not in {text!r}"
    end = start + len(words)
    return {
        str(clause.became) if clause.became else "open"
        for clause in found.clauses
        if clause.start < end and start < clause.end
    }


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".!?")


def _message(raw: Raw) -> Message:
    tasks = cast("list[Raw]", raw.get("tasks", []))
    clauses = cast("list[dict[str, str]]", raw.get("clauses", []))
    return Message(
        say=str(raw["say"]),
        now=_moment(raw.get("now")) or NOW,
        zone=ZoneInfo(str(raw["zone"])) if "zone" in raw else ZONE,
        clauses=tuple(pair for clause in clauses for pair in clause.items()),
        tasks=tuple(_expected(task) for task in tasks),
        asks=tuple(cast("list[str]", raw.get("asks", []))),
        answer=cast("str | None", raw.get("answer")),
    )


def _expected(raw: Raw) -> Expected:
    unknown = set(raw) - {"type", "at", "every", "work", "deliveries", "brain", "noted"}
    assert not unknown, unknown
    work = tuple(cast("list[str]", raw.get("work", [])))
    sent = tuple(_sent(each) for each in cast("list[list[str | None]]", raw.get("deliveries", [])))
    at = _moment(raw.get("at"))
    needs = bool(work) or any(content is None for _, _, content in sent)
    return Expected(
        type=str(raw.get("type", "scheduled" if at else "immediate")),
        at=at,
        every=cast("str | None", raw.get("every")),
        work=work,
        deliveries=sent,
        brain=bool(raw.get("brain", needs)),
        noted=bool(raw.get("noted", False)),
    )


def _sent(raw: list[str | None]) -> Sent:
    channel, recipient, content = (*raw, None, None)[:3]
    return str(channel), recipient, content


def _moment(raw: object) -> datetime | None:
    if raw is None:
        return None
    return datetime.fromisoformat(str(raw)).astimezone(UTC)


def _contact(raw: Raw) -> Contact:
    return Contact(str(raw["name"]), _names(raw, "aliases"), _names(raw, "channels"))


def _names(raw: Raw, key: str) -> tuple[str, ...]:
    return tuple(cast("list[str]", raw.get(key, [])))


def _book() -> Book:
    raw = yaml.safe_load((HERE / "book.yml").read_text())
    channels = (
        Channel(each["name"], each["kind"], _names(each, "aliases")) for each in raw["channels"]
    )
    return Book(_contact(raw["owner"]), tuple(channels), tuple(map(_contact, raw["contacts"])))


BOOK = _book()


def report(half: str) -> Iterator[str]:
    """Say what a half scores, message by message; for the eye, while tuning."""
    for message in messages(half):
        made = score(message)
        if made.wrong:
            yield f"{message.say!r}\n    " + "\n    ".join(made.wrong)
