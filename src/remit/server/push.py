"""Web push routes: subscribe this browser, and the service worker."""

from typing import Annotated, Final

from pydantic import Field

from remit.channels.push.sending import NEEDS
from remit.model.caller import Scope
from remit.server import static
from remit.server.bodies import EmptyBody, RequestBody
from remit.server.call import Call, CallResult, Route
from remit.server.problem import Problem, RequestRefused

WORKER: Final = "/sw.js"  # at the root, otherwise it could not serve every page
_SIGNED_IN: Final = "sig-"


class PushKeys(RequestBody):
    """What a text is sealed with, so that nobody but that browser reads it."""

    p256dh: Annotated[str, Field(min_length=1, max_length=200)]
    auth: Annotated[str, Field(min_length=1, max_length=100)]


class NewSubscription(RequestBody):
    """What a browser says when it is asked for a subscription."""

    endpoint: Annotated[str, Field(min_length=1, max_length=2048)]
    keys: PushKeys


async def look(call: Call) -> CallResult:
    return await _told(call)


async def subscribe(call: Call) -> CallResult:
    said, sign_in = call.read(NewSubscription), _browser(call)
    await call.house.push.subscribe(sign_in, said.endpoint, said.keys.p256dh, said.keys.auth)
    return await _told(call)


async def unsubscribe(call: Call) -> CallResult:
    call.read(EmptyBody)
    await call.house.push.unsubscribe(_browser(call))
    return await _told(call)


async def worker(_: Call) -> CallResult:
    """Return the service worker."""
    text = static.files()["js/sw.js"].raw.decode()
    return CallResult(text, media="text/javascript")


async def _told(call: Call) -> CallResult:
    push = call.house.push
    if not push.possible:
        return CallResult({"possible": False, "why": NEEDS, "publicKey": None, "on": False})
    key, on = await push.public_key(), await push.is_on(call.key)
    return CallResult({"possible": True, "why": None, "publicKey": key, "on": on})


def _browser(call: Call) -> str:
    """Return the sign-in of this browser: a subscription ends with it."""
    if not call.key.startswith(_SIGNED_IN):
        sentence = "Only a browser that is signed in can be told; a token has none."
        raise RequestRefused(Problem("forbidden", sentence))
    return call.key


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/push",
        does=look,
        says="Whether browsers can be told while no page is open, and whether this one is",
        gives="Push",
        scope=Scope.APPROVE,
    ),
    Route(
        method="POST",
        path="/api/push",
        does=subscribe,
        says="Tell this browser, as long as it is signed in",
        gives="Push",
        body=NewSubscription,
        scope=Scope.APPROVE,
        kept=False,
    ),
    Route(
        method="DELETE",
        path="/api/push",
        does=unsubscribe,
        says="Tell this browser no more",
        gives="Push",
        body=EmptyBody,
        scope=Scope.APPROVE,
    ),
    Route(
        method="GET",
        path=WORKER,
        does=worker,
        says="What shows a notice while no page is open",
        gives="Page",
        public=True,
        page=True,
    ),
)
