"""Looks for a change before a model is woken: at a page, a command, a folder or a calendar.

A watch is a limit of a task: its target, and perhaps which part of it counts (a regular expression,
or a JSON pointer that begins with a slash). The digest of each look is kept with its run; a run
whose look equals that of the last completed run ends at once. A look that fails is an error of the
run, never "unchanged".
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from remit.errors import BadInput, Permanent, Transient, UnknownName
from remit.model.codec import Json
from remit.model.recurrence import WatchKind, WatchLook, watch_kind
from remit.model.task import Task
from remit.model.veto import Condition, ConditionKind
from remit.settings import WebSettings
from remit.store import calendars, runs
from remit.store.database import Database

MAX_TARGET_CHARACTERS: Final = 2_000
MAX_PATTERN_CHARACTERS: Final = 500
_MAX_SHOWN_CHARACTERS: Final = 120
_MAX_FILES: Final = 20_000

RunCommand: TypeAlias = Callable[[], Awaitable[bytes]]


def new_watch(target: str, part: str, commands: Mapping[str, object]) -> Condition:
    """Return a watch as a limit of a task, or say what is wrong with it."""
    target, part = target.strip(), part.strip()
    if not target or len(target) > MAX_TARGET_CHARACTERS or not target.isprintable():
        raise BadInput("watch must be one line of at most 2,000 characters.", field="watch")
    kind, rest = watch_kind(target)
    if kind is None:
        sentence = (
            f"watch is {target!r:.80}; it may be an address (https://…), command:NAME, "
            "folder:/full/path or calendar:NAME."
        )
        raise BadInput(sentence, field="watch")
    if kind is WatchKind.COMMAND and rest not in commands:
        known = ", ".join(commands) or "none"
        sentence = f"There is no command {rest!r:.60} in the settings; there is {known}."
        raise UnknownName(sentence, field="watch")
    if kind is WatchKind.FOLDER and not Path(rest).is_absolute():
        raise BadInput("A watched folder must be a full path.", field="watch")
    _check_part(part)
    return Condition(ConditionKind.WATCH, target, pattern=part)


def _check_part(part: str) -> None:
    if len(part) > MAX_PATTERN_CHARACTERS:
        raise BadInput("watchFor has more than 500 characters.", field="watchFor")
    import re2  # noqa: PLC0415 - only who watches something needs it

    try:
        re2.compile(part)
    except re2.error as error:
        if not part.startswith("/"):
            raise BadInput(f"watchFor is no pattern: {error}.", field="watchFor") from None


class ChangeWatcher:
    """Looks at what a task watches."""

    def __init__(self, db: Database, web: WebSettings, commands: Mapping[str, RunCommand]) -> None:
        self._db = db
        self._web = web
        self._commands = commands

    async def look(self, task: Task) -> WatchLook:
        """Return the digest of what is there now, and that of the last completed run."""
        watch = task.watch
        assert watch is not None  # noqa: S101 - who calls has looked
        value = part_of(await self._content(watch.words), watch.pattern)
        whole = f"{watch.words}\x1f{watch.pattern}\x1f{value}"
        digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
        before = await self._db.read(runs.last_look, task)
        shown = " ".join(value.split())[:_MAX_SHOWN_CHARACTERS] if watch.pattern else ""
        return WatchLook(digest, before, shown)

    async def _content(self, target: str) -> str:
        kind, rest = watch_kind(target)
        match kind:
            case WatchKind.URL:
                return await self._page(rest)
            case WatchKind.COMMAND:
                return await self._output(rest)
            case WatchKind.FOLDER:
                return await asyncio.to_thread(_files, rest)
            case WatchKind.CALENDAR:
                return await self._calendar(rest)
            case None:
                raise Permanent(f"Nothing can be watched at {target!r:.80}.")

    async def _page(self, url: str) -> str:
        from remit.system import web  # noqa: PLC0415 - the HTTP library, for those who watch pages

        chosen = self._web
        limits = web.WebLimits(chosen.seconds, chosen.page_bytes, chosen.own_hosts)
        page = await web.read_page(url, limits)
        if isinstance(page, web.WebFailure):
            failed = Permanent if page.is_refused else Transient
            raise failed(f"The watched page {url} could not be read. {page.why}")
        return page.text

    async def _output(self, name: str) -> str:
        if name not in self._commands:
            raise Permanent(f"The watched command {name!r:.60} is not in the settings any more.")
        return (await self._commands[name]()).decode("utf-8", "replace")

    async def _calendar(self, name: str) -> str:
        found = await self._db.read(calendars.fingerprint, name)
        if found is None:
            raise Permanent(unknown_calendar(name))
        return found


def unknown_calendar(name: str) -> str:
    return f"Remit reads no calendar {name!r:.60}; `remit calendar` lists them."


def part_of(content: str, pattern: str) -> str:
    """Return the part that counts: a JSON pointer's value, a pattern's match, or everything."""
    if not pattern:
        return content
    if pattern.startswith("/") and content.lstrip()[:1] in ("{", "["):
        try:
            return json.dumps(_follow_pointer(json.loads(content), pattern), sort_keys=True)
        except (ValueError, RecursionError):
            return ""
    import re2  # noqa: PLC0415 - as above

    found = re2.search(pattern, content)
    if found is None:
        return ""
    return str(found.group(1) if found.groups() else found.group(0))


def _follow_pointer(value: Json, pointer: str) -> Json:
    """Return what a JSON pointer (RFC 6901) points at; None if there is nothing."""
    for name in pointer.split("/")[1:]:
        key = name.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _files(folder: str) -> str:
    """Return the names, sizes and times of all files below a folder; no link is followed."""
    lines: list[str] = []
    try:
        for line in _walk(folder):
            lines.append(line)
            if len(lines) > _MAX_FILES:
                raise Permanent(f"The watched folder {folder} has more than {_MAX_FILES:,} files.")
    except OSError as error:
        raise Transient(f"The watched folder {folder} cannot be read: {error.strerror}.") from None
    return "\n".join(sorted(lines))


def _walk(folder: str) -> Iterator[str]:
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path)
            else:
                about = entry.stat(follow_symlinks=False)
                yield f"{entry.path} {about.st_size} {about.st_mtime_ns}"
