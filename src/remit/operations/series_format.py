"""How a series is written: its frequency as a person types it, and its JSON."""

from datetime import datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from remit.errors import BadInput
from remit.intake import answers
from remit.language.time.resolve import Recurrence, TimeDoubt
from remit.model import rrule
from remit.model.codec import Json, JsonMap, pick_fields, stamp
from remit.model.ids import SeriesId
from remit.model.recurrence import Repeats, Series, Slot
from remit.model.rrule import zone_of
from remit.model.view import moment_or_none
from remit.settings import Settings
from remit.store import series, series_orders, slots
from remit.store.agenda import PlannedStart
from remit.store.database import Tx
from remit.store.slots import SkippedSlots
from remit.system.owner_zone import find_owner_zone
from remit.triggers import cron as crontab

_EXAMPLE: Final = "Say it like 'weekday at 8:30', 'month on the 1st at 9:00' or 2h."


def read_frequency(
    settings: Settings, every: str | None, cron: str | None, tz: str | None, now: datetime
) -> Repeats:
    """Parse what was given, or raise what is wrong; nothing is guessed."""
    if every is not None and cron is not None:
        raise BadInput("Say either --every or --cron, not both.", field="every")
    zone = zone_of(tz) if tz else find_owner_zone(settings.zone).zone
    if cron is not None:
        return crontab.repeats(cron, zone.key, now)
    return parse_frequency(every or "", zone, now)


def parse_frequency(words: str, zone: ZoneInfo, now: datetime) -> Repeats:
    """Parse "every weekday at 8:30", "weekday at 8:30" or "2h"."""
    text = " ".join(words.split())
    if crontab.is_span(text):
        return crontab.parse_interval(text, zone.key, now)
    for line in (text, f"every {text}"):
        match answers.when(line, "", now=now, zone=zone):
            case (Recurrence(rule=rule, zone=where, first=first),):
                return Repeats(rule, where, first)
            case (Recurrence(), *_):
                sentence = f"{text!r:.80} names several times; say one."
                raise BadInput(sentence, field="every")
            case (TimeDoubt(why=why), *_) if line.startswith("every"):
                raise BadInput(f"{why} {_EXAMPLE}", field="every")
            case _:
                pass
    raise BadInput(f"{text!r:.80} does not say how often. {_EXAMPLE}", field="every")


COMING_SLOTS: Final = 5  # future slots by default
_LATEST: Final = 50
_PASSED: Final = 20


def series_with_history(
    tx: Tx, series_id: SeriesId, now: datetime, coming: int = COMING_SLOTS
) -> JsonMap:
    """Return one series, with skipped slots and the ledger of the latest ones."""
    found = series.find(tx, series_id)
    skipped: list[Json] = [
        _skipped_to_json(each) for each in slots.list_skipped(tx, found.id, _PASSED)
    ]
    became = series_orders.latest(tx, found.id, now, _LATEST)
    rows: list[Json] = [slot_to_json(each, found.repeats) for each in reversed(became)]
    return series_to_json(tx, found, now, coming) | {"skipped": skipped, "slots": rows}


def series_to_json(tx: Tx, found: Series, now: datetime, coming: int) -> JsonMap:
    ahead = series_orders.coming(tx, found, now, coming)
    return {
        **pick_fields(found, "id title sessionId"),
        **pick_fields(found.repeats, "rule zone"),
        "rhythm": rrule.in_words(found.repeats),
        "firstAt": stamp(found.repeats.first),
        "lastAt": stamp(found.last),
        **pick_fields(found, "pausedAt endedAt why missed overlap"),
        "coming": [slot_to_json(each, found.repeats) for each in ahead],
    }


def slot_to_json(each: Slot, repeats: Repeats) -> JsonMap:
    """Return one slot; the flags say what the clocks do there."""
    return {
        "slot": stamp(each.at),
        "plannedFor": moment_or_none(each.planned),
        "local": _local(each.planned or each.at, zone_of(repeats.zone)),
        **pick_fields(each, "taskId fate why"),
        "startedAt": moment_or_none(each.started),
        "late": round(each.late.total_seconds()) if each.late is not None else None,
        "flags": list[Json](sorted(rrule.flags(repeats, each.at))),
    }


def planned_start_to_json(found: PlannedStart, zone: tzinfo) -> JsonMap:
    """Return the next start of a calendar event, which is changed in its calendar."""
    when = {"slot": stamp(found.at), "local": _local(found.at, zone)}
    return pick_fields(found, "uid title calendar") | when | pick_fields(found, "taskId repeats")


def _local(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).replace(microsecond=0).isoformat()


def _skipped_to_json(skipped: SkippedSlots) -> JsonMap:
    span = {"from": stamp(skipped.first), "upto": stamp(skipped.last)}
    return span | pick_fields(skipped, "slots why fate")
