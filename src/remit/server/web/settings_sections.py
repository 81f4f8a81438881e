"""The parts of the settings page: brain, channels, inbound ways, rules, tools and health."""

import asyncio
import os
import platform
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit import __version__
from remit.brain import choose, local
from remit.brain.choose import ModelChoice, ModelRole
from remit.channels.health import ChannelState
from remit.errors import NotFound, RemitError
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import TaskId
from remit.model.review import Review
from remit.model.task import Task
from remit.server.call import Call
from remit.server.channels import states_of
from remit.server.web import task_sections
from remit.settings import BudgetSettings, Settings
from remit.settings.channels import ChannelSettings
from remit.store import cues, events, home, permissions, read_only, reviews
from remit.store import tasks as stored
from remit.store.database import Tx
from remit.system.background import Background

_DAY: Final = timedelta(days=1)


async def door_sentences(call: Call) -> list[str]:
    """Return a sentence for each configured inbound way."""
    settings = call.house.doors.settings
    doors = [f"hook:{name}" for name in settings.hooks]
    doors += [*settings.doors, *(f"folder:{name}" for name in settings.folders)]
    if not doors:
        return []
    tally = await call.house.db.read(cues.tally, call.house.clock.now() - _DAY)
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

    kind: str
    ready: bool
    sentence: str
    models: tuple[tuple[str, str], ...]
    budget: tuple[SettingRow, ...]


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


class ChannelTestView(Struct, frozen=True):
    """The progress of a channel test."""

    task: Task
    kind: str
    word: str
    mark: str
    said: str
    ended: bool


def mind(call: Call) -> BrainSection:
    settings = call.house.settings
    kind, found = settings.brain.kind, _choice(settings)
    said = {"scripted": f"A script answers: {settings.brain.script}.", "none": _NONE}.get(kind)
    models = tuple((_ROLES[role], str(model)) for role, model in found.models.items())
    ready = call.house.thinks
    if ready and not found.ready and said is None:
        said = "A brain of your own is plugged in."
    return BrainSection(kind, ready, said or found.sentence, models, _budget(settings.budget))


def _choice(settings: Settings) -> ModelChoice:
    match settings.brain.kind:
        case "local":
            return local.choose_local_model(settings.models, settings.brain)
        case "none" | "scripted":
            return ModelChoice({}, dict.fromkeys(ModelRole, _NONE))
        case _:
            return choose.choose_models(os.environ, settings.brain)


def _budget(budget: BudgetSettings) -> tuple[SettingRow, ...]:
    return tuple(
        SettingRow(label, _amount(getattr(budget, name), name), "budget") for name, label in _LIMITS
    )


def _amount(number: int, name: str) -> str:
    if not number:
        return "No limit"
    return f"${number / 100:,.2f}" if name.endswith("cents") else f"{number:,}"


# Channels -----------------------------------------------------------------------------------------


async def ways(call: Call) -> tuple[ChannelSection, ...]:
    """Return the dashboard first, then the configured channels."""
    off = await call.house.db.read(permissions.channels_off)
    chosen = call.house.settings.channels
    states = await asyncio.to_thread(states_of, call.house, off)
    own = ChannelSection(
        name="dashboard",
        called="Dashboard",
        promise="Exactly once: shown and written down are one.",
        own=True,
    )
    called = task_sections.called(chosen)
    found = (_way(each, called[name], states[name], off.get(name)) for name, each in chosen.items())
    return own, *found


def _way(
    chosen: ChannelSettings, called: str, state: ChannelState, off: str | None
) -> ChannelSection:
    kind, word, mark = _VERDICTS[state.verdict] if off is None else ("bad", "Switched off", "x")
    said = off or (state.said if state.verdict == "fail" else f"It {state.said}.")
    return ChannelSection(
        name=state.name,
        called=called,
        promise=chosen.promise,
        kind=kind,
        word=word,
        mark=mark,
        said=said,
        todo="" if off else state.todo,
        aliases=state.aliases,
        off=off is not None,
    )


def trial(tx: Tx, task: Task) -> ChannelTestView:
    """Return the result of a test so far."""
    if not task.delivery:
        raise NotFound("test of a channel", task.id)
    delivery = task.delivery[0]
    asked = [each for each in reviews.of_task(tx, task.id) if each.decision is None]
    kind, word, mark, said = _came_of(delivery, asked[0] if asked else None, task)
    over = delivery.status is not DeliveryStatus.SENDING and (task.ended or bool(asked))
    return ChannelTestView(task, kind, word, mark, said, over)


def _came_of(delivery: Delivery, asked: Review | None, task: Task) -> tuple[str, str, str, str]:
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


def rules(settings: Settings) -> tuple[SettingRow, ...]:
    deliver = settings.deliver
    undo = f"{deliver.undo} seconds after you approved it" if deliver.undo else "Not possible"
    cap = f"{deliver.daily_cap} messages, then it asks" if deliver.daily_cap else "No limit"
    return (
        SettingRow("To call a message back", undo, "deliver"),
        SettingRow("Quiet hours", deliver.quiet or "None", "deliver"),
        SettingRow("To one person in a day", cap, "deliver"),
        SettingRow(
            "Urgency judged by a model", "Yes" if settings.priority.score else "No", "priority"
        ),
        SettingRow("Tasks at once", str(settings.engine.parallel), "engine"),
        SettingRow("Tries before it gives up", str(settings.engine.attempts), "engine"),
    )


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


async def findings(call: Call) -> tuple[HealthFinding, ...]:
    """Return the health of this Remit, part by part."""
    house, now = call.house, call.house.clock.now().astimezone(call.house.zone)
    told = await house.db.read(events.last)
    brain = mind(call)
    found = [
        HealthFinding("Version", f"Remit {__version__}, Python {platform.python_version()}"),
        HealthFinding(
            "Store", f"{told:,} events, schema {len(home.migrations())}, SQLite {read_only.SQLITE}"
        ),
        HealthFinding("Clock", f"{now:%Y-%m-%d %H:%M} in {house.zone.key}"),
        HealthFinding("Brain", brain.sentence) if brain.ready else _warn("Brain", brain.sentence),
    ]
    for way in (await ways(call))[1:]:
        said = f"{way.name}: {way.said}"
        found.append(
            HealthFinding("Channel", said)
            if way.kind == "ok"
            else HealthFinding("Channel", said, way.kind, way.mark, way.todo)
        )
    found += _loops(house.background, house.hide)
    found += [HealthFinding("Door", sentence) for sentence in await door_sentences(call)]
    try:
        count = len(cards_of(await house.permits.listed()))
        found.append(HealthFinding("Contacts", f"{count} in contacts.yaml"))
    except RemitError as error:
        found.append(HealthFinding("Contacts", str(error), "bad", "fail", "Mend that line."))
    return tuple(found)


def _loops(background: Background, hide: Callable[[str], str]) -> list[HealthFinding]:
    """Return each failing loop; if there is none, the number of loops."""
    failing = [
        f"{loop.name} failed {loop.failures} times in a row: {hide(loop.error)}"
        for loop in background.failing
    ]
    todo = "It is tried again by itself. If it stays so, restart Remit and read its log."
    if failing:
        return [HealthFinding("Background", said, "bad", "fail", todo) for said in failing]
    return [HealthFinding("Background", f"{len(background.states)} loops at work")]


def cards_of(listed: Mapping[str, object]) -> list[object]:
    people = listed["contacts"]
    return people if isinstance(people, list) else []


def _warn(part: str, said: str) -> HealthFinding:
    return HealthFinding(part, said, "you", "alert")


def standing_since(at: str | None) -> datetime | None:
    return datetime.fromisoformat(at) if at else None


def find_trial(tx: Tx, task_id: TaskId) -> ChannelTestView:
    return trial(tx, stored.get(tx, task_id))


_ON_ITS_WAY: Final = ("run", "On its way", "run", "")
_NONE: Final = "Nothing thinks: what needs a language model waits for you."
_ROLES: Final = {role: role.value.capitalize() for role in ModelRole}
_LIMITS: Final = (
    ("run_cents", "Money for one task"),
    ("run_tokens", "Tokens for one task"),
    ("run_requests", "Requests for one task"),
    ("day_cents", "Money in a day"),
    ("day_tokens", "Tokens in a day"),
    ("series_cents", "Money for a series in 30 days"),
    ("series_tokens", "Tokens for a series in 30 days"),
)
_VERDICTS: Final = {
    "ok": ("ok", "Ready", "done"),
    "warn": ("you", "Lacks something", "alert"),
    "fail": ("bad", "Cannot be used", "fail"),
}
