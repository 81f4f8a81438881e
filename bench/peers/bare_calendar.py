"""The bare libraries: icalendar reads, recurring-ical-events expands; nothing is guarded."""

from pathlib import Path

import icalendar
import recurring_ical_events  # type: ignore[import-untyped]

from bench.measure import Measurement
from bench.ours.calendar import SINCE, UNTIL, measure


def run(size: int, home: Path) -> list[Measurement]:
    del home
    return measure(_theirs, size)


def _theirs(raw: bytes) -> int:
    whole = icalendar.Calendar.from_ical(raw)
    return len(list(recurring_ical_events.of(whole).between(SINCE, UNTIL)))
