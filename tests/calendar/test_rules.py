"""Random rules beside another implementation, where that one follows RFC 5545 too."""

import datetime as dt
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from types import SimpleNamespace
from typing import Final, cast

import pytest
from dateutil import rrule as other  # type: ignore[import-untyped]
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from remit.calendar.slots import TimeWindow
from tests.calendar.rig import calendar, event, expand, zulu
from tests.soak import examples

DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
AHEAD: Final = {
    "YEARLY": timedelta(days=366 * 9),
    "MONTHLY": timedelta(days=366 * 3),
    "WEEKLY": timedelta(days=366),
    "DAILY": timedelta(days=366),
    "HOURLY": timedelta(days=20),
    "MINUTELY": timedelta(days=2),
}


def _signed(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high).flatmap(lambda n: st.sampled_from((n, -n)))


def _some(values: st.SearchStrategy[int], most: int = 3) -> st.SearchStrategy[str]:
    return st.lists(values, min_size=1, max_size=most, unique=True).map(
        lambda found: ",".join(map(str, found))
    )


@st.composite
def _rules(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A frequency, and parts that RFC 5545 allows with it."""
    freq = draw(st.sampled_from(tuple(AHEAD)))
    ticks = freq in ("HOURLY", "MINUTELY")
    may: dict[str, st.SearchStrategy[str]] = {
        "INTERVAL": st.integers(1, 4).map(str),
        "BYMONTH": _some(st.integers(1, 12)),
        "BYHOUR": _some(st.integers(0, 23)),
        "BYMINUTE": _some(st.integers(0, 59)),
        "WKST": st.sampled_from(DAYS),
        "COUNT": st.integers(1, 20).map(str),
    }
    if freq != "WEEKLY":
        may["BYMONTHDAY"] = _some(_signed(1, 31))
    if freq == "YEARLY" or ticks:
        may["BYYEARDAY"] = _some(_signed(1, 366))
    nth = freq in ("MONTHLY", "YEARLY")
    # Numbered and bare days together are not what they should be elsewhere.
    number = ("1", "2", "-1") if nth and draw(st.booleans()) else ("",)
    one = st.builds("{}{}".format, st.sampled_from(number), st.sampled_from(DAYS))
    may["BYDAY"] = st.lists(one, min_size=1, max_size=3, unique=True).map(",".join)
    chosen = draw(st.lists(st.sampled_from(sorted(may)), max_size=4, unique=True))
    parts = {name: draw(may[name]) for name in chosen}
    if freq == "YEARLY" and draw(st.booleans()):
        # Without a day of the week the other one takes all seven; RFC 5545 that of the start.
        parts |= {"BYWEEKNO": draw(_some(st.integers(2, 51))), "BYDAY": draw(st.sampled_from(DAYS))}
        parts.pop("BYMONTH", None)
    # The first week is cut at the start there, so places in it are others.
    if freq != "WEEKLY" and any(name.startswith("BY") for name in parts) and draw(st.booleans()):
        parts["BYSETPOS"] = draw(_some(_signed(1, 3), 2))
    return freq, parts


_STARTS: Final = st.datetimes(datetime(2019, 12, 25), datetime(2026, 1, 5)).map(  # noqa: DTZ001 - in UTC
    lambda moment: moment.replace(second=0, microsecond=0)
)


@given(_STARTS, _rules(), st.integers(0, 400))
@settings(max_examples=examples(150), deadline=None)
def test_a_rule_falls_where_another_reading_of_the_rfc_has_it(
    start: datetime, rule: tuple[str, dict[str, str]], skip: int
) -> None:
    freq, parts = rule
    since = start + AHEAD[freq] * skip / 400
    until = since + AHEAD[freq]
    wanted = [each for each in _elsewhere(start, freq, parts, until) if each >= since]
    assume(len(wanted) <= 5_000)

    text = ";".join([f"FREQ={freq}", *(f"{name}={value}" for name, value in parts.items())])
    raw = calendar(event("a", f"DTSTART:{start:%Y%m%dT%H%M%SZ}", f"RRULE:{text}"))
    found = expand(raw, TimeWindow(since.replace(tzinfo=UTC), until.replace(tzinfo=UTC)))

    if found.refused:
        # Only what never falls may be refused here.
        assert "never comes" in found.refused[0].why
        assert wanted in ([], [start])
    else:
        assert [zulu(slot.start) for slot in found.slots] == [zulu(each) for each in wanted]


def _elsewhere(
    start: datetime, freq: str, parts: dict[str, str], until: datetime
) -> list[datetime]:
    """The same by dateutil, which leaves out a start that does not fit, and does not count it."""
    kept = [f"{name}={value}" for name, value in parts.items() if name != "COUNT"]
    most = int(parts["COUNT"]) - 1 if "COUNT" in parts else None
    with pytest.MonkeyPatch.context() as patch:
        # Else it looks for what never falls until the year 9999.
        names = {**vars(dt), "MAXYEAR": until.year}
        patch.setattr(other, "datetime", SimpleNamespace(**names))
        try:
            rule = other.rrulestr(";".join([f"FREQ={freq}", *kept]), dtstart=start)
        except ValueError:
            return [start]  # it saw that the rule never falls
        found = cast("Iterable[datetime]", rule)
        later = takewhile(lambda each: each < until, (each for each in found if each > start))
        return [start, *islice(later, most)]
