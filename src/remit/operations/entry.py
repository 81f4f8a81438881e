"""Operations on access: tokens of programs, browser sessions, push subscriptions."""

import asyncio
from typing import Final

from msgspec.structs import replace

from remit.channels.push.sending import NEEDS
from remit.errors import NotFound
from remit.model.caller import ALL, Scope
from remit.model.codec import JsonMap, stamp
from remit.operations import callers
from remit.operations import settings_arguments as args
from remit.operations.callers import CODE_LIFE, shape
from remit.operations.operation import Answer, Operation, OperationRequest
from remit.operations.permission import NotAllowed
from remit.store.callers import SignIn
from remit.store.secrets import Secrets, machine_ring

_SIGNED_IN: Final = "sig-"


async def make_token(request: OperationRequest, arguments: args.NewToken) -> Answer:
    """Make a token; its secret is in this answer only."""
    token, secret = await request.callers.make(
        request.caller,
        arguments.name,
        frozenset(arguments.scopes),
        agent=arguments.agent,
        days=arguments.days,
    )
    return Answer(
        {**shape(token), "secret": secret}, location=f"/api/tokens/{token.id}", value=token
    )


async def revoke_token(request: OperationRequest, arguments: args.RevokeToken) -> Answer:
    return Answer(shape(await request.callers.revoke(arguments.id)))


async def invite(request: OperationRequest, _: args.InviteBrowser) -> Answer:
    """Make a code that signs one browser in, once."""
    if not all(request.caller.may(scope) for scope in ALL):
        sentence = "Who signs in may do everything, so only who may do everything invites."
        raise NotAllowed(sentence)
    link = await request.callers.link()
    until = request.house.clock.now() + CODE_LIFE
    return Answer({"url": link, "expiresAt": stamp(until)}, location="/api/sign-ins")


async def end_sign_in(request: OperationRequest, arguments: args.EndSignIn) -> Answer:
    found = {each.id: each for each in await request.callers.sign_ins()}
    if arguments.id not in found:
        raise NotFound("sign-in", arguments.id[:60])
    await request.callers.sign_out(arguments.id)
    return Answer(sign_in_to_json(found[arguments.id], request.key))


def sign_in_to_json(each: SignIn, key: str) -> JsonMap:
    return {
        "id": each.id,
        "createdAt": stamp(each.created_at),
        "usedAt": stamp(each.used_at) if each.used_at else None,
        "expiresAt": stamp(each.expires_at),
        "here": each.id == key,
    }


async def set_password(request: OperationRequest, arguments: args.SetPassword) -> Answer:
    """Keep the hash of a password; every other browser must sign in again."""
    settings = request.house.settings
    host = settings.server.public_url.removeprefix("https://").partition(".")[0]

    def keep() -> None:
        kept = Secrets(settings.home, machine_ring(settings.home))
        if arguments.password:
            kept.put(callers.SECRET, callers.hash_password(arguments.password))
        elif callers.SECRET in kept.names():
            kept.drop(callers.SECRET)

    if arguments.password:
        callers.refuse_weak(arguments.password, (settings.owner, settings.agent, host))
    await asyncio.to_thread(keep)
    for each in await request.callers.sign_ins():
        if each.id != request.key:
            await request.callers.sign_out(each.id)
    return Answer({"set": bool(arguments.password)})


async def subscribe(request: OperationRequest, arguments: args.NewSubscription) -> Answer:
    sign_in = _browser(request)
    keys = arguments.keys
    await request.house.push.subscribe(sign_in, arguments.endpoint, keys.p256dh, keys.auth)
    return await push_state(request)


async def unsubscribe(request: OperationRequest, _: args.RemoveSubscription) -> Answer:
    await request.house.push.unsubscribe(_browser(request))
    return await push_state(request)


async def push_state(request: OperationRequest) -> Answer:
    push = request.house.push
    if not push.possible:
        return Answer({"possible": False, "why": NEEDS, "publicKey": None, "on": False})
    key, on = await push.public_key(), await push.is_on(request.key)
    return Answer({"possible": True, "why": None, "publicKey": key, "on": on})


def _browser(request: OperationRequest) -> str:
    """Return the caller's browser session: a push subscription ends with it."""
    if not request.key.startswith(_SIGNED_IN):
        sentence = "Only a browser that is signed in can be told; a token has none."
        raise NotAllowed(sentence)
    return request.key


MAKE_TOKEN: Final = Operation(
    name="make_token",
    arguments=args.NewToken,
    scope=Scope.ADMIN,
    effect=make_token,
    summary="Make a token; its secret is shown this once",
    result="NewSecret",
    sentence="The token is made; its secret is shown this once.",
    status=201,
)
REVOKE_TOKEN: Final = Operation(
    name="revoke_token",
    arguments=args.RevokeToken,
    scope=Scope.ADMIN,
    effect=revoke_token,
    summary="Take a token back; it opens nothing more, and its sockets are closed",
    result="Token",
    sentence="The token opens nothing more.",
    bodiless=True,
)
INVITE: Final = replace(
    MAKE_TOKEN,
    name="invite_browser",
    arguments=args.InviteBrowser,
    effect=invite,
    summary="Make a link that signs a browser in, once, within 15 minutes",
    result="Invitation",
    sentence="The link signs one browser in, once.",
)
END_SIGN_IN: Final = replace(
    REVOKE_TOKEN,
    name="end_sign_in",
    arguments=args.EndSignIn,
    effect=end_sign_in,
    summary="Sign a browser out",
    result="SignIn",
    sentence="The browser is signed out.",
)
SET_PASSWORD: Final = Operation(
    name="set_password",
    arguments=args.SetPassword,
    scope=Scope.ADMIN,
    people="a password is for people",
    effect=set_password,
    summary="Set the password that signs you in from elsewhere; other browsers are signed out",
    result="PasswordState",
    sentence="The password is set; other browsers must sign in again.",
)
SUBSCRIBE: Final = Operation(
    name="subscribe_push",
    arguments=args.NewSubscription,
    scope=Scope.APPROVE,
    effect=subscribe,
    summary="Tell this browser, as long as it is signed in",
    result="Push",
    sentence="This browser is told.",
)
UNSUBSCRIBE: Final = replace(
    SUBSCRIBE,
    name="unsubscribe_push",
    arguments=args.RemoveSubscription,
    effect=unsubscribe,
    summary="Tell this browser no more",
    sentence="This browser is told no more.",
)
OPERATIONS: Final = (
    MAKE_TOKEN,
    REVOKE_TOKEN,
    INVITE,
    END_SIGN_IN,
    SET_PASSWORD,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
