"""Does the file still say what was written into it?"""

import json
from collections.abc import Iterator
from typing import Final

from remit.store import events, rows
from remit.store.database import Row, Tx

RECENT: Final = 2000


def complaints(tx: Tx, *, whole: bool = True) -> Iterator[str]:
    """Everything that does not hold, in sentences; nothing at all if the file is as it was left.

    The journal is a chain of hashes: one changed byte breaks it. The tasks are then compared with
    the journal: their words with what was admitted, their places with the last move.
    """
    since = 0 if whole else max(0, events.last(tx) - RECENT)
    yield from events.broken_links(tx, since)
    if whole:
        yield from _gaps(tx)
        yield from _contradictions(tx)


def _gaps(tx: Tx) -> Iterator[str]:
    for row in tx.all("audit_gaps"):
        told = f"the journal has {row['found']!s}, up to number {row['last']!s}"
        yield f"Task {row['id']!s} counts {row['events']!s} events; {told}."


def _contradictions(tx: Tx) -> Iterator[str]:
    for row in tx.all("audit_tasks"):
        if row["created"] is None:
            yield f"Task {row['id']!s} has no first event."
            continue
        yield from _compare(row)
    for row in tx.all("audit_deliveries"):
        yield f"Delivery {row['id']!s} is {row['status']!s}, but the journal says {row['told']!s}."


def _compare(row: Row) -> Iterator[str]:
    told = json.loads(str(row["created"]))
    source = f"{row['source_kind']!s}:{row['source_ref']!s}"
    for name, is_now, was in (
        ("title", row["title"], told.get("title", "")),
        ("instructions", row["instructions"], told.get("instructions", "")),
        ("source", source, told["source"]),
    ):
        if is_now != was:
            yield f"The {name} of task {row['id']!s} is not what was admitted."
    scheduled = rows.moment(row["scheduled_for"])
    planned = told.get("scheduledFor")
    if (scheduled is None) != (planned is None):
        yield f"The time of task {row['id']!s} is not what was admitted."
    if row["status"] != (row["moved"] or "new"):
        yield f"Task {row['id']!s} is {row['status']!s}, but its last move was to {row['moved']!s}."
