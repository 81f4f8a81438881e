"""Which messages belong together: those of one session, to one person, by one channel.

What the owner ordered by mail belongs to that mail as well: the answer stands in the same thread.
"""

from msgspec import Struct

from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.store import tasks
from remit.store.database import Tx


class MessageThread(Struct, frozen=True):
    """What a message goes on with. `subject` is that of the owner's mail, if one ordered it.

    `first` is the text of the first message, which the thread is called by otherwise.
    """

    earlier: tuple[str, ...] = ()  # what the provider called them, oldest first
    subject: str = ""
    first: str = ""


def find_thread(tx: Tx, key: str, channel: str, limit: int = 20) -> MessageThread:
    """The thread of a delivery, or of a notice that goes alone, by its key."""
    place = tx.one("find_thread", {"id": key})
    if place is None:
        return MessageThread()
    task = tasks.get(tx, TaskId(str(place["task_id"])))
    recipient = place["recipient"]
    asked: dict[str, str | int | None] = {
        "id": key,
        "session": task.session_id,
        "channel": channel,
        "recipient": None if recipient is None else str(recipient),
    }
    sent = [str(row["receipt"]) for row in tx.all("list_thread", asked | {"limit": limit})]
    first = tx.one("first_in_thread", asked)
    ordered, subject = _order(task.context) if recipient is None else ((), "")
    earlier = tuple(dict.fromkeys((*ordered, *reversed(sent))))
    return MessageThread(earlier, subject, str(first["words"] or "") if first else "")


def _order(context: JsonMap) -> tuple[tuple[str, ...], str]:
    """The ids and the subject of the owner's mail that ordered a task; only its own has both."""
    ids, subject = context.get("threads"), context.get("subject")
    if not isinstance(ids, list) or not isinstance(subject, str):
        return (), ""
    return tuple(str(each) for each in ids), subject
