"""Operations on the settings: change a section, try it out, remove it. For people alone."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from msgspec.structs import replace

from remit.brain.choose import key_name
from remit.channels.kind import ChannelKind
from remit.channels.webhook.receiving import made
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.operations import settings_arguments as args
from remit.operations.operation import Answer, Operation, OperationRequest
from remit.settings import BrainSettings, Settings, sections
from remit.settings.channels import kinds
from remit.settings.forms import NOTICES, YOU, FieldKind, SectionForm
from remit.settings.sections import SectionStore, load_home, told_there
from remit.store.secrets import Secrets, machine_ring

_SECRET_BYTES: Final = 24
_PEOPLE: Final = "settings are for people"
SAVED: Final = "Saved. It takes effect within a few seconds."


def store_of(request: OperationRequest) -> SectionStore:
    """Return the settings file and its secrets; call it in a thread, a keyring loads slowly."""
    home = request.house.settings.home
    return SectionStore(home, Secrets(home, machine_ring(home)))


async def change_section(request: OperationRequest, arguments: args.ChangeSection) -> Answer:
    """Write the values; the running Remit takes them up by itself.

    A new hook without a secret gets one, which is in this answer only.
    """
    section, values = arguments.section, dict(arguments.values)
    table, _, name = section.partition(".")
    before = await asyncio.to_thread(load_home, request.house.settings.home)
    content: JsonMap = {"section": section, "detail": _detail(section, values)}
    if table == "hooks" and name not in before.hooks and not values.get("secret"):
        content["secret"] = values["secret"] = made(os.urandom(_SECRET_BYTES))
    new_channel = table == "channels" and name not in before.channels
    if new_channel:
        values |= await _asked_of_provider(values)

    def change() -> None:
        kept, names = store_of(request), {}
        if section == "brain" and str(values.get("key") or "").strip():
            names["key"] = _name_of_key(before.brain, values)
        kept.change(section, values, names)
        if new_channel:
            sections.set_values(kept.path, told_there(before, section))

    await asyncio.to_thread(change)
    if section == NOTICES:  # they hold at once
        found = await asyncio.to_thread(load_home, request.house.settings.home)
        request.house.wishes.notices = found.notices
    return Answer(content)


def with_kept_secrets(forms: list[SectionForm], settings: Settings) -> list[SectionForm]:
    """Return the forms with the fields whose secret is stored; call it in a thread."""
    known = set(Secrets(settings.home, machine_ring(settings.home)).names())
    return [replace(form, kept=frozenset(_kept_fields(form, settings, known))) for form in forms]


def _kept_fields(form: SectionForm, settings: Settings, known: set[str]) -> Iterator[str]:
    for field in form.fields:
        if field.kind is not FieldKind.SECRET:
            continue
        name = str(form.now.get(field.name) or "")
        if form.section == "brain" and settings.brain.model:
            name = _name_of_key(settings.brain, {})
        if name in known:
            yield field.name


async def _asked_of_provider(values: Mapping[str, object]) -> JsonMap:
    """Return what the provider of a new channel says of its secret, such as a bot's name."""
    kind = kinds().get(str(values.get("kind")))
    if not (isinstance(kind, type) and issubclass(kind, ChannelKind) and kind.added_by):
        return {}
    secret, url = (str(values.get(each) or "") for each in (*kind.secret_fields, "url"))
    found: JsonMap = await import_module(kind.added_by).check(secret.strip(), url)
    return found


def _detail(section: str, values: Mapping[str, object]) -> str:
    """Return what a person is told: a variable of the environment counts before the file."""
    prefix = "REMIT_" if section == YOU else f"REMIT_{section.upper()}_"
    set_there = [each for key in values if (each := f"{prefix}{key.upper()}") in os.environ]
    if set_there:
        return f"Saved, but {', '.join(set_there)} in the environment counts instead."
    return SAVED


def _name_of_key(now: BrainSettings, values: Mapping[str, object]) -> str:
    model = str(values.get("model", now.model) or "").strip()
    own = bool(str(values.get("base_url", now.base_url) or "").strip())
    return key_name(model, now.key_env, own_server=own)


async def remove_section(request: OperationRequest, arguments: args.RemoveSection) -> Answer:
    home, section = request.house.settings.home, arguments.section
    if section == "brain":
        before = (await asyncio.to_thread(load_home, home)).brain
        await asyncio.to_thread(_forget_model, store_of(request), before)
    else:
        await asyncio.to_thread(lambda: store_of(request).remove(section))
    return Answer({"section": section, "detail": f"{section} is removed."})


def _forget_model(kept: SectionStore, before: BrainSettings) -> None:
    """Take the model out, with its key; no model is used then."""
    name = _name_of_key(before, {}) if before.model else ""
    kept.change("brain", {"kind": "none", "model": "", "base_url": ""})
    if name in kept.secrets.names():
        kept.secrets.drop(name)


async def try_section(request: OperationRequest, arguments: args.TestSection) -> Answer:
    found = await request.house.section_tests.run(arguments.section)
    return Answer({"section": arguments.section, "ok": found.ok, "detail": found.detail})


CHANGE: Final = Operation(
    name="change_settings",
    arguments=args.ChangeSection,
    scope=Scope.ADMIN,
    people=_PEOPLE,
    effect=change_section,
    summary="Change a section of settings.toml; secrets go to the secret store",
    result="SettingsSection",
    sentence=SAVED,
)
TEST: Final = replace(
    CHANGE,
    name="test_settings",
    arguments=args.TestSection,
    effect=try_section,
    summary="Try a section out as the file says it: a model, a calendar account, a folder",
    result="SectionTest",
    sentence="It was tried out.",
    bodiless=True,
)
REMOVE: Final = replace(
    CHANGE,
    name="remove_settings",
    arguments=args.RemoveSection,
    effect=remove_section,
    summary="Remove a section such as channels.post, or the model, with its secrets",
    sentence="It is removed.",
    bodiless=True,
)
OPERATIONS: Final = (CHANGE, TEST, REMOVE)
