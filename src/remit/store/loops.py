"""What failed in the background, in the journal: so the owner is told."""

from datetime import datetime

from remit.model.event import Entry, Kind
from remit.model.status import Actor
from remit.store import events
from remit.store.database import Tx


def note_failure(tx: Tx, loop: str, error: str, now: datetime) -> None:
    """Write down that a loop failed and is started again."""
    entry = Entry(Kind.LOOP_FAILED, Actor.ENGINE, {"loop": loop, "why": error})
    events.append(tx, None, 0, entry, now)
