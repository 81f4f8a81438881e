"""Operations that connect a channel or calendars with their provider from a page."""

import asyncio
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from remit.channels.oauth.providers import (
    CALENDAR,
    CALLBACK,
    MAIL,
    NewAccount,
    OAuthClient,
    client_of,
    new_account,
)
from remit.errors import BadInput, NotFound
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.model.status import Reason
from remit.operations import settings_arguments as args
from remit.operations.operation import Answer, Operation, OperationRequest
from remit.settings import DEFAULT_FILE, Settings, edit
from remit.settings.channels import OAuthSettings
from remit.settings.sections import FILE, check_new_section, load_home, told_there
from remit.store.secrets import secrets_of


async def begin_sign_in(request: OperationRequest, arguments: args.BeginSignIn) -> Answer:
    """Return where the owner signs in for a channel; the redirect comes back to this Remit."""
    return await _begin(request, f"channels.{arguments.name}", MAIL)


async def begin_calendar_sign_in(
    request: OperationRequest, arguments: args.BeginCalendarSignIn
) -> Answer:
    return await _begin(request, f"calendars.{arguments.name}", CALENDAR)


async def add_account(request: OperationRequest, arguments: args.AddAccount) -> Answer:
    """Return where the owner signs in for a new account; before that nothing is written."""
    settings = await asyncio.to_thread(load_home, request.house.settings.home)
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
    home = request.house.settings.home
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

    house, port = request.house, urlsplit(request.callers.pages_url).port
    attempt = connecting.begin(
        client,
        section,
        f"http://{client.provider.redirect_host}:{port}{CALLBACK}",
        user=user,
        key=request.key,
        now=house.clock.now(),
    )
    connecting.keep_attempt(house.outfit.sign_ins, replace(attempt, new=new, secret=secret.strip()))
    return Answer({"url": attempt.url, "provider": client.called})


async def finish_sign_in(request: OperationRequest, arguments: args.FinishSignIn) -> Answer:
    """Exchange the code; a new account is written down, and what waited for a channel goes on."""
    from remit.channels.oauth import connecting, tokens  # noqa: PLC0415 - loads a web client

    house, now = request.house, request.house.clock.now()
    home = house.settings.home
    attempt = connecting.take_attempt(house.outfit.sign_ins, arguments.state, request.key, now)
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
        edit.set_values(home / FILE, written, DEFAULT_FILE)

    await asyncio.to_thread(store)
    table, _, name = attempt.account.partition(".")
    released = 0
    if table == "channels":
        released = await house.inbox.grant(Reason.AUTH, f"{name} was connected", f"channel:{name}")
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


BEGIN: Final = Operation(
    name="begin_sign_in",
    arguments=args.BeginSignIn,
    scope=Scope.ADMIN,
    people="a person signs in",
    effect=begin_sign_in,
    summary="Sign in at the provider of a channel",
    result="Page",
    sentence="Sign in at the provider.",
    page=True,
)
BEGIN_CALENDAR: Final = replace(
    BEGIN,
    name="begin_calendar_sign_in",
    arguments=args.BeginCalendarSignIn,
    effect=begin_calendar_sign_in,
    summary="Sign in at the provider of a calendar account",
)
ADD: Final = replace(
    BEGIN,
    name="add_account",
    arguments=args.AddAccount,
    effect=add_account,
    summary="Sign in for a new mail channel or calendar account",
)
FINISH: Final = replace(
    BEGIN,
    name="finish_sign_in",
    arguments=args.FinishSignIn,
    effect=finish_sign_in,
    summary="Finish a sign-in that was begun in this browser",
    sentence="It is connected.",
)
OPERATIONS: Final = (BEGIN, BEGIN_CALENDAR, ADD, FINISH)
