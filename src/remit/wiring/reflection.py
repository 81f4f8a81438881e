"""Wires reflection (records, schedule, reverts) and the owner's priority rules.

The rules are in a file that may change at any time; while it is wrong, the last good ones apply.
"""

import asyncio
import logging
from collections.abc import Collection
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Final

from remit.brain import outside
from remit.brain.choose import ModelRole
from remit.brain.models import ModelBrain
from remit.brain.think import NoBrain
from remit.brain.tools import Toolbox
from remit.contacts.book import Contacts
from remit.errors import BadInput
from remit.journal.follow import GATHER_SECONDS
from remit.model.likeness import REFLECT, FileVersion, LessonFile
from remit.model.recurrence import Repeats
from remit.model.reply import Prompt
from remit.model.run import EventKind
from remit.model.status import TERMINAL
from remit.model.task import Creator, Cue, Priority, Source, SourceKind, Task
from remit.plan import priority, rank_task
from remit.plan.priority import MAX_CHARS, PriorityRules
from remit.ports import Brain
from remit.reflect import Asks, Rank, ReflectionContext, Reflector, sender_domain
from remit.reflect.harvest import FOLDER, ReflectionCollector
from remit.reflect.statistics import DAYS, MIN_CASES
from remit.reflect.versions import LessonVersions
from remit.settings import parts
from remit.store import reflections
from remit.system.files import FileStamp, file_stamp
from remit.wiring.app_context import Admit, AppContext
from remit.wiring.brain_parts import think_for

LOOP: Final = "learning records"
TITLE: Final = "Look back, and propose what to do better"
_WHAT: Final = (
    "Look at how the tasks of late ended, and propose changes of rules/priority.yml and "
    "guidelines.txt. Nothing is changed without your yes."
)
_NIGHTLY: Final = Source(SourceKind.MANUAL, "reflect:nightly")


class ReflectionLoop:
    """All of reflection."""

    def __init__(self, context: AppContext, admit: Admit, tools: Toolbox) -> None:
        home, reflect = context.settings.home, context.settings.reflect
        folder = home / FOLDER
        self._context = context
        self._admit = admit
        self._versions = LessonVersions(home, context.db, context.clock, default_content)
        self.harvest = ReflectionCollector(
            context.db, context.clock, folder, context.zone, reflect.keep
        )
        self._arranged = False  # whether the nightly series was set up
        around = ReflectionContext(
            lambda text: _ranker(context, text),
            lambda: _names(context, tools),
            lambda task: sender_domain(task, _domains(context.contacts)),
            _asks(context),
            lambda: context.clock.now().astimezone(context.zone).date().isoformat(),
        )
        self.mirror = Reflector(context.db, context.clock, self.harvest, self._versions, around)

    async def now(self) -> Task:
        """Start a reflection now, besides the nightly one."""
        return await self._admit(
            Cue(
                source=Source(SourceKind.MANUAL, f"reflect:{self._context.ids.ulid()}"),
                title=TITLE,
                text=_WHAT,
                assigned_agent=REFLECT,
            )
        )

    async def history(self) -> tuple[FileVersion, ...]:
        return await self._versions.history()

    async def revert(self, no: int | None = None, *, force: bool = False) -> FileVersion:
        """Revert a change; the file is as it was before it."""
        return await self._versions.revert(f"revert:{self._context.ids.ulid()}", no, force=force)

    def start(self) -> None:
        """Record every task that ends, from now on."""
        self._context.background.start(LOOP, self._keep)

    async def close(self) -> None:
        await self._context.background.stop(LOOP)

    async def _keep(self) -> None:
        journal = self._context.journal
        while True:
            since = await journal.last()  # what lies before is read from the database
            await self._once()
            async for page in journal.pages(since, gather_seconds=GATHER_SECONDS):
                if any(e.kind is EventKind.TASK_MOVED and e.data["to"] in TERMINAL for e in page):
                    break

    async def _once(self) -> None:
        working = asyncio.create_task(self._caught_up())
        try:
            await asyncio.shield(working)
        finally:
            # A cancelled caller waits until the lines are written: its successor may start at once.
            await working

    async def _caught_up(self) -> None:
        await self.harvest.catch_up()
        await self._nightly()

    async def _nightly(self) -> None:
        """Create the nightly series once there is something to reflect on; pause it if off."""
        context, reflect = self._context, self._context.settings.reflect
        if self._arranged:
            return
        if not reflect.nightly:
            await context.db.write(reflections.pause_series_of, _NIGHTLY, context.clock.now())
            self._arranged = True
        elif len(await self.harvest.recent(DAYS)) >= MIN_CASES:
            await self.begin()
            self._arranged = True

    async def begin(self) -> Task:
        """Create the nightly series; there is only one."""
        context = self._context
        now = context.clock.now().astimezone(context.zone)
        first = _next(now, time.fromisoformat(context.settings.reflect.at)).astimezone(UTC)
        return await self._admit(
            Cue(
                source=_NIGHTLY,
                title=TITLE,
                text=_WHAT,
                repeats=Repeats("FREQ=DAILY", context.zone.key, first),
                scheduled_for=first,
                assigned_agent=REFLECT,
                created_by=Creator.SCHEDULER,
            )
        )


def default_content(file: LessonFile) -> str:
    """Return the default content of a missing file: the built-in rules, or no guideline."""
    return priority.packaged_text() if file is LessonFile.RULES else ""


def _next(now: datetime, at: time) -> datetime:
    """Return the next time the owner's clock shows an hour."""
    today = now.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
    return today if today > now else today + timedelta(days=1)


def _ranker(context: AppContext, text: str) -> Rank:
    found = priority.load_rules(text, parts.PRIORITY)

    def rank(task: Task) -> Priority:
        return rank_task(task, found, context.zone).priority

    return rank


def _names(context: AppContext, tools: Toolbox) -> Collection[str]:
    """Return the names a lesson may not mention: people, addresses, channels, tools."""
    settings = context.settings
    named = {*context.channels, *tools.names, *settings.commands, *settings.mcp, *settings.projects}
    for each in context.contacts.known_entries():
        named |= {each.name, *each.name.split(), *each.aliases}
        named |= {line.address for line in each.lines.values()}
    return named


def _domains(contacts: Contacts) -> frozenset[str]:
    """Return the mail domains of the owner's contacts."""
    lines = (line.address for each in contacts.known_entries() for line in each.lines.values())
    return frozenset(each.rpartition("@")[2].casefold() for each in lines if "@" in each)


def _asks(context: AppContext) -> Asks | None:
    """Return the model to ask for lessons, if wanted; its cost is the task's."""
    brain: Brain | None = context.brain
    if isinstance(brain, ModelBrain):
        brain = context.mind(ModelRole.SUMMARISE)
    if not context.settings.reflect.model or brain is None or isinstance(brain, NoBrain):
        return None
    mind = brain

    async def ask(task: Task, words: str, text: str) -> str | None:
        prompt = Prompt(outside.mark(text, "finished tasks"), words)
        reply = await think_for(task, context, mind, prompt, f"reflect:{task.id}")
        return None if reply.ask or reply.flaw or reply.calls else reply.text

    return ask


_LOG: Final = logging.getLogger("remit.priority")


class PriorityFile:
    """Rereads the file when it changes; while it is wrong, the last good rules apply.

    Without a good file the built-in rules apply.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / parts.PRIORITY
        self._seen: FileStamp | None = None
        self._rules = priority.default_rules()
        self._complaint: str | None = None

    def __call__(self) -> PriorityRules:
        stamp = file_stamp(self._path)
        if stamp != self._seen:
            self._look()
            self._seen = stamp
        return self._rules

    @property
    def complaint(self) -> str | None:
        """The error in the current file, if it is not in use."""
        self()
        return self._complaint

    def _look(self) -> None:
        try:
            text = parts.text(self._path, parts.PRIORITY, MAX_CHARS)
            found = None if text is None else priority.load_rules(text, parts.PRIORITY)
            self._rules, self._complaint = found or priority.default_rules(), None
        except BadInput as bad:
            if str(bad) != self._complaint:
                _LOG.warning("%s %s", bad, rules_in_force(self._rules))
            self._complaint = str(bad)


def rules_in_force(good: PriorityRules) -> str:
    """Return which rules apply while a file is wrong."""
    return "The rules from before hold." if good.file else "The rules that come with Remit hold."
