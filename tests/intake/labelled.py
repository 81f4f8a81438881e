"""Messages that the closed patterns cover, with what each of them asks for."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.extraction import Extraction
from remit.intake.plain_reader import read_plainly
from remit.intake.veto import held_back
from tests.tables import read_yaml

HERE = Path(__file__).parent
TABLE = HERE.parent / "data" / "reading" / "patterns.jsonl"
NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)  # a Wednesday, ten in the morning in Berlin
ZONE = ZoneInfo("Europe/Berlin")


@dataclass(frozen=True)
class Expected:
    """One task as it should be read: sends are a channel, a person, and a text."""

    work: bool
    at: datetime | None
    every: str | None
    sends: tuple[tuple[str, str | None, str | None], ...]


@dataclass(frozen=True)
class Message:
    say: str
    now: datetime
    zone: ZoneInfo
    tasks: tuple[Expected, ...]
    asks: bool  # something is asked before anything happens

    def read(self) -> Extraction:
        found = read_plainly(self.say, now=self.now, zone=self.zone, book=BOOK)
        return held_back(found, self.say, BOOK)


def messages() -> list[Message]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [_message(json.loads(line)) for line in lines]


def _message(row: dict[str, object]) -> Message:
    tasks = row.get("tasks", [])
    assert isinstance(tasks, list)
    return Message(
        say=str(row["say"]),
        now=datetime.fromisoformat(str(row["now"])) if "now" in row else NOW,
        zone=ZoneInfo(str(row["zone"])) if "zone" in row else ZONE,
        tasks=tuple(_expected(task) for task in tasks),
        asks=bool(row.get("asks")),
    )


def _expected(row: dict[str, object]) -> Expected:
    sends = row.get("sends", [])
    assert isinstance(sends, list)
    return Expected(
        work=bool(row.get("work")),
        at=datetime.fromisoformat(str(row["at"])) if "at" in row else None,
        every=str(row["every"]) if "every" in row else None,
        sends=tuple((str(way), to, text) for way, to, text in sends),
    )


def _book() -> ContactBook:
    raw = read_yaml((HERE / "book.yml").read_text("utf-8"))
    channels = tuple(
        ChannelName(each["name"], each["kind"], tuple(each.get("aliases", ())))
        for each in raw["channels"]
    )
    people = [
        Contact(each["name"], tuple(each.get("aliases", ())), tuple(each.get("channels", ())))
        for each in (raw["owner"], *raw["contacts"])
    ]
    return ContactBook(people[0], channels, tuple(people[1:]))


BOOK = _book()
