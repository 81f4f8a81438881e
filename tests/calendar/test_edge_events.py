"""Events at the edges of RFC 5545, each with the slots derived by hand and the reason beside it."""

from datetime import date, time
from pathlib import Path
from typing import Final, TypedDict, cast
from zoneinfo import ZoneInfo

from remit.calendar import expand
from remit.calendar.slots import TimeWindow
from tests.calendar.rig import calendar, event, line, midnight, zulu
from tests.cli.terminal import Terminal
from tests.tables import for_each, read_yaml

EVENTS: Final = Path(__file__).parent / "events"
NAMES: Final = sorted(path.stem for path in EVENTS.glob("*.ics"))


class Wanted(TypedDict, total=False):
    why: str
    zone: str
    since: date
    until: date
    all_day_at: str
    slots: list[str]
    ends: list[str]
    kind: str
    refused: str


@for_each("name", NAMES)
def test_an_event_gives_the_slots_that_were_derived_by_hand(name: str) -> None:
    wanted = _wanted(name)
    zone = ZoneInfo(wanted["zone"])
    window = TimeWindow(midnight(wanted["since"], zone), midnight(wanted["until"], zone))
    at = time.fromisoformat(wanted.get("all_day_at", "09:00"))

    found = expand.slots((EVENTS / f"{name}.ics").read_bytes(), window, zone, all_day_at=at)

    assert [line(slot) for slot in found.slots] == wanted["slots"], wanted["why"]
    refused = [wanted["refused"]] if "refused" in wanted else []
    told = [each.why for each in found.refused]
    assert told == refused
    if "ends" in wanted:
        assert [zulu(slot.end) for slot in found.slots] == wanted["ends"]
    assert {slot.kind.value for slot in found.slots} <= {wanted.get("kind", "event")}


def test_every_event_has_its_reason_and_every_reason_its_event() -> None:
    reasons = sorted(path.stem for path in EVENTS.glob("*.yml"))

    assert reasons == NAMES
    assert all(_wanted(name)["why"].endswith((".", ")")) for name in NAMES)
    assert len(NAMES) >= 30


def _wanted(name: str) -> Wanted:
    return cast("Wanted", read_yaml((EVENTS / f"{name}.yml").read_text("utf-8")))


# Rehearsed by the command line --------------------------------------------------------------------


YEAR: Final = ("--from", "2026-01-01", "--to", "2026-12-31", "--tz", "Europe/Berlin")


def test_the_slots_of_a_year_are_told_to_programs(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    said = seat.run("rehearse", "calendar", str(EVENTS / "fold-daily.ics"), *YEAR, "--json")

    assert said.code == 0
    slots = said.json["slots"]
    assert isinstance(slots, list)
    assert slots[1] == {
        "slot": "2026-11-01T05:30:00Z",
        "local": "2026-11-01T06:30:00+01:00",
        "end": "2026-11-01T06:00:00Z",
        "uid": "a",
        "key": "20261101T053000Z",
        "kind": "event",
        "summary": "a",
        "flags": ["fold"],
    }
    assert len(slots) == 3
    assert not (seat.home / "agent.db").exists()


def test_what_is_cancelled_does_not_start(tmp_path: Path) -> None:
    file = str(EVENTS / "one-cancelled.ics")
    said = Terminal(tmp_path).run("rehearse", "calendar", file, *YEAR, "--json")

    assert "2026-11-04T16:00:00Z" not in str(said.json["slots"])
    assert "2026-11-04T16:00:00Z" in str(said.json["idle"])


def test_what_is_refused_exits_with_4_and_the_rest_is_told(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    endless = event("endless", "DTSTART:20260101T000000Z", "RRULE:FREQ=SECONDLY")
    raw = calendar(endless, event("good", "DTSTART:20261102T090000Z")).decode()
    said = seat.run("rehearse", "calendar", "-", *YEAR, stdin=raw)

    assert said.code == 4
    assert "Mon 2026-11-02 10:00  09:00Z  good" in said.out
    assert "Refused endless: Its rule repeats by the second;" in said.out


def test_the_last_day_is_meant_whole_and_a_time_is_where_it_ends(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    raw = calendar(event("eve", "DTSTART:20261231T220000Z")).decode()
    words = ("rehearse", "calendar", "-", "--tz", "Europe/Berlin", "--json", "--from", "2026-12-01")

    assert seat.run(*words, "--to", "2026-12-31", stdin=raw).json["slots"]
    assert not seat.run(*words, "--to", "2026-12-31T22:00:00Z", stdin=raw).json["slots"]


def test_whole_days_start_when_the_owner_says(tmp_path: Path) -> None:
    file = str(EVENTS / "several-days.ics")
    said = Terminal(tmp_path).run(
        "rehearse", "calendar", file, *YEAR, "--all-day-at", "06:15", "--json"
    )

    assert "2026-11-06T05:15:00Z" in str(said.json["slots"])


def test_what_cannot_be_done_gets_a_sentence(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    file = str(EVENTS / "moved.ics")

    assert seat.run("rehearse", "calendar", "nowhere.ics").code == 3
    assert "cannot be read" in seat.run("rehearse", "calendar", str(tmp_path)).err
    assert "There is no time zone" in seat.run("rehearse", "calendar", file, "--tz", "Mars/X").err
    backwards = ("--from", "2026-12-31", "--to", "2026-01-01")
    assert "--to is not after --from" in seat.run("rehearse", "calendar", file, *backwards).err
    assert "no time of day" in seat.run("rehearse", "calendar", file, "--all-day-at", "9").err
    assert "too far away" in seat.run("rehearse", "calendar", file, "--to", "9999-12-31").err
    assert "is not a time" in seat.run("rehearse", "calendar", file, "--from", "Monday").err
