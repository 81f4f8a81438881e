"""Which messages belong together: those of one session, to one person, by one channel."""

from remit.store.database import Tx


def earlier(tx: Tx, delivery_id: str, limit: int = 20) -> tuple[str, ...]:
    """What the provider called the messages before this one, oldest first."""
    listed = tx.all("list_thread", {"id": delivery_id, "limit": limit})
    return tuple(str(row["receipt"]) for row in reversed(listed))
