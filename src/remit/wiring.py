"""Builds the whole from settings. The only file that knows every concrete class."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Final
from zoneinfo import ZoneInfo

from remit.brain import choose, prompt, scripted
from remit.brain.absent import NoBrain
from remit.brain.budget import Purse, midnight
from remit.brain.choose import Role
from remit.brain.command import CommandTool
from remit.brain.fill import Filling, Paying
from remit.brain.guidelines import FILE, Guidelines
from remit.brain.mcp.shelf import McpShelf
from remit.brain.models import ModelBrain
from remit.brain.score import Scorer
from remit.brain.secret import Secret
from remit.brain.summary import Summariser
from remit.brain.think import Surroundings, Thinker
from remit.brain.tool import kit
from remit.brain.tools import Able, Toolbox
from remit.deliver.bounds import Bounds
from remit.deliver.courier import Courier
from remit.deliver.dashboard import Dashboard
from remit.deliver.ways import Keys, Outfit
from remit.engine.local import LocalEngine
from remit.errors import BadInput
from remit.gate import Known
from remit.intake import recipients
from remit.intake.admit import Intake
from remit.intake.book import FILE as CONTACTS
from remit.intake.book import Contacts
from remit.intake.command_words import CommandReader
from remit.intake.hear import Ear, PlainReader, Reader
from remit.intake.permits import Permits
from remit.intake.zone import owners
from remit.journal.follow import Journal
from remit.model.delivery import Keeps
from remit.model.ids import Ids
from remit.model.status import Reason
from remit.model.undo import Undo
from remit.owner import Owner
from remit.plan.draft import Planner
from remit.ports import Brain, Channel, Clock
from remit.recall.session import Recall
from remit.review.inbox import Inbox
from remit.run import Rooms
from remit.settings import Engine, Settings
from remit.store import home, permissions, sessions
from remit.store.database import Database
from remit.store.redact import Redactor
from remit.store.secrets import Secrets, machine_ring
from remit.store.sqlite import Sqlite
from remit.trigger.repeat import Repeater
from remit.verify.text import CHECKS
from remit.verify.verdict import Verifier

_SECRET: Final = 8  # characters; what is shorter cannot be told from any other word


# The channels that every house has.
CHANNELS: Final[Mapping[str, Channel]] = {"dashboard": Dashboard()}


class WallClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the one place where time comes from

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class House:
    """Everything, put together."""

    settings: Settings
    db: Database
    clock: Clock
    ids: Ids
    journal: Journal
    intake: Intake
    inbox: Inbox
    owner: Owner
    permits: Permits
    engine: LocalEngine
    tools: Toolbox
    repeater: Repeater
    outfit: Outfit  # the channels of the settings
    hide: Redactor  # takes every secret out of what is logged
    thinks: bool  # whether there is a brain that can be asked


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    clock: Clock | None = None,
    brain: Brain | None = None,
    channels: Mapping[str, Channel] | None = None,
    able: Sequence[Able] = (),
) -> AsyncIterator[House]:
    """Hold the directory, open the store and build the rooms; the engine is not started."""
    clock = clock or WallClock()
    async with AsyncExitStack() as stack:
        stack.enter_context(home.lock(settings.home))
        await asyncio.to_thread(home.prepare, settings.database)
        brain = brain or brain_of(settings)
        if isinstance(brain, ModelBrain):
            stack.push_async_callback(brain.close)
        db = Sqlite(settings.database)
        stack.push_async_callback(db.close)
        house = _build(settings, db, clock, brain, channels or {}, able)
        stack.push_async_callback(house.outfit.close)
        stack.push_async_callback(house.tools.close)
        stack.push_async_callback(house.repeater.stop)
        yield house


async def start(house: House) -> None:
    """Go to work. What waited for a brain goes on by itself once there is one."""
    if house.thinks:
        await house.inbox.grant(Reason.AUTH, "a brain is there now")
    # Whoever put an account right starts anew; one that is still locked is asked about again.
    for name in house.outfit.channels:
        await house.inbox.grant(Reason.AUTH, "Remit was started again", f"channel:{name}")
    # What was missed is settled before the engine runs what is due.
    await house.repeater.start()
    await house.engine.start()


@dataclass(frozen=True, slots=True)
class _Ground:
    """What everything else stands on."""

    settings: Settings
    db: Database
    clock: Clock
    brain: Brain
    channels: Mapping[str, Channel]
    zone: ZoneInfo
    purse: Purse
    known: Collection[str]  # every secret there is: none of them may ever go out
    redact: Callable[[str], str]

    def mind(self, role: Role) -> ModelBrain | None:
        """The model for a role, if there is one."""
        mind = self.brain.as_role(role) if isinstance(self.brain, ModelBrain) else None
        return mind if mind is not None and mind.ready else None


def _build(
    settings: Settings,
    db: Database,
    clock: Clock,
    brain: Brain,
    more: Mapping[str, Channel],
    able: Sequence[Able] = (),
) -> House:
    ids = Ids(clock.now, secrets.randbits)
    zone = owners(settings.zone, os.environ).zone
    purse = Purse(db, clock, settings.budget, midnight(zone))
    keys = _keys(settings)
    fitted = _fitted(keys, db, clock)
    channels = {**CHANNELS, **fitted.channels, **more}
    redact = _redacting(keys)
    ground = _Ground(settings, db, clock, brain, channels, zone, purse, keys.seen, redact)
    contacts = Contacts(settings.home / CONTACTS, settings.owner, _called(ground, fitted))
    ear = Ear(db, clock, ids, contacts, zone, _reader(ground))
    intake = Intake(db, clock, ids, ground.channels, ear, contacts.meant)
    own: list[Able] = [*_commands(settings)]
    own += kit.own(settings.tools, db, intake.admit, settings.work)
    tools = Toolbox([*own, *able], _shelves(settings, clock), redact)
    return House(
        settings=settings,
        db=db,
        clock=clock,
        ids=ids,
        journal=Journal(db),
        intake=intake,
        inbox=Inbox(db, clock, ear.settling, _undo(ground)),
        owner=Owner(db, clock),
        permits=Permits(contacts, db, clock),
        engine=LocalEngine(db, clock, ids, _rooms(ground, tools, contacts), _patient(settings)),
        tools=tools,
        repeater=Repeater(db, clock, ids),
        outfit=fitted,
        hide=keys.kept.hide,
        thinks=brain.ready if isinstance(brain, ModelBrain) else not isinstance(brain, NoBrain),
    )


def _fitted(keys: Keys, db: Database, clock: Clock) -> Outfit:
    """The channels of the settings."""
    if not keys.chosen:
        return Outfit()
    from remit.deliver import outfit  # noqa: PLC0415 - loads what speaks HTTP, SMTP and IMAP

    return outfit.fit(keys, db, clock)


def _rooms(ground: _Ground, tools: Toolbox, contacts: Contacts) -> Rooms:
    db = ground.db
    return Rooms(
        planner=Planner(_scorer(ground)),
        recall=Recall(db, summarise=_summariser(ground), zone=ground.zone),
        thinker=Thinker(
            ground.brain,
            ground.channels,
            _around(ground, contacts),
            tools=tools,
            states=lambda runs: db.read(sessions.states, runs),
            purse=ground.purse,
        ),
        verifier=Verifier(CHECKS),
        courier=Courier(ground.channels, now=ground.clock.now, bounds=_bounds(ground, contacts)),
        known=Known(secrets=ground.known, echoes=_echoes(ground.channels)),
        tools=tools,
    )


def _called(ground: _Ground, fitted: Outfit) -> list[recipients.Channel]:
    """Every channel as the owner may call it: by its name, its kind, or a word of his own."""
    known = {way.name: recipients.Channel(way.name, way.kind, way.aliases) for way in fitted.ways}
    return [known.get(name, recipients.Channel(name, name)) for name in ground.channels]


def _bounds(ground: _Ground, contacts: Contacts) -> Bounds:
    """What the owner and the operator let the courier do."""
    db, deliver = ground.db, ground.settings.deliver
    return Bounds(
        people=contacts,
        standing=lambda channel: db.read(permissions.on, channel),
        sent=lambda delivery, since: db.read(permissions.sent_since, delivery, since),
        now=ground.clock.now,
        zone=ground.zone,
        quiet=deliver.quiet_hours,
        daily_cap=deliver.daily_cap,
        undo=deliver.undo,
    )


def _undo(ground: _Ground) -> Undo:
    """How long an approval can be called back; what stays in the house need not wait."""
    stays = (name for name, each in ground.channels.items() if each.keeps is Keeps.TRANSACTION)
    return Undo(ground.settings.deliver.undo, tuple(stays))


def _reader(ground: _Ground) -> Reader:
    """Who reads a message: the rules, and a model beside them if there is one."""
    reader: Reader = PlainReader()
    if (mind := ground.mind(Role.EXTRACT)) is not None:
        from remit.intake.propose import CheckedReader  # noqa: PLC0415 - loads a library of forms

        reader = CheckedReader(Filling(Paying(mind, ground.purse, ground.clock)))
    return CommandReader(reader, ground.settings.commands)


def _scorer(ground: _Ground) -> Scorer | None:
    """Who says how urgent a task is, if the owner wants that to be asked."""
    if not ground.settings.priority.score or not isinstance(ground.brain, ModelBrain):
        return None
    mind = ground.brain.as_role(Role.SCORE)
    return Scorer(mind, ground.db, ground.clock, ground.purse)


def _summariser(ground: _Ground) -> Summariser | None:
    """Who sums up what older runs came to; where no model does, code does."""
    mind = ground.mind(Role.SUMMARISE)
    return Summariser(Paying(mind, ground.purse, ground.clock)) if mind else None


def brain_of(settings: Settings) -> Brain:
    """The brain that the settings name."""
    match settings.brain.kind:
        case "none":
            return NoBrain()
        case "scripted":
            return scripted.load(settings.home / settings.brain.script)
        case "auto" | "model":
            return ModelBrain(choose.found(os.environ, settings.brain))
        case "local":
            return _local(settings)
        case other:
            sentence = f"[brain] kind is {other!r}; it may be auto, model, local, none or scripted."
            raise BadInput(sentence, field="kind")


def _local(settings: Settings) -> ModelBrain:
    from remit.brain import local, weights  # noqa: PLC0415 - for the few who have one

    choice = local.found(settings.models, settings.brain)
    key = secrets.token_urlsafe(32)
    threads = min(settings.brain.threads, os.cpu_count() or 1)
    line = local.LocalLine(settings.models, weights.QWEN, choice.limits, key=key, threads=threads)
    return ModelBrain(choice, dial=line.dial)


def _patient(settings: Settings) -> Engine:
    """A local model thinks for one at a time; to wait for one's turn is not to be stuck."""
    engine, brain = settings.engine, settings.brain
    if brain.kind != "local":
        return engine
    return replace(engine, step_limit=max(engine.step_limit, brain.time_limit * engine.parallel))


def _around(ground: _Ground, contacts: Contacts) -> Surroundings:
    settings, clock, zone = ground.settings, ground.clock, ground.zone
    guidelines = Guidelines(settings.home / FILE)
    return Surroundings(
        _who(settings),
        lambda: clock.now().astimezone(zone),
        guidelines,
        ground.redact,
        lambda: _reachable(contacts),
    )


def _reachable(contacts: Contacts) -> tuple[prompt.Reachable, ...]:
    """Who is reached by which channel, by name."""
    try:
        book = contacts.book()
    except BadInput:
        return ()  # whoever has to be found in it is asked about
    return tuple(
        prompt.Reachable(
            way.name, way.kind, tuple(p.name for p in book.contacts if way.name in p.channels)
        )
        for way in book.channels
    )


def _echoes(channels: Mapping[str, Channel]) -> tuple[str, ...]:
    """What a brain is told and no deliverable may repeat."""
    return (*prompt.FIXED, *(channel.guidance for channel in channels.values()))


def _commands(settings: Settings) -> list[CommandTool]:
    """What the owner may have run by its name; a step's own limit comes last."""
    return [
        CommandTool(
            name,
            command,
            work=settings.work,
            environ=os.environ,
            limit=settings.engine.step_limit * 0.95,
        )
        for name, command in settings.commands.items()
    ]


def _shelves(settings: Settings, clock: Clock) -> list[McpShelf]:
    """The servers of the settings; none is started before it is needed."""
    folder = settings.home / "mcp"
    return [
        McpShelf(name, chosen, folder=folder, environ=os.environ, clock=clock)
        for name, chosen in settings.mcp.items()
    ]


def _redacting(keys: Keys) -> Callable[[str], str]:
    """Takes every secret that this process knows out of a text, one that was renewed as well."""
    hidden = [Secret(value) for value in keys.seen if len(value) >= _SECRET]
    hide = keys.kept.hide.known
    return lambda text: reduce(lambda said, secret: secret.scrub(said), hidden, hide(text))


def _who(settings: Settings) -> str:
    owner = "your owner" if settings.owner == "you" else settings.owner
    return f"You are {settings.agent}, and you work for {owner}."


def _keys(settings: Settings) -> Keys:
    """What names of secrets stand for; all that there are now are known from the start."""
    ring = machine_ring() if settings.channels else None  # it loads slowly
    keys = Keys(Secrets(settings.home, ring), os.environ, settings.channels)
    keys.learn(_secrets(os.environ))
    keys.learn_all()
    return keys


def _secrets(environ: Mapping[str, str]) -> frozenset[str]:
    """Every key and token that this process knows: none of them may ever go out."""
    ends = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
    return frozenset(value for name, value in environ.items() if name.endswith(ends) and value)
