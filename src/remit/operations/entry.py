"""Operations on access: tokens of programs, browser sessions, push subscriptions."""

import asyncio
from typing import Final

from remit.channels.push import NEEDS
from remit.errors import NotFound
from remit.model.caller import ALL, Scope
from remit.model.codec import JsonMap, pick_fields, stamp
from remit.operations import callers
from remit.operations import settings_arguments as args
from remit.operations.callers import CODE_LIFE, shape
from remit.operations.operation import Answer, OperationRequest, operation
from remit.operations.permission import NotAllowed
from remit.store.callers import SignIn
from remit.store.secrets import Secrets, machine_ring

_SIGNED_IN: Final = "sig-"


@operation(
    Scope.ADMIN, "NewSecret", "The token is made; its secret is shown this once.", status=201
)
async def make_token(request: OperationRequest, arguments: args.NewToken) -> Answer:
    """Make a token; its secret is shown this once."""
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


@operation(Scope.ADMIN, "Token", "The token opens nothing more.", bodiless=True)
async def revoke_token(request: OperationRequest, arguments: args.RevokeToken) -> Answer:
    """Take a token back; it opens nothing more, and its sockets are closed."""
    return Answer(shape(await request.callers.revoke(arguments.id)))


@operation(Scope.ADMIN, "Invitation", "The link signs one browser in, once.", status=201)
async def invite_browser(request: OperationRequest, _: args.InviteBrowser) -> Answer:
    """Make a link that signs a browser in, once, within 15 minutes."""
    if not all(request.caller.may(scope) for scope in ALL):
        sentence = "Who signs in may do everything, so only who may do everything invites."
        raise NotAllowed(sentence)
    link = await request.callers.link()
    until = request.app.clock.now() + CODE_LIFE
    return Answer({"url": link, "expiresAt": stamp(until)}, location="/api/sign-ins")


@operation(Scope.ADMIN, "SignIn", "The browser is signed out.", bodiless=True)
async def end_sign_in(request: OperationRequest, arguments: args.EndSignIn) -> Answer:
    """Sign a browser out."""
    found = {each.id: each for each in await request.callers.sign_ins()}
    if arguments.id not in found:
        raise NotFound("sign-in", arguments.id[:60])
    await request.callers.sign_out(arguments.id)
    return Answer(sign_in_to_json(found[arguments.id], request.key))


def sign_in_to_json(each: SignIn, key: str) -> JsonMap:
    return pick_fields(each, "id createdAt usedAt expiresAt") | {"here": each.id == key}


@operation(
    Scope.ADMIN,
    "PasswordState",
    "The password is set; other browsers must sign in again.",
    people="a password is for people",
)
async def set_password(request: OperationRequest, arguments: args.SetPassword) -> Answer:
    """Set the password that signs you in from elsewhere; other browsers are signed out."""
    settings = request.app.settings
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


@operation(Scope.APPROVE, "Push", "This browser is told.")
async def subscribe_push(request: OperationRequest, arguments: args.NewSubscription) -> Answer:
    """Tell this browser, as long as it is signed in."""
    sign_in = _browser(request)
    keys = arguments.keys
    await request.app.push.subscribe(sign_in, arguments.endpoint, keys.p256dh, keys.auth)
    return await push_state(request)


@operation(Scope.APPROVE, "Push", "This browser is told no more.")
async def unsubscribe_push(request: OperationRequest, _: args.RemoveSubscription) -> Answer:
    """Tell this browser no more."""
    await request.app.push.unsubscribe(_browser(request))
    return await push_state(request)


async def push_state(request: OperationRequest) -> Answer:
    push = request.app.push
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
