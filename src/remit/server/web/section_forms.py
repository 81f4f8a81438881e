"""The form of any section of the settings, and the first run: three steps, each with a test."""

import asyncio
import os
from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta, convert, field

from remit.errors import BadInput, Conflict
from remit.model import ids
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.operations import sections
from remit.operations.settings_arguments import (
    ChangeSection,
    ChannelTest,
    NewContact,
    RemoveSection,
    TestSection,
)
from remit.operations.table import perform
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult
from remit.server.routes import form, page
from remit.server.web import connect, settings_sections, shell
from remit.settings import Settings
from remit.settings.channels import kinds
from remit.settings.forms import (
    CHANNELS,
    CONTACTS,
    MANY,
    NOTICES,
    ContactFields,
    FieldKind,
    SectionForm,
    form_for,
)
from remit.settings.sections import load_home
from remit.system.owner_zone import find_owner_zone

_TEXT: Final[JsonMap] = {"type": "string"}
_BACK: Final = {
    "channels": "channels",
    "calendars": "calendars",
    "calendar": "calendars",
    "hooks": "inbound",
    "doors": "inbound",
    "folders": "inbound",
    "projects": "projects",
    "budget": "brain",
    "web": "brain",
    "deliver": "policies",
    "server": "tokens",
}
_OUTSIDE: Final = ("section", "name", "kind", "then")  # fields of every form of a section


class SectionFields(RequestBody, frozen=True):
    """What a form says of a section; its other fields are those of the section."""

    section: Annotated[str, Meta(max_length=100)]
    name: Annotated[str, Meta(max_length=200)] = ""  # of a new one, or of a contact
    kind: Annotated[str, Meta(max_length=60)] = ""  # of a new channel
    then: Annotated[str, Meta(max_length=100)] = ""  # the next step of the first run
    typed: dict[str, object] = field(default_factory=dict)  # the fields of the section

    @classmethod
    def gather(cls, sent: JsonMap) -> JsonMap:
        typed = {name: value for name, value in sent.items() if name not in _OUTSIDE}
        return {**{name: sent[name] for name in _OUTSIDE if name in sent}, "typed": typed}


class SectionName(RequestBody, frozen=True):
    section: Annotated[str, Meta(max_length=100)]


async def now_in_file(call: Call) -> Settings:
    """Return the settings as the file says them; the running ones may follow in a moment."""
    return await asyncio.to_thread(load_home, call.app.settings.home)


async def forms_of(call: Call, *names: str) -> list[SectionForm]:
    settings = await now_in_file(call)
    forms = [form_for(name, settings) for name in names]
    return await asyncio.to_thread(sections.with_kept_secrets, forms, settings)


@page("/settings/edit", "section", "kind", "saved", "then", "test", scope=Scope.ADMIN)
async def look(call: Call) -> CallResult:
    """Return the form of one section, or of a new one."""
    then = {"then": call.text("then") or ""}
    return await _page(call, call.text("section") or "", call.text("kind") or "", then)


async def _typed_again(call: Call, given: SectionFields, wrong: BadInput | Conflict) -> CallResult:
    typed = {**given.typed, "name": given.name}
    more = {"wrong": str(wrong), "typed": typed, "then": given.then}
    return await _page(call, given.section, given.kind, more, 422)


@form("/settings/edit", sections.change_settings, refused=_typed_again)
async def save(call: Call, given: SectionFields) -> CallResult:
    settings, section = await now_in_file(call), given.section
    wanted: NewContact | ChangeSection
    if section == CONTACTS:
        wanted = _new_contact(settings, {**given.typed, "name": given.name})
    else:
        section = f"{section}.{given.name.strip()}" if given.name else section
        wanted = ChangeSection(section, _with_switches(settings, section, given.kind, given.typed))
    answer = await perform(call, wanted)
    return await _after_save(call, section, given.then, answer.content)


async def _after_save(call: Call, section: str, then: str, content: JsonMap) -> CallResult:
    """Show a secret or a warning that came with the answer; else go back to where one was."""
    if secret := content.get("secret"):
        return await _page(call, section, "", {"secret": secret})
    if content.get("detail", sections.SAVED) != sections.SAVED:  # the environment counts instead
        return await _page(
            call, section, "", {"tested": {"ok": False, "detail": content["detail"]}}
        )
    if then.startswith("/welcome"):
        return shell.redirect(f"/welcome?step={then[-1]}&saved=true")
    in_place = section in (CONTACTS, NOTICES)
    place = f"{section}?" if in_place else f"edit?section={section}&"
    return shell.redirect(f"/settings/{place}saved=true")


def _new_contact(settings: Settings, typed: Mapping[str, object]) -> NewContact:
    values, _ = form_for(CONTACTS, settings).parse(typed)
    fields = convert(values, ContactFields)
    if not fields.name.isprintable():
        raise BadInput("Give the whole name, on one line.", field="name")
    if bool(fields.channel) != bool(fields.address):
        raise BadInput("Give an address." if fields.channel else "Choose a channel.")
    if not fields.address.isprintable():
        raise BadInput("An address is on one line.", field="address")
    channels = {fields.channel: fields.address} if fields.address else {}
    return NewContact(fields.name, channels, list(fields.aliases), fields.role or None)


def _with_switches(
    settings: Settings, section: str, kind: str, typed: Mapping[str, object]
) -> dict[str, object]:
    """Return the values; a browser sends nothing for a switch that is off, or an empty field."""
    if section in (CHANNELS, *MANY):
        raise BadInput("Give it a name, such as work.", field="name")
    found = form_for(section, settings, kind)
    empty = {
        field.name: "false" if field.kind is FieldKind.SWITCH else ""
        for field in found.fields
        if field.kind is not FieldKind.SECRET
    }
    return {**empty, **typed, **({"kind": kind} if kind else {})}


@form("/settings/edit/test", sections.test_settings)
async def test(call: Call, given: SectionName) -> CallResult:
    """Try a section out; a channel by a message that is sent the way every message goes."""
    section = given.section
    if section.startswith(f"{CHANNELS}."):
        begun = await _begin_test(call, section)
        return shell.redirect(f"/settings/edit?section={section}&test={begun}")
    found = (await perform(call, TestSection(section))).content
    return await _page(call, section, "", {"tested": found})


async def _begin_test(call: Call, section: str) -> object:
    """Send a marked message on a channel; return the task that does."""
    name = section.partition(".")[2]
    connect.check_in_use(call, name)
    return (await perform(call, ChannelTest(name))).content["id"]


async def trial(call: Call) -> object:
    """Return the test that the address names, if it names one."""
    if not (tested := call.text("test")):
        return None
    return await call.app.db.read(settings_sections.read_channel_test, ids.task_id(tested))


async def _kept(call: Call, given: SectionName, wrong: BadInput | Conflict) -> CallResult:
    return await _page(call, given.section, "", {"wrong": str(wrong)}, 422)


@form("/settings/edit/remove", sections.remove_settings, refused=_kept)
async def remove(call: Call, given: SectionName) -> CallResult:
    await perform(call, RemoveSection(given.section))
    return shell.redirect(f"/settings/{_BACK.get(given.section.partition('.')[0], 'brain')}")


async def _page(
    call: Call, section: str, kind: str, more: Mapping[str, object], status: int = 200
) -> CallResult:
    settings = await now_in_file(call)
    table = section.partition(".")[0]
    new = section in (CHANNELS, *MANY)
    forms = [form_for(f"{section}.new" if new else section, settings, kind)]
    values: dict[str, object] = {
        "form": (await asyncio.to_thread(sections.with_kept_secrets, forms, settings))[0],
        "new": section if new else "",
        "offered": _offered_names(settings, table),
        "kinds": list(kinds()),
        "back": _BACK.get(table, section),
        "saved": call.text("saved") is not None,
        "typed": {},
        "then": "",
        "tested": None,
        "secret": None,
        "trial": await trial(call),
        "pairs": _pairs(settings, section),
        "people": connect.people(call),
        **more,
    }
    return await shell.page(call, "pages/section.html", {"wrong": None, **values}, status)


def _pairs(settings: Settings, section: str) -> bool:
    """Whether chats are connected with this section by a code."""
    channel = settings.channels.get(section.removeprefix(f"{CHANNELS}."))
    return channel is not None and channel.pairing_link("") is not None


def _offered_names(settings: Settings, table: str) -> list[str]:
    """Return the names a new section may have, if it is about something that has one."""
    if table != "doors":
        return []
    able = (name for name, each in settings.channels.items() if not each.door_problem(name, ""))
    return [name for name in able if name not in settings.doors]


_STEPS: Final = (("You", "you"), ("Language model", "brain"), ("Where to reach you", ""))


def is_first_run(settings: Settings) -> bool:
    """Whether nobody has said anything yet: no name, no model, no channel."""
    brain = settings.brain
    return (
        settings.owner == Settings.__struct_defaults__[0]
        and not (brain.model or settings.channels)
        and brain.kind == "auto"
    )


@page("/welcome", "step", "saved", "test", scope=Scope.ADMIN)
async def look_welcome(call: Call) -> CallResult:
    return await _welcome_page(call, call.number("step", 1, least=1, most=len(_STEPS)))


@form("/welcome/test", sections.test_settings)
async def test_welcome(call: Call, given: SectionName) -> CallResult:
    """Ask the model one question, or send a message on a channel, and say what came."""
    section = given.section
    if section == "brain":
        return await _welcome_page(call, 2, (await perform(call, TestSection(section))).content)
    return shell.redirect(f"/welcome?step=3&test={await _begin_test(call, section)}")


async def _welcome_page(call: Call, step: int, tested: "JsonMap | None" = None) -> CallResult:
    settings = await now_in_file(call)
    section = _STEPS[step - 1][1]
    now = call.app.clock.now().astimezone(find_owner_zone(settings.zone, os.environ).zone)
    values = {
        "step": step,
        "steps": [title for title, _ in _STEPS],
        "form": (await forms_of(call, section))[0] if section else None,
        "mind": settings_sections.brain_section(call, settings) if section == "brain" else None,
        "kinds": [(kind, each.service) for kind, each in kinds().items()],
        "accounts": connect.OFFERED[CHANNELS],
        "channels": list(settings.channels),
        "clock": now,
        "saved": call.text("saved") is not None,
        "tested": tested,
        "trial": await trial(call),
    }
    return await shell.page(call, "pages/welcome.html", values)
