"""How each channel of the settings stands, as far as can be seen without sending anything."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from remit.channels.registry import ChannelSecrets, complaints
from remit.contacts.book import FILE, OWNER
from remit.contacts.book import load as load_contacts
from remit.errors import RemitError
from remit.ports import Clock
from remit.settings.channels import ChannelSettings, OAuthSettings


class ChannelState(Struct, frozen=True):
    """`verdict` is ok, warn or fail, as the doctor says it."""

    name: str
    kind: str
    verdict: str
    said: str
    todo: str = ""
    aliases: tuple[str, ...] = ()
    ready: bool = True  # something can go out
    lacks_chat: bool = False  # all is well, but no chat is connected with the owner


def channel_states(
    keys: ChannelSecrets, clock: Clock, off: Mapping[str, str], home: Path
) -> dict[str, ChannelState]:
    """Every channel of the settings; `off` says why one switched itself off."""
    if not keys.chosen:
        return {}
    wrong = complaints(keys, clock)
    found = {
        name: _state(name, each, keys, wrong.get(name), off.get(name))
        for name, each in keys.chosen.items()
    }
    return {name: _with_chat(each, keys.chosen[name], home) for name, each in found.items()}


def _state(
    name: str, chosen: ChannelSettings, keys: ChannelSecrets, wrong: str | None, off: str | None
) -> ChannelState:
    if off is not None:
        found = "fail", f"off: {off}", f"remit channels on {name}", False
    elif wrong is not None:
        found = "fail", wrong, f"Fix [channels.{name}] in settings.toml.", False
    else:
        found = _health(name, chosen, keys)
    verdict, sentence, todo, ready = found
    return ChannelState(name, chosen.kind, verdict, sentence, todo, chosen.aliases, ready)


def _health(name: str, chosen: ChannelSettings, keys: ChannelSecrets) -> tuple[str, str, str, bool]:
    try:
        missing = [secret for secret in chosen.secrets if secret and not keys.get(secret)]
    except RemitError as error:
        return "fail", str(error), "", False
    if missing:
        sentence = f"lacks {', '.join(missing)}: nothing goes out before it is set"
        return "warn", sentence, f"remit secrets set {missing[0]}", False
    if chosen.sign_in is not None and (problem := _sign_in_problem(chosen.sign_in, keys)):
        return "warn", problem, f"remit channels connect {name}", False
    if warning := chosen.warning(name):
        return "warn", *warning, True
    return "ok", chosen.ready(name), "", True


def _with_chat(state: ChannelState, chosen: ChannelSettings, home: Path) -> ChannelState:
    """Say that the owner's chat is yet to be connected, where that is done by a code."""
    if state.verdict != "ok" or chosen.pairing_link("") is None:
        return state
    try:
        book = load_contacts(home / FILE) if (home / FILE).exists() else ()
    except RemitError:
        return state  # the doctor says what is wrong with it
    if any(each.role == OWNER and state.name in each.lines for each in book):
        return state
    text, todo = "has no chat of yours yet", f"remit channels pair {state.name}"
    return replace(state, verdict="warn", said=text, todo=todo, lacks_chat=True)


def _sign_in_problem(chosen: OAuthSettings, keys: ChannelSecrets) -> str:
    from remit.channels.oauth.tokens import parse_sign_in  # noqa: PLC0415 - loads a web client

    found = parse_sign_in(keys.get(chosen.token))
    if found is None:
        return f"is not connected with {chosen.provider} yet: nothing goes out before"
    ended = f"{chosen.provider} no longer accepts the sign-in: nothing goes out before you renew it"
    return ended if found.ended else ""
