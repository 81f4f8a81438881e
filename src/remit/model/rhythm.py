"""An RRULE in words for a person."""

import calendar
from typing import Final

from remit.model.codec import moment
from remit.model.series import Repeats

_DAYS: Final = dict(zip(("MO", "TU", "WE", "TH", "FR", "SA", "SU"), calendar.day_name, strict=True))
_UNITS: Final = {
    "MINUTELY": "minute",
    "HOURLY": "hour",
    "DAILY": "day",
    "WEEKLY": "week",
    "MONTHLY": "month",
    "YEARLY": "year",
}
_WORKDAYS: Final = "MO,TU,WE,TH,FR"
_MOST_WALLS: Final = 4  # times of day listed one by one
_NTH: Final = {"1": "first", "2": "second", "3": "third", "4": "fourth", "-1": "last"}


def in_words(repeats: Repeats) -> str:
    """Return a rule in words: "every Monday and Friday at 08:30 (Europe/Berlin)"."""
    parts = dict(part.split("=", 1) for part in repeats.rule.split(";") if "=" in part)
    unit, every = _UNITS.get(parts.get("FREQ", "")), parts.get("INTERVAL", "1")
    if unit is None:
        return repeats.rule
    often = f"every {unit}" if every == "1" else f"every {every} {unit}s"
    days = _days(parts)
    if days and unit in ("week", "day") and every == "1":
        often = f"every {days}"
    elif days:
        often = f"{often}, on {days}"
    return f"{often}{_clock(parts)}{_until(parts)} ({repeats.zone})"


def _days(parts: dict[str, str]) -> str:
    named = parts.get("BYDAY", "")
    if named == _WORKDAYS:
        return "weekday"
    if named:
        return _list([_day(each) for each in named.split(",")])
    dates = parts.get("BYMONTHDAY", "")
    if not dates:
        return ""
    month = parts.get("BYMONTH", "")
    told = _list(["the last day" if each == "-1" else f"day {each}" for each in dates.split(",")])
    return f"{told} of {calendar.month_name[int(month)]}" if month else told


def _day(code: str) -> str:
    nth, name = code[:-2], _DAYS[code[-2:]]
    return f"the {_NTH.get(nth, nth)} {name}" if nth else name


def _clock(parts: dict[str, str]) -> str:
    if "BYHOUR" not in parts:
        return ""
    hours, minutes = parts["BYHOUR"].split(","), parts.get("BYMINUTE", "0").split(",")
    walls = sorted(f"{int(hour):02}:{int(minute):02}" for hour in hours for minute in minutes)
    if len(walls) > _MOST_WALLS:
        return f" at {len(walls)} times from {walls[0]} to {walls[-1]}"
    return f" at {_list(walls)}"


def _until(parts: dict[str, str]) -> str:
    if "UNTIL" not in parts:
        return ""
    return f" until {moment(parts['UNTIL']):%Y-%m-%d}"


def _list(names: list[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]
