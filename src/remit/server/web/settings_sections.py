"""The parts of the settings page: brain, channels, inbound ways, rules, tools and health."""

import asyncio
import os
import platform
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit import __version__
from remit.brain.choose import NOTHING_THINKS, ModelRole
from remit.channels.registry import ChannelState
from remit.errors import NotFound, RemitError
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import TaskId
from remit.model.review import Review
from remit.model.task import Task
from remit.server.call import Call
from remit.server.page_language import say
from remit.server.reads import channel_states_of
from remit.server.web import task_sections
from remit.settings import Settings
from remit.settings.channels import ChannelSettings
from remit.settings.parts import PRIORITY
from remit.specialist import specialist_health
from remit.specialist.specialist_health import SpecialistHealth
from remit.store import cues, events, home, permissions, read_only, reviews
from remit.store import tasks as stored
from remit.store.database import Tx
from remit.store.postgres import legs, machines
from remit.store.queue import CODE
from remit.system.background import Background
from remit.wiring.proof import known_kinds
from remit.wiring.readers import model_choice

_DAY: Final = timedelta(days=1)


async def door_sentences(call: Call) -> list[str]:
    """Return a sentence for each configured inbound way."""
    settings = call.app.doors.settings
    doors = [f"hook:{name}" for name in settings.hooks]
    doors += [*settings.doors, *(f"folder:{name}" for name in settings.folders)]
    if not doors:
        return []
    tally = await call.app.db.read(cues.tally, call.app.clock.now() - _DAY)
    return [_sentence(door.replace(":", " "), tally.get(door, {})) for door in doors]


def _sentence(door: str, fates: dict[cues.CueFate, int]) -> str:
    parts = ", ".join(f"{count:,} {fate.value}" for fate, count in fates.items())
    return f"{door}: {parts} in a day" if parts else f"{door}: nothing came in a day"


FILE: Final = "settings.toml"


class SettingRow(Struct, frozen=True):
    """A setting from the file: its name, its value, and where to change it."""

    label: str
    value: str
    where: str = ""  # the table of settings.toml


class BrainSection(Struct, frozen=True):
    """The brain in a sentence, and the model of each role."""

    ready: bool
    sentence: str
    models: tuple[tuple[str, str], ...]


class ChannelSection(Struct, frozen=True, kw_only=True):
    """A channel: what it guarantees, and whether it can be used."""

    name: str
    called: str
    promise: str
    kind: str = "ok"  # its colour
    word: str = "Ready"
    mark: str = "done"
    said: str = ""
    todo: str = ""
    aliases: tuple[str, ...] = ()
    off: bool = False
    own: bool = False  # Remit's own; nothing to test
    signs_in: bool = False  # the owner signs in for it at its provider
    pairs: bool = False  # a chat is connected by a code


class ChannelTestView(Struct, frozen=True):
    """The progress of a channel test."""

    task: Task
    kind: str
    word: str
    mark: str
    said: str
    ended: bool


def brain_section(call: Call, settings: Settings) -> BrainSection:
    """Return what thinks by these settings; the file may be newer than what runs."""
    kind, found = settings.brain.kind, model_choice(settings)
    sentence = {
        "scripted": f"A script answers: {settings.brain.script}.",
        "none": NOTHING_THINKS,
    }.get(kind)
    models = tuple((say(_ROLES[role]), str(model)) for role, model in found.models.items())
    if len({model for _, model in models}) == 1:
        models = ()  # the sentence names it
    if settings.brain.fallback.model:
        models += ((say("Second model"), settings.brain.fallback.model),)
    running = settings == call.app.settings
    ready = call.app.thinks if running else found.ready or kind == "scripted"
    if ready and not found.ready and sentence is None:
        sentence = "A brain from your own code is used."
    return BrainSection(ready, sentence or found.sentence, models)


# Channels -----------------------------------------------------------------------------------------


async def channel_sections(call: Call) -> tuple[ChannelSection, ...]:
    """Return the dashboard first, then the configured channels."""
    off = await call.app.db.read(permissions.channels_off)
    chosen = call.app.settings.channels
    states = await asyncio.to_thread(channel_states_of, call.app, off)
    own = ChannelSection(
        name="dashboard",
        called="Dashboard",
        promise="Exactly once: a message is shown as soon as it is stored.",
        own=True,
    )
    called = task_sections.channel_labels(chosen)
    found = (_way(each, called[name], states[name], off.get(name)) for name, each in chosen.items())
    return own, *(_without_chat(each) if states[each.name].lacks_chat else each for each in found)


def _without_chat(way: ChannelSection) -> ChannelSection:
    text = "No chat is connected with you yet. Show a code, and send it to the bot."
    return replace(way, kind="you", word="No chat yet", mark="you", said=text, todo="")


def _way(
    chosen: ChannelSettings, called: str, state: ChannelState, off: str | None
) -> ChannelSection:
    kind, word, mark = _VERDICTS[state.verdict] if off is None else ("bad", "Switched off", "x")
    sentence = off or (state.said if state.verdict == "fail" else f"It {state.said}.")
    return ChannelSection(
        name=state.name,
        called=called,
        promise=chosen.promise,
        kind=kind,
        word=word,
        mark=mark,
        said=sentence,
        todo="" if off else state.todo,
        aliases=state.aliases,
        off=off is not None,
        signs_in=chosen.sign_in is not None,
        pairs=chosen.pairing_link("") is not None,
    )


def read_channel_test(tx: Tx, task_id: TaskId) -> ChannelTestView:
    """Return the result of a test so far."""
    task = stored.get(tx, task_id)
    if not task.delivery:
        raise NotFound("test of a channel", task.id)
    delivery = task.delivery[0]
    asked = reviews.waiting_of(tx, task.id)
    kind, word, mark, sentence = _test_outcome(delivery, asked, task)
    over = delivery.status is not DeliveryStatus.SENDING and (task.ended or asked is not None)
    return ChannelTestView(task, kind, word, mark, sentence, over)


def _test_outcome(
    delivery: Delivery, asked: Review | None, task: Task
) -> tuple[str, str, str, str]:
    match delivery.status:
        case DeliveryStatus.SENT:
            return "ok", "Sent", "done", f"Taken under the name {delivery.receipt}."
        case DeliveryStatus.REFUSED:
            return "bad", "Refused", "fail", delivery.reason or ""
        case DeliveryStatus.UNKNOWN:
            return "you", "Nobody knows", "ask", delivery.reason or "No answer came."
        case DeliveryStatus.PENDING:
            return _waits(delivery, asked, task)
        case DeliveryStatus.SENDING:
            return _ON_ITS_WAY


def _waits(delivery: Delivery, asked: Review | None, task: Task) -> tuple[str, str, str, str]:
    if asked is not None:
        return "you", "Not sent", "you", asked.question
    if task.ended:
        return "idle", "Not sent", "x", task.result_summary or delivery.reason or ""
    return ("you", "Not sent yet", "clock", delivery.reason) if delivery.reason else _ON_ITS_WAY


# Rules and the rest -------------------------------------------------------------------------------


def tools(settings: Settings) -> tuple[SettingRow, ...]:
    own = [
        SettingRow(name, str(getattr(settings.tools, name)), "tools")
        for name in settings.tools.__struct_fields__
    ]
    commands = [SettingRow(f"run {name}", "allow", "commands") for name in settings.commands]
    servers = [
        SettingRow(f"tools of {name}", f"{server.policy}", f"mcp.{name}")
        for name, server in settings.mcp.items()
    ]
    return (*own, *commands, *servers)


class HealthFinding(Struct, frozen=True):
    part: str
    said: str
    kind: str = "ok"
    mark: str = "done"
    todo: str = ""
    links: tuple[tuple[str, str], ...] = ()  # what is shown, and where it leads


async def health_findings(call: Call) -> tuple[HealthFinding, ...]:
    """Return the health of this Remit, part by part."""
    app, now = call.app, call.app.clock.now().astimezone(call.app.zone)
    brain = brain_section(call, call.app.settings)
    found = [
        HealthFinding("Version", f"Remit {__version__}, Python {platform.python_version()}"),
        HealthFinding("Store", await app.db.read(_store_sentence, app.settings.database)),
        HealthFinding("Clock", f"{now:%Y-%m-%d %H:%M} in {app.zone.key}"),
        HealthFinding("Brain", brain.sentence, *(() if brain.ready else ("you", "alert"))),
    ]
    for way in (await channel_sections(call))[1:]:
        text = f"{way.name}: {way.said}"
        found.append(
            HealthFinding("Channel", text)
            if way.kind == "ok"
            else HealthFinding("Channel", text, way.kind, way.mark, way.todo)
        )
    found += _loops(app.background, app.hide)
    if app.settings.engine.is_shared:
        found += await _workers(call)
    found += [HealthFinding("Door", sentence) for sentence in await door_sentences(call)]
    try:
        count = len(contacts_of(await app.permits.listed()))
        found.append(HealthFinding("Contacts", f"{count} in contacts.yaml"))
    except RemitError as error:
        found.append(HealthFinding("Contacts", str(error), "bad", "fail", "Fix that line."))
    return tuple(found)


def _store_sentence(tx: Tx, place: Path | str) -> str:
    """Return what the store holds, and which database that is."""
    count = f"{events.last(tx):,} events"
    if isinstance(place, Path):
        return f"{count}, schema {len(home.migrations())}, SQLite {read_only.SQLITE}"
    (server,) = tx.ask("SHOW server_version")
    version = str(server["server_version"])
    return f"{count} in {read_only.location(place)}, Postgres {version}"


def _loops(background: Background, hide: Callable[[str], str]) -> list[HealthFinding]:
    """Return each failing loop; if there is none, the number of loops."""
    failing = [
        f"{loop.name} failed {loop.failures} times in a row: {hide(loop.error)}"
        for loop in background.failing
    ]
    todo = "It is tried again by itself. If it stays so, restart Remit and read its log."
    if failing:
        return [HealthFinding("Background", error, "bad", "fail", todo) for error in failing]
    return [HealthFinding("Background", f"{len(background.states)} loops at work")]


async def _workers(call: Call) -> list[HealthFinding]:
    """Return each worker with its load, what it runs, and when it was last heard of."""
    app, now = call.app, call.app.clock.now()
    alive = await app.db.read(legs.workers, now - legs.ALIVE)
    found = [
        HealthFinding(
            "Worker",
            f"{each.place} on {', '.join(each.queues)} runs {len(each.tasks)} of {each.slots} "
            f"tasks; last heartbeat {max(0, (now - each.beat_at).total_seconds()):.0f} s ago. "
            f"Duties: {', '.join(each.duties) or 'none'}.",
            links=tuple((task, f"/tasks/{task}") for task in each.tasks),
        )
        for each in alive
    ]
    engine = app.settings.engine
    if not any(f"{engine.task_queue}-{CODE}" in each.queues for each in alive):
        todo = "Start one on a machine with the repositories: `remit worker --queues code`."
        if waiting := await app.db.read(legs.waiting_for_code, now):
            sentence = f"Tasks on code that no worker takes: {waiting}."
            found.append(HealthFinding("Worker", sentence, "bad", "fail", todo))
    pages = f"{engine.pages}/namespaces/{engine.namespace}/workflows"
    shown = HealthFinding("Temporal", "Its own pages show every leg.", links=((pages, pages),))
    none = HealthFinding("Worker", "None lives.", "bad", "fail", "Start one: `remit worker`.")
    unequal = [
        HealthFinding("Secret", each.sentence, "bad", "fail", each.todo)
        for each in await app.db.read(machines.differing_secrets, now)
    ]
    return [*(found or [none]), *unequal, shown]


def contacts_of(listed: Mapping[str, object]) -> list[object]:
    people = listed["contacts"]
    return people if isinstance(people, list) else []


_ON_ITS_WAY: Final = ("run", "On its way", "run", "")
_ROLES: Final = {
    ModelRole.EXTRACT: "Reads your messages",
    ModelRole.THINK: "Does the work",
    ModelRole.SCORE: "Rates how urgent a task is",
    ModelRole.SUMMARISE: "Sums up",
}
_VERDICTS: Final = {
    "ok": ("ok", "Ready", "done"),
    "warn": ("you", "Lacks something", "alert"),
    "fail": ("bad", "Cannot be used", "fail"),
}


async def priority_section(call: Call) -> dict[str, object]:
    file, settings = call.app.priority, call.app.settings
    rules = file()
    return {
        "rules": rules,
        "complaint": file.complaint,
        "file": PRIORITY,
        "unasked": rules.asks_score and not settings.priority.score,
        "ageing": settings.engine.ageing // 60,
    }


async def projects_section(call: Call) -> dict[str, object]:
    settings = call.app.settings
    projects, people = await asyncio.to_thread(_look, settings, thinks=call.app.thinks)
    return {
        "projects": [(each, settings.projects[each.name]) for each in projects],
        "people": [(each, settings.specialists[each.name]) for each in people],
        "marks": _VERDICTS,
    }


def _look(
    settings: Settings, *, thinks: bool
) -> tuple[list[SpecialistHealth], list[SpecialistHealth]]:
    people = specialist_health.specialists(settings.specialists, os.environ.get("PATH"))
    known = settings.projects, settings.specialists, known_kinds(settings)
    places = specialist_health.projects(*known, thinks=thinks)
    return list(places), list(people)
