"""Events at the edges of RFC 5545, each with the slots derived by hand and the reason beside it."""

from datetime import date, time
from pathlib import Path
from typing import Final, TypedDict, cast
from zoneinfo import ZoneInfo

from remit.calendar import expand
from remit.calendar.slots import TimeWindow
from tests.calendar.rig import line, midnight, zulu
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
