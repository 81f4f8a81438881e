"""A person or a program says: do this. The command line, the API and MCP come through here."""

from collections.abc import Sequence
from datetime import datetime

from remit.model.delivery import Delivery
from remit.model.plan import Item
from remit.model.task import Cue, Priority, Source, SourceKind


def cue(  # noqa: PLR0913 - all that a person may say at once
    text: str,
    *,
    ref: str,
    work: Sequence[str] = (),
    channel: str = "dashboard",
    recipient: str | None = None,
    content: str | None = None,
    scheduled_for: datetime | None = None,
    priority: Priority | None = None,
) -> Cue:
    """What the owner typed, as a cue; without another word the result goes to the dashboard."""
    title, _, _ = text.strip().partition("\n")
    return Cue(
        source=Source(SourceKind.MANUAL, ref),
        title=title if len(title) <= 120 else title[:117] + "...",  # noqa: PLR2004
        text=text.strip(),
        work=tuple(Item(line) for line in work),
        delivery=(Delivery(channel, recipient, content),),
        scheduled_for=scheduled_for,
        priority=priority,
    )
