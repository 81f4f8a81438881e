"""Where the store and the contacts are, which review is meant, and a watch over one task."""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from remit.cli.words import ambiguous, letters_of, shorten
from remit.errors import AlreadyDecided, BadInput, Conflict, NotFound
from remit.model.codec import stamp
from remit.model.ids import ReviewId, TaskId
from remit.model.review import Review
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.model.task import Task
from remit.store import events, reviews, tasks
from remit.store.database import Tx
from remit.store.read_only import ReadOnlyStore
from remit.system.files import home_of

if TYPE_CHECKING:
    from remit.contacts.book import Contacts
    from remit.settings import Settings

# A url in the section [store], or the section in one line.
_STORE_URL: Final = re.compile(
    rb"^\s*(\[store\](\n(?!\s*\[)[^\n]*)*?\n\s*url\b|store\b)", re.MULTILINE
)


def database_of(environ: Mapping[str, str]) -> Path | str:
    """Return where the store is; the settings are read only if they name one, to be quick."""
    home = home_of(environ)
    path = home / "settings.toml"
    written = path.read_bytes() if path.exists() else b""
    if "REMIT_STORE_URL" not in environ and not _STORE_URL.search(written):
        return home / "agent.db"
    from remit.settings import load  # noqa: PLC0415 - slow, and few need it

    return load(environ).database


PAUSE: Final = 0.05  # seconds between two polls
_FAILED_SENDS: Final = 2  # one may fail because a kept connection was closed


class EventWatch:
    """Reports each event once, in order; with `until_tried` only until a send failed twice."""

    def __init__(
        self,
        tx: ReadOnlyStore,
        task_id: TaskId,
        tell: Callable[[Event], None],
        *,
        after: int = 0,
        until_tried: bool = False,
    ) -> None:
        self.task_id = task_id
        self._until_tried = until_tried
        self._failed_sends = 0
        self._tx = tx
        self._tell = tell
        self._n = after
        self._version = -1

    def poll(self) -> Task | None:
        """Report what is new since the last poll; return the task if it changed."""
        version = self._tx.version
        if version == self._version:
            return None
        self._version = version
        # The task before its events: everything it rests on was reported when it is returned.
        task = tasks.get(self._tx, self.task_id)
        for event in events.of_task(self._tx, self.task_id, self._n):
            self._tell(event)
            self._n = event.n
            settled = event.kind is EventKind.DELIVERY_SETTLED
            self._failed_sends += settled and event.data["answer"] == "retry"
        return task

    def rests(self, task: Task) -> bool:
        """Whether nothing will happen to it without the owner."""
        if task.ended or task.status in (Status.NEEDS_REVIEW, Status.PAUSED):
            return True
        if self._until_tried and self._failed_sends >= _FAILED_SENDS:
            return True
        if task.status is not Status.NEW:
            return False
        return any(r.decision is None for r in reviews.of_task(self._tx, task.id))


_WHOLE_ID: Final = 26
_ALL: Final = 2**63 - 1  # Postgres takes no negative limit


def find_review(tx: Tx, text: str) -> Review:
    """Return the review: by its own id, or by a task with one question."""
    if text.strip().upper().startswith("REV-"):
        return _by_review_id(tx, text)
    ulid = letters_of(text, "task")
    fitting = list(tasks.ids_like(tx, f"task-{ulid}"))
    asking = [] if text.strip().upper().startswith("TASK-") else _open_like(tx, ulid)
    # A message's card is asked in the same millisecond in which its task is created.
    if len(fitting) == 1:
        asking = [review for review in asking if review.task_id != fitting[0]]
    if len(fitting) + len(asking) > 1:
        raise BadInput(ambiguous(text, [*fitting, *(str(r.id) for r in asking)]), field="id")
    if asking:
        return asking[0]
    if not fitting:
        raise NotFound("task or review", shorten(text))
    return _open_review_of(tx, fitting[0])


def _by_review_id(tx: Tx, text: str) -> Review:
    ulid = letters_of(text, "rev")
    if len(ulid) == _WHOLE_ID:
        found = reviews.get(tx, ReviewId(f"rev-{ulid}"))
        if found.decision is not None:
            at = found.decision.decided_at
            raise AlreadyDecided(str(found.id), found.decision.answer, stamp(at) if at else "")
        return found
    fitting = _open_like(tx, ulid)
    if not fitting:
        raise NotFound("open review", shorten(text))
    if len(fitting) > 1:
        raise BadInput(ambiguous(text, [str(r.id) for r in fitting]), field="id")
    return fitting[0]


def _open_like(tx: Tx, ulid: str) -> list[Review]:
    wanted = f"rev-{ulid}"
    return [r for r in reviews.waiting(tx, _ALL) if str(r.id).startswith(wanted)]


def _open_review_of(tx: Tx, task_id: TaskId) -> Review:
    asked = reviews.of_task(tx, task_id)
    waiting = [review for review in asked if review.decision is None]
    if len(waiting) == 1:
        return waiting[0]
    if waiting:
        ids = ", ".join(str(review.id) for review in waiting)
        raise BadInput(f"Task {task_id} asks ambiguous things; name one: {ids}.", field="id")
    stands = tasks.get(tx, task_id).status
    before = " What it asked was decided before." if asked else ""
    raise Conflict(f"Task {task_id} is {stands}; it asks nothing now.{before}")


def read_file(file: Path | str, field: str, most: int = -1, *, wrong_value: bool = False) -> bytes:
    """Return what a file holds, or the first of it; `-` is stdin.

    A missing one is not found; with `wrong_value` it is a wrong value of its flag.
    """
    if str(file) == "-":
        return sys.stdin.buffer.read(most)
    try:
        with Path(file).open("rb") as opened:
            return opened.read(most)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not wrong_value:
            raise NotFound("file", str(file)) from None
        raise BadInput(f"{file} cannot be read: {error.strerror}.", field=field) from None


def typed_text(text: str) -> str:
    """Return a text as it was typed; `-` reads it from stdin."""
    return sys.stdin.read() if text == "-" else text


def contacts_of(settings: "Settings") -> "Contacts":
    """Return the contact book of this home, with the channels that it has."""
    from remit.contacts import ChannelName  # noqa: PLC0415
    from remit.contacts.book import FILE, Contacts  # noqa: PLC0415 - few commands need it

    more = (ChannelName(name, each.kind, each.aliases) for name, each in settings.channels.items())
    return Contacts(settings.home / FILE, settings.owner, ("dashboard", *more))
