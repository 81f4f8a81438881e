"""Reads the UID and the author of a calendar resource, and makes the cue of each of its starts.

The lines are read leniently; the expansion refuses what is broken.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from remit.model.codec import JsonMap, stamp
from remit.model.delivery import Delivery
from remit.model.ids import SeriesId, SessionId
from remit.model.task import Creator, Cue, Source, SourceKind, Taint
from remit.model.visibility import ORGANIZER, OWNER
from remit.store.occurrences import StoredOccurrence

OURS: Final = "X-REMIT-TASK"  # marks what we write, so that it is never taken for a cue
_FOLD: Final = re.compile(r"\r?\n[ \t]")
_MOST_READ: Final = 4_000_000  # characters


def uid(body: str) -> str:
    """Return the first UID; empty if there is none."""
    return next(_values(body, "UID"), "").strip()[:1000]


def is_ours(body: str) -> bool:
    return next(_values(body, OURS), None) is not None


def value(body: str, name: str) -> str:
    """Return the value of the first property of a name; empty if there is none."""
    return next(_values(body, name), "").strip()


def _values(body: str, name: str) -> Iterator[str]:
    """Yield the values of every property of a name, unfolded; parameters may hold quoted colons."""
    found = re.compile(rf'^{name}(?:;(?:"[^"\n]*"|[^":\n])*)?:(.*)$', re.MULTILINE | re.IGNORECASE)
    for each in found.finditer(_FOLD.sub("", body[:_MOST_READ])):
        yield each[1].rstrip("\r")


MAX_UID_CHARACTERS: Final = 400  # of an event's UID; a longer one is hashed


def cue_of(each: StoredOccurrence, series: SeriesId, session: SessionId) -> Cue:
    """Make the cue of a start: its summary is the title, its description the text."""
    context: JsonMap = {"calendar": each.account, "uid": each.uid}
    context["slot"] = each.key or stamp(each.start)
    if each.taint is Taint.OWNER:
        context[ORGANIZER] = OWNER
    return Cue(
        source=Source(SourceKind.CALDAV, _reference(each)),
        title=each.title,
        text=each.text or each.title,
        delivery=(Delivery("dashboard"),),
        context=context,
        scheduled_for=each.start,
        session_id=session,
        series_id=series if each.key else None,
        slot=_slot_of(each),
        created_by=Creator.SCHEDULER,
        taint=each.taint,
    )


def _slot_of(each: StoredOccurrence) -> datetime:
    """Return its slot in the series: the instant its rule gave, however it is moved."""
    for form in ("%Y%m%dT%H%M%SZ", "%Y%m%dT%H%M%S", "%Y%m%d"):
        with suppress(ValueError):
            return datetime.strptime(each.key, form).replace(tzinfo=UTC)
    return each.start


def _reference(each: StoredOccurrence) -> str:
    """Return the permanent ref of a start: its event and its key, on whatever server."""
    uid = each.uid
    if len(uid) > MAX_UID_CHARACTERS or not uid.isprintable():
        uid = "sha256-" + hashlib.sha256(uid.encode("utf-8", "replace")).hexdigest()
    again = f"#{each.tries}" if each.tries else ""
    return f"{uid}:{each.key}{again}"
