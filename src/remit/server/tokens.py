"""Routes for API tokens and browser sessions: create, list, revoke."""

from typing import Final

from remit.errors import NotFound
from remit.model.caller import ALL, Scope
from remit.model.codec import Json, JsonMap, stamp
from remit.server.bodies import EmptyBody, NewToken
from remit.server.call import Call, CallResult, Route
from remit.server.callers import CODE_LIFE, shape
from remit.server.problem import Problem, RequestRefused
from remit.store.callers import SignIn


async def listed(call: Call) -> CallResult:
    told: list[Json] = [shape(token) for token in await call.callers.tokens()]
    return CallResult({"tokens": told})


async def make(call: Call) -> CallResult:
    """Create a token; its secret is only in this answer."""
    said = call.read(NewToken)
    token, secret = await call.callers.make(
        call.caller, said.name, frozenset(said.scopes), agent=said.agent, days=said.days
    )
    return CallResult({**shape(token), "secret": secret}, 201, f"/api/tokens/{token.id}")


async def revoke(call: Call) -> CallResult:
    return CallResult(shape(await call.callers.revoke(call.path["id"])))


async def browsers(call: Call) -> CallResult:
    told: list[Json] = [_sign_in(each, call.key) for each in await call.callers.sign_ins()]
    return CallResult({"signIns": told})


async def invite(call: Call) -> CallResult:
    """Create a one-time code that signs a browser in."""
    call.read(EmptyBody)
    if not all(call.caller.may(scope) for scope in ALL):
        sentence = "Who signs in may do everything, so only who may do everything invites."
        raise RequestRefused(Problem("forbidden", sentence))
    link = await call.callers.link()
    until = call.house.clock.now() + CODE_LIFE
    return CallResult({"url": link, "expiresAt": stamp(until)}, 201, "/api/sign-ins")


async def dismiss(call: Call) -> CallResult:
    """Sign a browser out; its pages and sockets end at once."""
    found = {each.id: each for each in await call.callers.sign_ins()}
    if call.path["id"] not in found:
        raise NotFound("sign-in", call.path["id"][:60])
    await call.callers.sign_out(call.path["id"])
    return CallResult(_sign_in(found[call.path["id"]], call.key))


def _sign_in(each: SignIn, key: str) -> JsonMap:
    return {
        "id": each.id,
        "createdAt": stamp(each.created_at),
        "usedAt": stamp(each.used_at) if each.used_at else None,
        "expiresAt": stamp(each.expires_at),
        "here": each.id == key,
    }


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/tokens",
        does=listed,
        says="The tokens of programs, without their secrets",
        gives="Tokens",
        scope=Scope.ADMIN,
    ),
    Route(
        method="POST",
        path="/api/tokens",
        does=make,
        says="Make a token; its secret is shown this once",
        gives="NewSecret",
        status=201,
        body=NewToken,
        scope=Scope.ADMIN,
        kept=False,
    ),
    Route(
        method="DELETE",
        path="/api/tokens/{id}",
        does=revoke,
        says="Take a token back; it opens nothing more, and its sockets are closed",
        gives="Token",
        scope=Scope.ADMIN,
    ),
    Route(
        method="GET",
        path="/api/sign-ins",
        does=browsers,
        says="The browsers that are signed in",
        gives="SignIns",
        scope=Scope.ADMIN,
    ),
    Route(
        method="POST",
        path="/api/sign-ins",
        does=invite,
        says="Make a link that signs a browser in, once, within 15 minutes",
        gives="Invitation",
        status=201,
        body=EmptyBody,
        scope=Scope.ADMIN,
        kept=False,
    ),
    Route(
        method="DELETE",
        path="/api/sign-ins/{id}",
        does=dismiss,
        says="Sign a browser out",
        gives="SignIn",
        scope=Scope.ADMIN,
    ),
)
