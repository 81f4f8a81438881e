"""Routes of channels: how each stands, what it promises, and the calls of providers and hooks."""

import asyncio
from collections.abc import Mapping
from typing import Final

from remit.channels.registry import ChannelState, InboundHook, channel_states
from remit.channels.whatsapp import callbacks
from remit.errors import NotFound
from remit.model.codec import Json
from remit.model.delivery import SendGuarantee
from remit.operations.upkeep import DASHBOARD, cue_to_json
from remit.server.call import Call, CallResult
from remit.server.problem import RequestRefused
from remit.server.routes import QueryParameter, RouteTerms, read
from remit.store import cues, deliveries, permissions
from remit.store.cues import CueFate
from remit.store.database import Tx
from remit.system.http_client import is_signed
from remit.wiring import App
from remit.wiring.app_context import keys_of

GUARANTEES: Final[Mapping[SendGuarantee, str]] = {
    SendGuarantee.TRANSACTION: "Exactly once: what is shown and what is written down are one.",
    SendGuarantee.KEY: "Once: the same message given twice is taken as one.",
    SendGuarantee.LOOKUP: "Once: after a cut it is looked up whether the message arrived.",
    SendGuarantee.NOTHING: "At most once: after a cut you are asked whether it arrived.",
}


@read("/api/channels", "Channels")
async def list_channels(call: Call) -> CallResult:
    """Every way out: whether it has what it needs, and what it promises."""
    return CallResult({"channels": await listed(call.app)})


async def listed(app: App) -> list[Json]:
    """Return the same for a page."""
    names = [DASHBOARD, *(way.name for way in app.outfit.ways)]
    off, wrong = await app.db.read(_troubles, names)
    kinds = {way.name: (way.kind, way.aliases) for way in app.outfit.ways}
    states = await asyncio.to_thread(states_of, app, off)
    found: list[Json] = []
    for name in names:
        kind, aliases = kinds.get(name, (DASHBOARD, ()))
        state = states.get(name)
        why = state.said if state and not state.ready else ""
        found.append(
            {
                "name": name,
                "kind": kind,
                "aliases": list[Json](aliases),
                "ready": not why,
                "why": why or None,
                "off": name in off,
                "guarantee": GUARANTEES[_keeps(app, name)],
                "lastError": wrong.get(name),
            }
        )
    return found


def _keeps(app: App, name: str) -> SendGuarantee:
    return SendGuarantee.TRANSACTION if name == DASHBOARD else app.outfit.channels[name].keeps


def states_of(app: App, off: Mapping[str, str]) -> dict[str, ChannelState]:
    """Whether each channel has what it needs; asks the machine's keyring, which may be slow."""
    return channel_states(keys_of(app.settings), app.clock, off, app.settings.home)


def _troubles(tx: Tx, names: list[str]) -> tuple[Mapping[str, str], dict[str, str]]:
    last = {name: deliveries.last_trouble(tx, name) for name in names}
    return permissions.channels_off(tx), {name: why for name, why in last.items() if why}


RETRY_AFTER: Final = 600  # seconds


@RouteTerms(method="POST", path="/hooks/in/{name}", gives="Cue", status=202, public=True, raw=True)
async def take_event(call: Call) -> CallResult:
    """An event from a program, by the secret of its hook."""
    from remit.channels.webhook import receiving  # noqa: PLC0415 - who has no hook need not wait for it
    from remit.wiring.inbound_registry import CallTooLarge, CallUnsigned  # noqa: PLC0415 - as above

    try:
        kept = await call.app.doors.called(
            call.path["name"], receiving.HookCall(call.headers, call.body)
        )
    except NotFound:
        raise RequestRefused("not-found", "There is no hook of this name.") from None
    except CallUnsigned as error:
        raise RequestRefused("unsigned", str(error)) from None
    except CallTooLarge as error:
        raise RequestRefused("too-large", str(error)) from None
    if kept.fate is CueFate.OVER:
        sentence = f"This hook has started enough for now: {kept.why}. Come again later."
        again = {"Retry-After": str(RETRY_AFTER)}
        raise RequestRefused("rate-limited", sentence, headers=again)
    return CallResult(cue_to_json(kept), 202)


_PATH: Final = "/hooks/whatsapp/{name}"
_ASKED: Final = (
    QueryParameter("hub.mode", "What is asked: subscribe."),
    QueryParameter("hub.verify_token", "The word that you entered beside the address."),
    QueryParameter("hub.challenge", "What is said back."),
)


@read(_PATH, "Challenge", *_ASKED, public=True)
async def challenge(call: Call) -> CallResult:
    """Asked by WhatsApp once, when its hook is entered."""
    parameters = {name: values[0] for name, values in call.query.items()}
    answer = callbacks.challenge(parameters, _hook(call).verify_token())
    if answer is None:
        sentence = "The verify token is not the one that the settings of this channel name."
        raise RequestRefused("unsigned", sentence)
    return CallResult(answer)


@RouteTerms(method="POST", path=_PATH, gives="Noted", public=True)
async def take_whatsapp_call(call: Call) -> CallResult:
    """Reports and messages from WhatsApp, by their signature."""
    hook = _hook(call)
    # While a secret is replaced, both are stored, separated by a space.
    if not is_signed(call.body, call.signature or "", hook.app_secret().split()):
        sentence = "The signature is missing or made with another secret; nothing was read."
        raise RequestRefused("unsigned", sentence)
    messages = callbacks.read_call(call.body, hook)
    if messages is None:
        raise RequestRefused("malformed", "This is not a call of WhatsApp's.")
    again = [await call.app.db.read(cues.is_known, each.ref) for each in messages]
    woken = await call.app.db.write(cues.take_inbound, messages, call.app.clock.now())
    if woken:
        call.app.engine.nudge()
    for each, known in zip(messages, again, strict=True):
        # A button, or the text for one, is the owner's decision; any other words of the owner are
        # a turn; others' messages may start work, by the owner's rules.
        if each.sender and await call.app.doors.owner_wrote(each, again=known):
            continue
        if await call.app.talk.receive(each) is None and each.sender:
            await call.app.doors.wrote(each)
    return CallResult({"noted": len(messages)})


def _hook(call: Call) -> InboundHook:
    hook = call.app.outfit.hooks.get(call.path["name"])
    if hook is None:
        sentence = "There is no channel of this name that takes calls."
        raise RequestRefused("not-found", sentence)
    return hook
