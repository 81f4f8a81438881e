"""Makes cues from commands, and admits cues: stores each, starts it, and records the result.

An interrupted cue is started again at the next start, with the same result: a task is known by its
source, a turn by its key.
"""

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import BadInput, NotFound, StoreTrouble, UnknownName
from remit.model.codec import Json, JsonMap
from remit.model.contract import WorkItem
from remit.model.deferred import PRD, document_of
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.reply import PROJECT
from remit.model.task import Cue, Priority, Source, SourceKind
from remit.ports import Clock
from remit.store import cues
from remit.store.cues import Arrival, CueFate, InboundCaps, StoredCue
from remit.store.database import Database

_LOG: Final = logging.getLogger("remit.doors")
_MOST: Final = 2000  # latest cues searched by name


class StartedCue(Struct, frozen=True):
    fate: CueFate
    task_id: TaskId | None = None
    why: str = ""


Begin: TypeAlias = Callable[[StoredCue], Awaitable[StartedCue]]


class CueAdmission:
    """Admits cues by the rules of each door; `begins` says what a door makes of one."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        begins: Mapping[str, Begin],
        day: Callable[[datetime], datetime],
    ) -> None:
        self._db = db
        self._clock = clock
        self._begins = begins
        self._day = day

    async def take(self, arrival: Arrival, caps: InboundCaps) -> StoredCue:
        """Store an arrival durably and start it if allowed; a repeat is the same cue."""
        now = self._clock.now()
        kept = await self._db.write(cues.come, arrival, caps, now, self._day(now))
        return await self._begin(kept) if kept.fate is CueFate.WAITING else kept

    async def start(self, name: str) -> StoredCue:
        """Start a stored cue that started nothing, because the owner says so."""
        found = await self._db.read(cues.latest, _MOST)
        kept = next((each for each in found if each.name == name), None)
        if kept is None:
            raise NotFound("cue", f"{name!r:.40}; `remit doors came` lists them")
        if kept.fate in (CueFate.STARTED, CueFate.TALKED):
            return kept
        return await self._begin(kept)

    async def take_up(self) -> None:
        """Start the cues that were stored but not started before an interruption."""
        for kept in await self._db.read(cues.waiting):
            try:
                await self._begin(kept)
            except StoreTrouble:
                return
            except Exception:  # noqa: BLE001 - one that breaks must not keep the others waiting
                _LOG.exception("What came by %s could not be begun.", kept.door)

    async def _begin(self, kept: StoredCue) -> StoredCue:
        begin = self._begins.get(kept.door)
        if begin is None:
            begun = StartedCue(CueFate.IGNORED, why="there is no such door any more")
        else:
            try:
                begun = await begin(kept)
            except BadInput as bad:
                begun = StartedCue(CueFate.IGNORED, why=str(bad))
        return await self._db.write(cues.settle, kept.ref, begun.fate, begun.task_id, begun.why)


MOST_FILES: Final = 1_000
_LONGEST: Final = 500  # characters of a path


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
    """Make a cue of what the owner typed; by default the result goes to the dashboard."""
    title, _, _ = text.strip().partition("\n")
    return Cue(
        source=Source(SourceKind.MANUAL, ref),
        title=title if len(title) <= 120 else title[:117] + "...",  # noqa: PLR2004
        text=text.strip(),
        work=tuple(WorkItem(line) for line in work),
        delivery=(Delivery(channel, recipient, content),),
        scheduled_for=scheduled_for,
        priority=priority,
    )


def on_project(
    cue: Cue,
    name: str,
    known: Collection[str],
    files: Sequence[str] = (),
    *,
    prd: str | bool = False,
) -> Cue:
    """Return the cue as work on a project; `files` are those likely to change.

    `prd` names the requirements document it is a story of, as `docs/prd.md#US-1`. An unknown
    project, or a cue that is no project work, is refused with a sentence.
    """
    if name not in known:
        there = ", ".join(sorted(known)) or "none; name one as [projects.NAME] in settings.toml"
        raise UnknownName(f"There is no project {name!r:.60}; there is {there}.", field="project")
    if cue.delivery and all(each.content is not None for each in cue.delivery):
        sentence = "A text that is sent as it is, is no work on a project; leave out the one or"
        raise BadInput(f"{sentence} the other.", field="project")
    context: JsonMap = dict(cue.context)
    if named := list[Json](_paths(files)):
        context["files"] = named
    if prd is not False:
        context[PRD] = prd if prd is True else _document(prd)
    return replace(cue, assigned_agent=f"{PROJECT}{name}", context=context)


def _document(text: str) -> str:
    if not document_of(text) or len(text) > _LONGEST:
        sentence = f"{text!r:.80} names no requirements document; say one as docs/prd.md#US-1."
        raise BadInput(sentence, field="prd")
    return text.strip()


def _paths(files: Sequence[str]) -> list[str]:
    """Return each path once; paths are relative to the project."""
    found = list(dict.fromkeys(each.strip() for each in files if each.strip()))
    if len(found) > MOST_FILES:
        sentence = f"{len(found):,} files are named; {MOST_FILES:,} are read."
        raise BadInput(sentence, field="files")
    for path in found:
        if len(path) > _LONGEST or path.startswith(("/", "~")) or ".." in path.split("/"):
            sentence = f"{path!r:.80} is no path inside a project; say it as src/app.py."
            raise BadInput(sentence, field="files")
    return found
