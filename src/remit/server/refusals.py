"""Calendar events that were refused: shown with the reason, until fixed or dismissed."""

from typing import Final

from msgspec import Struct

from remit.calendar import resource_facts
from remit.language import outside_text
from remit.model.codec import Json, JsonMap
from remit.store import calendars
from remit.store.calendars import StoredResource
from remit.store.database import Tx

_MOST: Final = 100


class CalendarRefusalRow(Struct, frozen=True):
    resource: StoredResource
    title: str
    calendar: str  # the owner's name for it
    why: str

    @property
    def seen(self) -> bool:
        return self.resource.seen


def look(tx: Tx) -> list[CalendarRefusalRow]:
    """Return the refused events, unseen first."""
    names = {(each.account, each.path): each.name for each in calendars.list_calendars(tx)}
    found = [_refusal(each, names) for each in calendars.refused(tx, _MOST)]
    return sorted(found, key=lambda each: each.seen)


def refusals_to_json(found: list[CalendarRefusalRow]) -> list[Json]:
    """Return the same for programs."""
    listed: list[Json] = []
    for each in found:
        one: JsonMap = {
            "account": each.resource.account,
            "calendar": each.calendar,
            "uid": each.resource.uid,
            "title": each.title,
            "why": each.why,
            "seen": each.seen,
        }
        listed.append(one)
    return listed


def _refusal(resource: StoredResource, names: dict[tuple[str, str], str]) -> CalendarRefusalRow:
    name = names.get((resource.account, resource.calendar), resource.calendar)
    title = outside_text.title(resource_facts.value(resource.body, "SUMMARY"))
    return CalendarRefusalRow(resource, title, f"{resource.account}/{name}", resource.why or "")
