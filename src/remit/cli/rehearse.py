"""`remit rehearse`: show what would happen, without storing anything."""

import os
import sys
from datetime import datetime
from typing import Annotated, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from remit import gate as gatehouse
from remit import settings as house_settings
from remit.cli import clock, codes, out, receipt
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, StyledText, flag, free
from remit.contacts.book import FILE, Contacts
from remit.contacts.people import ContactBook
from remit.errors import BadInput
from remit.intake import recipients as zones
from remit.intake.admit import check_text
from remit.intake.conditions import find_conditions, limited, read_with_quiet
from remit.intake.extraction import Extraction
from remit.intake.hear import planned
from remit.intake.message import rehearsed
from remit.intake.plain_reader import read_plainly
from remit.intake.veto import held_back
from remit.model.codec import JsonMap, moment
from remit.model.reply import Hold, Reply
from remit.model.series import Repeats
from remit.settings import Settings

# The channels S0 names, with their limits, whether they are set up here or not.
MOST: Final = {"dashboard": 100_000, "whatsapp": 4096, "email": 100_000}

app = CommandGroup("rehearse")
app.commands |= {name: f"rehearse_{name}:{name}" for name in ("calendar", "contract", "priority")}


@app.command()
def extract(
    text: Annotated[str, free("A message, as you would write it; - reads it from stdin.")] = "",
    /,
    *,
    labelled: Annotated[
        bool, flag("Score the readers on labelled messages instead: your model, and none.")
    ] = False,
    now: Annotated[str | None, flag("When it is said, with offset; else now.")] = None,
    tz: Annotated[str | None, flag("The zone of your clock; yours, if not said.")] = None,
    json: AsJson = False,
) -> int:
    """Say what a message would be understood as, clause by clause; no model is asked."""
    settings = house_settings.load()
    if labelled:
        from remit.cli.reader_exam import show_scores  # noqa: PLC0415 - may load a model

        return show_scores(settings, as_json=json)
    words = sys.stdin.read() if text == "-" else text
    check_text(words)
    zone = zones.owners(settings.zone, os.environ).zone if tz is None else _zone(tz)
    at = moment(now) if now else clock.now()
    book = _book(settings, (*_channels(), *MOST))
    words = words.strip()

    def read_rest(rest: str) -> Extraction:
        found = read_plainly(rest, now=at, zone=zone, book=book)
        limits = find_conditions(rest, book, at, zone, found.texts)
        return limited(held_back(found, rest, book), limits)

    result = rehearsed(read_with_quiet(words, book, read_rest))
    if json:
        out.emit(result)
    else:
        receipt.rehearse(result, zone)
    return codes.WAITS if result["questions"] else codes.DONE


@app.command()
def gate(
    *,
    channel: Annotated[str, flag("Where it would go: dashboard, whatsapp or email.")] = "dashboard",
    json: AsJson = False,
) -> int:
    """Judge a reply from stdin: what would go out, or why it would be held."""
    if channel not in MOST:
        raise BadInput(f"channel may be {', '.join(MOST)}, not {channel!r:.60}.", field="channel")
    judged = gatehouse.judge(Reply(sys.stdin.read()), most=MOST[channel])
    if isinstance(judged, Hold):
        if json:
            out.emit({"verdict": "hold", "reason": judged.reason})
        else:
            out.line(StyledText(judged.reason, "yellow"))
        return codes.WAITS
    return out.done(json, {"verdict": "pass", "deliverable": judged.text}, data=judged.text)


def rehearse_words(
    settings: Settings, text: str, at: datetime | None, repeats: Repeats | None = None
) -> JsonMap:
    """Return what `remit add` would make of a message, without a running Remit."""
    check_text(text)
    zone, book = zones.owners(settings.zone, os.environ).zone, _book(settings, _channels())
    words = text.strip()

    def read_rest(rest: str) -> Extraction:
        found = read_plainly(rest, now=clock.now(), zone=zone, book=book)
        return held_back(planned(found, at, book.home, repeats), rest, book)

    return rehearsed(read_with_quiet(words, book, read_rest))


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        sentence = f"There is no zone {name!r:.60}; one looks like Europe/Berlin."
        raise BadInput(sentence, field="tz") from None


def _channels() -> tuple[str, ...]:
    """Return the channels available here."""
    from remit.wiring import CHANNELS  # noqa: PLC0415 - the whole house, for their names

    return tuple(CHANNELS)


def _book(settings: Settings, channels: tuple[str, ...]) -> ContactBook:
    known = tuple(dict.fromkeys(channels))
    return Contacts(settings.home / FILE, settings.owner, known, settings.agent).book()
