"""What runs beside the tasks: the logs that are written from the journal."""

import asyncio
from pathlib import Path

from remit.journal.follow import Journal
from remit.journal.scribe import Scribe
from remit.model.event import Event


async def keep_logs(journal: Journal, folder: Path) -> None:
    """Write every event into its task's log, for ever; after a restart, on from where it was."""
    scribe, mark = Scribe(folder), folder / ".written"
    since = _read(mark)
    async for page in journal.pages(since):
        writing = asyncio.create_task(asyncio.to_thread(_write, scribe, mark, page))
        try:
            await asyncio.shield(writing)
        finally:
            # Who is told to stop goes when the page is written: the next keeper may begin at once.
            await writing


def _write(scribe: Scribe, mark: Path, page: list[Event]) -> None:
    scribe.write(page)
    # The mark may lag behind the logs, never run ahead: a line that is there is not written twice.
    mark.write_text(str(page[-1].seq), encoding="utf-8")


def _read(mark: Path) -> int:
    try:
        return int(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0
