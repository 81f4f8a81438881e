"""Parses how often something repeats: words, a duration, or a cron line."""

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from remit.errors import BadInput
from remit.intake import answers
from remit.language.time.resolve import Recurrence, TimeDoubt
from remit.model.recurrence import Repeats
from remit.model.rrule import zone_of
from remit.settings import Settings
from remit.system.owner_zone import find_owner_zone
from remit.triggers import cron as crontab

_EXAMPLE: Final = "Say it like 'weekday at 8:30', 'month on the 1st at 9:00' or 2h."


def read(
    settings: Settings, every: str | None, cron: str | None, tz: str | None, now: datetime
) -> Repeats:
    """Parse what was given, or raise what is wrong; nothing is guessed."""
    if every is not None and cron is not None:
        raise BadInput("Say either --every or --cron, not both.", field="every")
    zone = zone_of(tz) if tz else find_owner_zone(settings.zone).zone
    if cron is not None:
        return crontab.repeats(cron, zone.key, now)
    return parse(every or "", zone, now)


def parse(words: str, zone: ZoneInfo, now: datetime) -> Repeats:
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
