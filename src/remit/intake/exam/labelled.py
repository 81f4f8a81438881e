"""Labelled messages as people type them; `public.jsonl` is the published half.

All are dated Wednesday, 18 March 2026, 10:00 in Berlin, with the same contacts.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Final, cast
from zoneinfo import ZoneInfo

from msgspec import Struct

from remit.contacts.people import ChannelName, Contact, ContactBook
from remit.model.codec import JsonMap

ZONE: Final = ZoneInfo("Europe/Berlin")
NOW: Final = datetime(2026, 3, 18, 10, tzinfo=ZONE)
OWNER: Final = "owner"
_BOTH: Final = ("whatsapp", "email")


class LabelledSend(Struct, frozen=True):
    """One message to one person; a channel or a text that is None was not said."""

    to: str
    channel: str | None
    text: str | None


class LabelledTask(Struct, frozen=True):
    work: bool
    sends: tuple[LabelledSend, ...]
    when: tuple[str, ...]  # the words that say when
    at: datetime | None
    rrule: str | None
    conditions: tuple[str, ...]  # their kinds


class LabelledTurn(Struct, frozen=True):
    """A later turn of the same conversation."""

    text: str
    means: str
    reaches: bool


class LabelledMessage(Struct, frozen=True):
    id: str
    language: str
    text: str
    sort: str  # plain, unclear, talk, trap
    cue: str | None
    reaches: bool  # whether it may reach somebody else unasked, if that contact is on allow
    tasks: tuple[LabelledTask, ...]
    then: tuple[LabelledTurn, ...]
    loose_hour: bool  # only the date of its times was said


@cache
def public_messages() -> tuple[LabelledMessage, ...]:
    text = files("remit.intake.exam").joinpath("public.jsonl").read_text(encoding="utf-8")
    return tuple(parse_messages(text.splitlines()))


def parse_messages(lines: Iterable[str]) -> Iterator[LabelledMessage]:
    for line in lines:
        label = cast("JsonMap", json.loads(line))
        yield LabelledMessage(
            id=str(label["id"]),
            language=str(label["lang"]),
            text=str(label["text"]),
            sort=str(label["sort"]),
            cue=_text(label["cue"]),
            reaches=label["third"] == "may",
            tasks=tuple(_task(each) for each in _maps(label, "tasks")),
            then=tuple(_turn(each) for each in _maps(label, "then")),
            loose_hour=str(label.get("note", "")).startswith("loose hour"),
        )


def _task(label: JsonMap) -> LabelledTask:
    at = _text(label["at"])
    return LabelledTask(
        work=bool(label["work"]),
        sends=tuple(
            LabelledSend(str(each["to"]), _text(each["channel"]), _text(each["text"]))
            for each in _maps(label, "sends")
        ),
        when=tuple(str(each) for each in cast("list[str]", label.get("when", []))),
        at=datetime.fromisoformat(at).replace(tzinfo=ZONE) if at else None,
        rrule=_text(label["rrule"]),
        conditions=tuple(str(each["kind"]) for each in _maps(label, "conditions")),
    )


def _turn(label: JsonMap) -> LabelledTurn:
    return LabelledTurn(str(label["text"]), str(label["means"]), label["third"] == "may")


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _maps(label: JsonMap, name: str) -> list[JsonMap]:
    return cast("list[JsonMap]", label.get(name, []))


@cache
def exam_book() -> ContactBook:
    """Whom the owner of all these messages knows."""
    channels = tuple(ChannelName(name, name) for name in ("dashboard", *_BOTH))
    people = (
        Contact("Anna Weber", ("Anna", "my sister", "meine Schwester", "mi hermana"), _BOTH),
        Contact("Bob Miller", ("Bob",), ("email",)),
        Contact("May Chen", ("May",), ("whatsapp",)),
        Contact("Will Turner", ("Will",), ("email",)),
        Contact("Mark Klein", ("Mark",), _BOTH),
        Contact("Grace Park", ("Grace",), ("email",)),
        Contact("Rose Diaz", ("Rose",), ("whatsapp",)),
        Contact("Nina Vogel", ("Nina",), ("whatsapp",)),
        Contact("Carlos Ruiz", ("Carlos",), ("whatsapp",)),
        Contact("Lucía Ruiz", ("Lucía",), ("email",)),
        Contact("Jonas Weber", ("Jonas",), ("whatsapp",)),
        Contact("Dr. Alba", ("dentist", "Zahnarzt", "dentista"), ("email",)),
        Contact("Tom Baker", ("Tom",), ("email",)),
        Contact("Tom Stone", ("Tom",), ("whatsapp",)),
    )
    owner = Contact("Hanan", channels=("dashboard", *_BOTH))
    return ContactBook(owner, channels, people, assistant="Nina")
