"""Rule routes: the owner's standing rules, by kind; so far the permissions to write to people."""

import hashlib
from typing import Final

from remit.errors import NotFound
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap, stamp
from remit.model.permit import Permission
from remit.model.reply import Policy
from remit.server.bodies import EmptyBody, NewRule
from remit.server.call import Call, CallResult, Route
from remit.store import permissions


async def list_rules(call: Call) -> CallResult:
    """Return all rules; ASK is the default and no rule."""
    rules: list[Json] = [_told(each) for each in await _standing(call)]
    return CallResult({"rules": rules})


async def add(call: Call) -> CallResult:
    """Store a permission; ALLOW applies to the current address."""
    body = call.read(NewRule)
    await call.house.permits.permit(body.contact, body.channel, body.policy)
    return await list_rules(call)


async def drop(call: Call) -> CallResult:
    """Remove a permission: from now on the owner is asked."""
    call.read(EmptyBody)
    said = [each for each in await _standing(call) if _id(each) == call.path["id"]]
    if not said:
        raise NotFound("rule", call.path["id"][:60])
    asks = Permission(said[0].contact, said[0].channel, said[0].address, Policy.ASK)
    await call.house.db.write(permissions.put, asks, call.house.clock.now())
    return await list_rules(call)


async def _standing(call: Call) -> list[Permission]:
    found = await call.house.db.read(permissions.list_permissions)
    return [each for each in found if each.policy is not Policy.ASK]


def _told(said: Permission) -> JsonMap:
    return {
        "id": _id(said),
        "kind": "permission",
        "contact": said.contact,
        "channel": said.channel,
        "address": said.address,
        "policy": said.policy.value,
        "givenAt": stamp(said.given_at) if said.given_at else None,
    }


def _id(said: Permission) -> str:
    whose = f"{said.contact}\x1f{said.channel}"
    return "rule-" + hashlib.sha256(whose.encode()).hexdigest()[:26]


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/rules",
        does=list_rules,
        says="What you have said once and for all",
        gives="Rules",
    ),
    Route(
        method="POST",
        path="/api/rules",
        does=add,
        says="Say once and for all whether someone is written to on a channel",
        gives="Rules",
        body=NewRule,
        scope=Scope.ADMIN,
    ),
    Route(
        method="DELETE",
        path="/api/rules/{id}",
        does=drop,
        says="Take a word back; from then on you are asked",
        gives="Rules",
        body=EmptyBody,
        scope=Scope.ADMIN,
    ),
)
