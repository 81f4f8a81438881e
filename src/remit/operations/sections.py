"""Operations on the settings: change a section, try it out, remove it. For people alone."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from remit.brain.choose import key_name
from remit.channels import ChannelKind
from remit.channels.oauth import (
    CALENDAR,
    CALLBACK,
    MAIL,
    NewAccount,
    OAuthClient,
    client_of,
    new_account,
)
from remit.channels.webhook.receiving import new_secret
from remit.errors import BadInput, NotFound
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.model.status import Reason
from remit.operations import settings_arguments as args
from remit.operations.operation import Answer, OperationRequest, operation
from remit.settings import DEFAULT_FILE, BrainSettings, Settings
from remit.settings.channels import OAuthSettings, kinds
from remit.settings.forms import NOTICES, YOU, FieldKind, SectionForm
from remit.settings.sections import (
    FILE,
    SectionStore,
    check_new_section,
    load_home,
    set_values,
    told_there,
)
from remit.store.secrets import Secrets, machine_ring, secrets_of

_SECRET_BYTES: Final = 24
SAVED: Final = "Saved. It takes effect within a few seconds."
_for_people: Final = partial(operation, Scope.ADMIN, people="settings are for people")
_signs_in: Final = partial(operation, Scope.ADMIN, "Page", people="a person signs in", page=True)


def store_of(request: OperationRequest) -> SectionStore:
    """Return the settings file and its secrets; call it in a thread, a keyring loads slowly."""
    home = request.app.settings.home
    return SectionStore(home, Secrets(home, machine_ring(home)))


@_for_people("SettingsSection", SAVED)
async def change_settings(request: OperationRequest, arguments: args.ChangeSection) -> Answer:
    """Change a section of settings.toml; secrets go to the secret store.

    The running Remit takes the values up by itself. A new hook without a secret gets one, which is
    in this answer only.
    """
    section, values = arguments.section, dict(arguments.values)
    table, _, name = section.partition(".")
    before = await asyncio.to_thread(load_home, request.app.settings.home)
    content: JsonMap = {"section": section, "detail": _detail(section, values)}
    if table == "hooks" and name not in before.hooks and not values.get("secret"):
        content["secret"] = values["secret"] = new_secret(os.urandom(_SECRET_BYTES))
    new_channel = table == "channels" and name not in before.channels
    if new_channel:
        values |= await _asked_of_provider(values)

    def change() -> None:
        kept, names = store_of(request), {}
        if section == "brain" and str(values.get("key") or "").strip():
            names["key"] = _name_of_key(before.brain, values)
        kept.change(section, values, names)
        if new_channel:
            set_values(kept.path, told_there(before, section))

    await asyncio.to_thread(change)
    if section == NOTICES:  # they hold at once
        found = await asyncio.to_thread(load_home, request.app.settings.home)
        request.app.wishes.notices = found.notices
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


@_for_people("SettingsSection", "It is removed.", bodiless=True)
async def remove_settings(request: OperationRequest, arguments: args.RemoveSection) -> Answer:
    """Remove a section such as channels.post, or the model, with its secrets."""
    home, section = request.app.settings.home, arguments.section
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


@_for_people("SectionTest", "It was tried out.", bodiless=True)
async def test_settings(request: OperationRequest, arguments: args.TestSection) -> Answer:
    """Try a section out as the file says it: a model, a calendar account, a folder."""
    found = await request.app.section_tests.run(arguments.section)
    return Answer({"section": arguments.section, "ok": found.ok, "detail": found.detail})


@_signs_in("Sign in at the provider.")
async def begin_sign_in(request: OperationRequest, arguments: args.BeginSignIn) -> Answer:
    """Sign in at the provider of a channel."""
    return await _begin(request, f"channels.{arguments.name}", MAIL)


@_signs_in("Sign in at the provider.")
async def begin_calendar_sign_in(
    request: OperationRequest, arguments: args.BeginCalendarSignIn
) -> Answer:
    """Sign in at the provider of a calendar account."""
    return await _begin(request, f"calendars.{arguments.name}", CALENDAR)


@_signs_in("Sign in at the provider.")
async def add_account(request: OperationRequest, arguments: args.AddAccount) -> Answer:
    """Sign in for a new mail channel or calendar account."""
    settings = await asyncio.to_thread(load_home, request.app.settings.home)
    account = new_account(
        arguments.kind,
        arguments.name.strip(),
        user=arguments.user,
        client_id=arguments.client_id,
        oauth_url=arguments.url,
    )
    client = client_of(account.oauth, account.use, lambda _: arguments.client_secret.strip())
    if client.provider.needs_secret and not arguments.client_secret.strip():
        sentence = f"Give the client secret that {client.called} shows beside the client id."
        raise BadInput(sentence, field="client_secret")
    await asyncio.to_thread(check_new_section, settings, account.section, account.tables)
    return _attempt(
        request, client, account.section, account.user, account, arguments.client_secret
    )


async def _begin(request: OperationRequest, section: str, use: str) -> Answer:
    home = request.app.settings.home
    chosen, user = _sign_in_of(await asyncio.to_thread(load_home, home), section)
    kept = await asyncio.to_thread(secrets_of, home)
    return _attempt(request, client_of(chosen, use, kept.find), section, user)


def _attempt(
    request: OperationRequest,
    client: OAuthClient,
    section: str,
    user: str,
    new: NewAccount | None = None,
    secret: str = "",
) -> Answer:
    from remit.channels.oauth import connecting  # noqa: PLC0415 - loads a web client

    app, port = request.app, urlsplit(request.callers.pages_url).port
    attempt = connecting.begin(
        client,
        section,
        f"http://{client.provider.redirect_host}:{port}{CALLBACK}",
        user=user,
        key=request.key,
        now=app.clock.now(),
    )
    connecting.keep_attempt(app.outfit.sign_ins, replace(attempt, new=new, secret=secret.strip()))
    return Answer({"url": attempt.url, "provider": client.called})


@_signs_in("It is connected.")
async def finish_sign_in(request: OperationRequest, arguments: args.FinishSignIn) -> Answer:
    """Finish a sign-in that was begun in this browser.

    A new account is written down, and what waited for a channel goes on.
    """
    from remit.channels.oauth import connecting, tokens  # noqa: PLC0415 - loads a web client

    app, now = request.app, request.app.clock.now()
    home = app.settings.home
    attempt = connecting.take_attempt(app.outfit.sign_ins, arguments.state, request.key, now)
    new, settings = attempt.new, await asyncio.to_thread(load_home, home)
    oauth = new.oauth if new else _sign_in_of(settings, attempt.account)[0]
    parameters = {
        "state": arguments.state,
        "code": arguments.code,
        "error": arguments.error,
        "iss": arguments.iss,
    }
    grant = await connecting.finish(
        attempt, {name: word for name, word in parameters.items() if word}
    )

    def store() -> None:
        kept = secrets_of(home)
        tokens.store_grant(kept, oauth.token, grant, now)
        if new is None:
            return
        if attempt.secret:
            kept.put(oauth.client_secret, attempt.secret)
        written = new.tables | told_there(settings, new.section)
        set_values(home / FILE, written, DEFAULT_FILE)

    await asyncio.to_thread(store)
    table, _, name = attempt.account.partition(".")
    released = 0
    if table == "channels":
        released = await app.inbox.grant(Reason.AUTH, f"{name} was connected", f"channel:{name}")
    content: JsonMap = {"section": attempt.account, "released": released}
    return Answer(content)


def _sign_in_of(settings: Settings, section: str) -> tuple[OAuthSettings, str]:
    """Return how an account of the settings signs in, and as whom."""
    table, _, name = section.partition(".")
    if table == "channels":
        channel = settings.channels.get(name)
        chosen, user = channel.sign_in if channel else None, str(getattr(channel, "user", ""))
    else:
        server = settings.calendars.get(name)
        chosen, user = (server.oauth, server.user) if server else (None, "")
    if chosen is None:
        what = "channel" if table == "channels" else "calendar account"
        raise NotFound(what, f"{name!r:.60} that you sign in for")
    return chosen, user
