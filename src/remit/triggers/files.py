"""Watches a folder: each new file is a cue, once, by name and content.

Only plain files are read: no links, no subfolders, no hidden or growing files. A file that is no
text is named but not read. A file that is too large or unreadable is reported once, and again only
after it changed. Nothing in the folder is changed.
"""

import asyncio
import errno
import hashlib
import logging
import os
import stat
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit.files.kept_files import KeptFiles
from remit.language import outside_text
from remit.model.codec import JsonMap
from remit.model.delivery import Delivery
from remit.model.task import Creator, Cue, Source, SourceKind, Taint
from remit.model.task_file import ATTACHMENTS, to_context
from remit.ports import Clock
from remit.settings.doors import FolderSettings
from remit.store.cues import Arrival, CueFate, StoredCue
from remit.system.background import Background, LoopGroup

_LOG: Final = logging.getLogger("remit.doors")
_GONE: Final = (errno.ENOENT, errno.ELOOP)  # or it has become a link
_ENDS: Final = (".part", ".partial", ".tmp", ".crdownload", ".swp", "~")
_Stamp: TypeAlias = tuple[int, int, int]


class ArrivedFile(Struct, frozen=True):
    """A complete file: its name, its digest and its text."""

    name: str
    digest: str
    size: int
    text: str
    came_at: datetime | None = None  # when it was last changed
    content: bytes = b""


class RefusedFile(Struct, frozen=True):
    name: str
    size: int
    why: str


class FolderPorts(Struct, frozen=True):
    """Takes a folder's files; `note_left` reports how many a limit keeps out."""

    take: Callable[[Arrival], Awaitable[StoredCue]]
    note_left: Callable[[int], Awaitable[None]]
    kept: KeptFiles | None = None


class FolderWatch(LoopGroup):
    def __init__(
        self,
        name: str,
        folder: FolderSettings,
        ports: FolderPorts,
        clock: Clock,
        background: Background,
    ) -> None:
        super().__init__(background, {f"folder:{name}": self._watch_on})
        self._name = name
        self._kept = ports.kept
        self._folder = folder
        self._take = ports.take
        self._note_left = ports.note_left
        self._left: int | None = None  # files that a limit keeps out, at the last look
        self._clock = clock
        self._seen: dict[str, _Stamp] = {}  # each file at the last look
        self._taken: dict[str, _Stamp] = {}
        self._why = ""

    async def look(self) -> int:
        """Take in every file unchanged since the last look; return how many were new."""
        rested = await asyncio.to_thread(self._files_at_rest)
        new = left = 0
        for name, stamp in rested:
            found = await asyncio.to_thread(opened, self._folder, name)
            if found is None:
                continue
            if isinstance(found, RefusedFile):
                await self._refuse(found, stamp)
                continue
            kept = await self._take(await asyncio.to_thread(self._arrival, found))
            if kept.stored:  # a file over a limit is tried again
                self._taken[name] = stamp
                new += 1
            else:
                left += 1
        if left != self._left:
            await self._note_left(left)
            self._left = left
        return new

    def _arrival(self, found: ArrivedFile) -> Arrival:
        """Make the arrival of a file, whose content is kept first."""
        message = arrival(self._name, found)
        if self._kept is None or not found.content:
            return message
        taint = Taint.OWNER if self._folder.trusted else Taint.PUBLIC
        file = self._kept.keep_incoming(found.name, found.content, taint.value)
        return replace(message, body=message.body | {ATTACHMENTS: [to_context(file)]})

    async def _refuse(self, found: RefusedFile, stamp: _Stamp) -> None:
        """Report a refused file among the arrivals; it is not opened again unless it changes."""
        await self._take(refusal(self._name, found, stamp))
        _LOG.warning("The folder %s: %r is left out: %s.", self._name, found.name, found.why)
        self._taken[found.name] = stamp

    async def _watch_on(self) -> None:
        while True:
            try:
                await self.look()
                self._why = ""
            except OSError as error:  # it may be back at the next look
                if (why := f"{type(error).__name__}: {error}") != self._why:
                    _LOG.warning("The folder %s cannot be read: %s", self._name, why)
                self._why = why
            await self._clock.sleep(self._folder.poll)

    def _files_at_rest(self) -> list[tuple[str, _Stamp]]:
        """Return the files that did not change since the last look and were not taken yet."""
        now = dict(_list_files(Path(self._folder.path)))
        before, self._seen = self._seen, now
        self._taken = {name: stamp for name, stamp in self._taken.items() if name in now}
        return [
            (name, stamp)
            for name, stamp in sorted(now.items())
            if before.get(name) == stamp and self._taken.get(name) != stamp
        ]


def opened(folder: FolderSettings, name: str) -> ArrivedFile | RefusedFile | None:
    """Return a file's content, or why it is refused; None if it is gone."""
    try:
        file = os.open(Path(folder.path) / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        gone = error.errno in _GONE
        return None if gone else RefusedFile(name, 0, f"it cannot be read ({error.strerror})")
    seen = os.fstat(file)
    if not stat.S_ISREG(seen.st_mode):
        os.close(file)
        return None
    with os.fdopen(file, "rb") as content:
        raw = content.read(folder.largest + 1) if seen.st_size <= folder.largest else b""
    size = max(seen.st_size, len(raw))
    if size > folder.largest:
        why = f"it has {size:,} bytes, and largest of this folder is {folder.largest:,}"
        return RefusedFile(name, size, why)
    came_at = datetime.fromtimestamp(seen.st_ctime, UTC)
    return ArrivedFile(name, hashlib.sha256(raw).hexdigest(), len(raw), _text(raw), came_at, raw)


def arrival(name: str, found: ArrivedFile) -> Arrival:
    body: JsonMap = {
        "kind": "file",
        "name": outside_text.one_line(found.name, 255),
        "digest": found.digest,
        "size": found.size,
        "text": found.text,
    }
    whose = hashlib.sha256(os.fsencode(found.name)).hexdigest()[:12]
    ref = f"folder:{name} {whose} {found.digest}"
    return Arrival(ref=ref, door=f"folder:{name}", body=body, said_at=found.came_at)


def refusal(name: str, found: RefusedFile, stamp: _Stamp) -> Arrival:
    """Make the arrival of a refused file, which starts nothing."""
    body: JsonMap = {
        "kind": "file",
        "name": outside_text.one_line(found.name, 255),
        "size": found.size,
        "text": f"[Not read: {found.why}.]",
    }
    whose = hashlib.sha256(os.fsencode(found.name)).hexdigest()[:12]
    ref = f"folder:{name} {whose} refused {'-'.join(map(str, stamp))}"
    return Arrival(ref=ref, door=f"folder:{name}", body=body, fate=CueFate.IGNORED, why=found.why)


def cue(kept: StoredCue, folder: FolderSettings) -> Cue:
    """Make the cue of a file: the owner's text; the content is trusted only in a trusted folder."""
    body, text = kept.body, str(kept.body.get("text") or "")
    context: JsonMap = {"file": body.get("name"), "sha256": body.get("digest")}
    if body.get(ATTACHMENTS):
        context[ATTACHMENTS] = body[ATTACHMENTS]
    if not folder.trusted:
        context["outside"] = text
    return Cue(
        source=Source(SourceKind.MANUAL, kept.ref),
        title=outside_text.title(str(body.get("name") or ""), "A file"),
        text=f"{folder.text}\n\n{text}" if folder.trusted else folder.text,
        delivery=(Delivery("dashboard"),),
        context=context,
        created_by=Creator.SCHEDULER,
        taint=Taint.OWNER if folder.trusted else Taint.PUBLIC,
    )


def _list_files(path: Path) -> Iterator[tuple[str, _Stamp]]:
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name.endswith(_ENDS):
                continue
            if entry.is_file(follow_symlinks=False):
                now = entry.stat(follow_symlinks=False)
                yield entry.name, (now.st_mtime_ns, now.st_size, now.st_ino)


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    if "\0" in text or not text.strip():
        return f"[No text: {len(raw):,} bytes.]"
    return outside_text.bound_text(text)
