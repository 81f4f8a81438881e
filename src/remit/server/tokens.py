"""Tokens of programs and sign-ins of browsers, listed."""

from typing import Final

from remit.model.caller import Scope
from remit.model.codec import Json
from remit.operations.callers import shape
from remit.operations.entry import sign_in_to_json
from remit.server.call import Call, CallResult, read


async def listed(call: Call) -> CallResult:
    told: list[Json] = [shape(token) for token in await call.callers.tokens()]
    return CallResult({"tokens": told})


async def browsers(call: Call) -> CallResult:
    told: list[Json] = [sign_in_to_json(each, call.key) for each in await call.callers.sign_ins()]
    return CallResult({"signIns": told})


ROUTES: Final = (
    read(
        "/api/tokens",
        listed,
        "The tokens of programs, without their secrets",
        "Tokens",
        scope=Scope.ADMIN,
    ),
    read(
        "/api/sign-ins", browsers, "The browsers that are signed in", "SignIns", scope=Scope.ADMIN
    ),
)
