"""Calls from providers. They hold no token of ours: what they say is believed by its signature."""

from typing import Final

from remit.deliver import whatsapp_came, whatsapp_hook
from remit.deliver.ways import HookIn
from remit.server.call import Answer, Call, Query, Route
from remit.server.problem import Problem, Refused
from remit.store import inbound

_PATH: Final = "/hooks/whatsapp/{name}"
_ASKED: Final = (
    Query("hub.mode", "What is asked: subscribe.", {"type": "string"}),
    Query("hub.verify_token", "The word that you entered beside the address.", {"type": "string"}),
    Query("hub.challenge", "What is said back.", {"type": "string"}),
)


async def challenge(call: Call) -> Answer:
    """Say that this hook is ours, to who knows the word for it."""
    said = {name: values[0] for name, values in call.query.items()}
    answer = whatsapp_hook.challenge(said, _hook(call).verify_token())
    if answer is None:
        sentence = "The verify token is not the one that the settings of this channel name."
        raise Refused(Problem("unsigned", sentence))
    return Answer(answer)


async def take(call: Call) -> Answer:
    """Keep all that a call brings, in one transaction, and let go on what waited for it."""
    hook = _hook(call)
    # While a secret is replaced both are kept, parted by a space.
    if not whatsapp_hook.is_signed(call.body, call.signature, hook.app_secret().split()):
        sentence = "The signature is missing or made with another secret; nothing was read."
        raise Refused(Problem("unsigned", sentence))
    batch = whatsapp_hook.read(call.body)
    if batch is None:
        raise Refused(Problem("malformed", "This is not a call of WhatsApp's."))
    came = whatsapp_came.all_of(batch, hook)
    woken = await call.house.db.write(inbound.take, came, call.house.clock.now())
    if woken:
        call.house.engine.nudge()
    for each in came:
        # What the owner writes is a turn, once; what others write may be work, by his rules.
        if await call.house.talk.came(each) is None and each.sender:
            await call.house.doors.wrote(each)
    return Answer({"noted": len(came)})


def _hook(call: Call) -> HookIn:
    hook = call.house.outfit.hooks.get(call.path["name"])
    if hook is None:
        sentence = "There is no channel of this name that takes calls."
        raise Refused(Problem("not-found", sentence))
    return hook


ROUTES: Final = (
    Route(
        method="GET",
        path=_PATH,
        does=challenge,
        says="Asked by WhatsApp once, when its hook is entered",
        gives="Challenge",
        query=_ASKED,
        public=True,
    ),
    Route(
        method="POST",
        path=_PATH,
        does=take,
        says="Reports and messages from WhatsApp, by their signature",
        gives="Noted",
        public=True,
    ),
)
