"""Background loops of the engine: task logs written from the journal."""

from pathlib import Path

from remit.journal.follow import GATHER_SECONDS, Journal
from remit.journal.scribe import TaskLogWriter
from remit.journal.whole import whole
from remit.model.event import Event
from remit.system.files import write_atomic


async def keep_logs(journal: Journal, folder: Path) -> None:
    """Write every event into its task's log until the journal ends; continues from a mark."""
    scribe, mark = TaskLogWriter(folder), folder / ".written"
    since = _read(mark)
    async for page in journal.pages(since, ends=True, gather_seconds=GATHER_SECONDS):
        await whole(_write, scribe, mark, page)


def _write(scribe: TaskLogWriter, mark: Path, page: list[Event]) -> None:
    scribe.write(page)
    mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # there may be no log yet
    # The mark may lag behind the logs but not run ahead; existing lines are not written twice.
    write_atomic(mark, str(page[-1].seq), durable=False)


def _read(mark: Path) -> int:
    try:
        return int(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0
