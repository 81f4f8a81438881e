"""Operations that connect a channel with its provider from a page: begin, and finish once."""

import asyncio
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from remit.channels.oauth.providers import CALLBACK, MAIL, client_of
from remit.errors import BadInput, NotFound
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.model.status import Reason
from remit.operations import settings_arguments as args
from remit.operations.operation import Answer, Operation, OperationRequest
from remit.store.secrets import secrets_of


async def begin_sign_in(request: OperationRequest, said: args.BeginSignIn) -> Answer:
    """Return where the owner signs in; the redirect comes back to this Remit."""
    from remit.channels.oauth import connecting  # noqa: PLC0415 - loads a web client

    house = request.house
    section = house.settings.channels.get(said.name)
    chosen = section.sign_in if section is not None else None
    if chosen is None:
        raise NotFound("channel", f"{said.name!r:.60} that you sign in for")
    kept = await asyncio.to_thread(secrets_of, house.settings.home)
    client = client_of(chosen, MAIL, kept.find)
    port = urlsplit(request.callers.pages_url).port
    attempt = connecting.begin(
        client,
        said.name,
        f"http://{client.provider.redirect_host}:{port}{CALLBACK}",
        user=str(getattr(section, "user", "")),
        key=request.key,
        now=house.clock.now(),
    )
    connecting.keep_attempt(house.outfit.sign_ins, attempt)
    return Answer({"url": attempt.url, "provider": client.called})


async def finish_sign_in(request: OperationRequest, said: args.FinishSignIn) -> Answer:
    """Exchange the code; then what waited for the channel goes on."""
    from remit.channels.oauth import connecting, tokens  # noqa: PLC0415 - loads a web client

    house, now = request.house, request.house.clock.now()
    attempt = connecting.take_attempt(house.outfit.sign_ins, said.state, request.key, now)
    section = house.settings.channels[attempt.account].sign_in
    if section is None:
        raise BadInput("This channel has another way to sign in now.", field="state")
    came = {"state": said.state, "code": said.code, "error": said.error, "iss": said.iss}
    grant = await connecting.finish(attempt, {name: word for name, word in came.items() if word})
    kept = await asyncio.to_thread(secrets_of, house.settings.home)
    await asyncio.to_thread(tokens.store_grant, kept, section.token, grant, now)
    what = f"{attempt.account} was connected"
    released = await house.inbox.grant(Reason.AUTH, what, f"channel:{attempt.account}")
    told: JsonMap = {"channel": attempt.account, "released": released}
    return Answer(told)


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
FINISH: Final = replace(
    BEGIN,
    name="finish_sign_in",
    arguments=args.FinishSignIn,
    effect=finish_sign_in,
    summary="Finish a sign-in that was begun in this browser",
    sentence="The channel is connected.",
)
OPERATIONS: Final = (BEGIN, FINISH)
