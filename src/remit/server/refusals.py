"""Events of calendars that start nothing: shown with why, until they are mended or seen."""

from typing import Final

from msgspec import Struct

from remit.model.codec import Json, JsonMap
from remit.store import calendars
from remit.store.calendars import Resource
from remit.store.database import Tx
from remit.trigger.calendar import glean

_MOST: Final = 100


class Refusal(Struct, frozen=True):
    resource: Resource
    title: str
    calendar: str  # as its owner calls it
    why: str

    @property
    def seen(self) -> bool:
        return self.resource.seen


def look(tx: Tx) -> list[Refusal]:
    """Those that start nothing, the unseen first."""
    names = {(each.account, each.path): each.name for each in calendars.every(tx)}
    found = [_refusal(each, names) for each in calendars.refused(tx, _MOST)]
    return sorted(found, key=lambda each: each.seen)


def told(found: list[Refusal]) -> list[Json]:
    """The same for programs."""
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


def _refusal(resource: Resource, names: dict[tuple[str, str], str]) -> Refusal:
    name = names.get((resource.account, resource.calendar), resource.calendar)
    title = glean.title(glean.value(resource.body, "SUMMARY"))
    return Refusal(resource, title, f"{resource.account}/{name}", resource.why or "")
