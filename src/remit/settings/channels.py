"""Channel settings, `[channels.NAME]`, and notice settings, `[notices]`.

    [channels.ninas_whatsapp]
    kind = "whatsapp"
    number_id = "106540352242922"
    token = "whatsapp_token"          # the name of a secret, never its value

A secret is given by its name only; `remit secrets set NAME` stores its value.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model.conversation import CONVERSATION, DIGEST, KINDS, NONE, PUSH, WAYS, NoticeKind
from remit.settings.parts import parse_entry

NAME_PATTERN: Final = r"[a-z][a-z0-9_]{0,39}"
KEY_NAME_PATTERN: Final = r"[A-Za-z][A-Za-z0-9_.-]{0,63}"
TAKEN: Final = frozenset({"dashboard"})
NO_DOOR: Final = (
    "it is about no channel that people write by; name one of [channels] of the kind "
    "email, whatsapp or telegram"
)


class OAuthSettings(Struct, frozen=True, kw_only=True):
    """A sign-in instead of a password, with a client id of the owner's own.

    `client_secret` and `token` are names of secrets; `remit channels connect` fills the second.
    The addresses are those of the provider, unless they are set.
    """

    provider: str  # google or microsoft
    client_id: str
    token: str
    client_secret: str = ""
    authorize_url: str = ""
    token_url: str = ""
    device_url: str = ""
    revoke_url: str = ""


class ChannelSettings(Struct, frozen=True, kw_only=True):
    """What `[channels.NAME]` of one kind may say; each kind is declared in a folder of `channels`.

    A secret stands here by its name; `secrets` lists these names. `asks` has the fields that a form
    or `remit setup` asks for, each with its label and a hint; without it, all are asked for.
    """

    kind: ClassVar[str]  # the word in the settings
    service: ClassVar[str]  # what people call it
    promise: ClassVar[str]  # what the owner may rely on
    answers_here: ClassVar[bool] = False  # answers and results go back to the owner's chat
    asks: ClassVar[Mapping[str, tuple[str, str]]] = {}
    choices: ClassVar[Mapping[str, Mapping[str, str]]] = {}  # of a field, with their labels
    secret_fields: ClassVar[tuple[str, ...]] = ()
    aliases: tuple[str, ...] = ()

    @property
    def called(self) -> str:
        """What the owner calls it in a message: a bridge is a way to WhatsApp, too."""
        return self.service.lower()

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(getattr(self, each) for each in self.secret_fields)

    def problem(self) -> str:
        """What is wrong with it beyond the types of its fields; empty if nothing is."""
        return ""

    @property
    def sign_in(self) -> OAuthSettings | None:
        """How the owner signs in at its provider, if not by a password."""
        return None

    def ready(self, name: str) -> str:
        """How it stands if nothing is missing."""
        del name
        return "has what it needs"

    def warning(self, name: str) -> tuple[str, str] | None:
        """What it cannot do as it is set, and what to do about that."""
        del name
        return None

    def pairing_link(self, code: str) -> str | None:
        """Where a chat is connected by a code; empty: send it yourself; None: not by a code."""
        del code
        return None

    def door_problem(self, name: str, authserv_id: str) -> str:
        """Why nothing can come in by it; empty if something can."""
        del name, authserv_id
        return NO_DOOR


@cache
def kinds() -> Mapping[str, type[ChannelSettings]]:
    """Every kind of channel by its word in the settings: a folder of its own declares it.

    This is the one place that reaches up a layer, by the names of folders: so no list has to
    know every channel.
    """
    import remit  # noqa: PLC0415 - only its path

    folders = sorted(Path(remit.__path__[0]).glob("channels/*/__init__.py"))
    modules = (import_module(f"remit.channels.{each.parent.name}") for each in folders)
    return {
        found.kind: found
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type)
        and issubclass(found, ChannelSettings)
        and found.__module__ == module.__name__
    }


def names_for_people(channels: Mapping[str, ChannelSettings]) -> dict[str, str]:
    """Return each channel as people call it; two of one service by their own names."""
    services = [each.service for each in channels.values()]
    return {
        name: each.service if services.count(each.service) == 1 else name
        for name, each in channels.items()
    }


def read(value: object, where: str) -> Mapping[str, ChannelSettings]:
    """All channels of the settings; what is wrong is named with its place."""
    if not isinstance(value, Mapping):
        sentence = f"channels in {where} must be a table of channels."
        raise BadInput(sentence, field="channels")
    found = {
        name: _read_channel(name, each, f"[channels.{name}] in {where}")
        for name, each in value.items()
    }
    _refuse_doubles(found, where)
    return found


def _read_channel(name: str, value: object, where: str) -> ChannelSettings:
    if not re.fullmatch(NAME_PATTERN, name) or name in TAKEN:
        sentence = f"{where}: a name is of small letters, digits and _, and not dashboard."
        raise BadInput(sentence, field=name)
    if not isinstance(value, Mapping):
        raise BadInput(f"{where} must be a table with a kind.", field=name)
    kind = kinds().get(str(value.get("kind")))
    if kind is None:
        text = f"kind is {value['kind']!r:.60}" if "kind" in value else "it has no kind"
        raise BadInput(f"{where}: {text}; it may be {', '.join(kinds())}.", field="kind")
    rest = {key: each for key, each in value.items() if key != "kind"}
    known = ("kind", *kind.__struct_fields__[1:], "aliases")  # which every kind has
    chosen = parse_entry(kind, rest, name, where, known)
    _check(chosen, where)
    return chosen


def _check(chosen: ChannelSettings, where: str) -> None:
    if problem := chosen.problem():
        raise BadInput(f"{where}: {problem}.", field="targets")
    for secret in chosen.secrets:
        if secret and not re.fullmatch(KEY_NAME_PATTERN, secret):
            # Not shown: somebody may have written the value itself.
            sentence = (
                f"{where}: what is secret is given by its name, such as whatsapp_token; "
                "`remit secrets set NAME` keeps its value. If it was the real one, renew it."
            )
            raise BadInput(sentence, field="secret")
    if any(not alias.strip() for alias in chosen.aliases):
        raise BadInput(f"{where}: an alias may not be empty.", field="aliases")


def _refuse_doubles(found: Mapping[str, ChannelSettings], where: str) -> None:
    """Two channels that answer to one name would make every message to it a guess."""
    seen: dict[str, str] = {}
    for name, chosen in found.items():
        for word in {name, *(alias.strip().casefold() for alias in chosen.aliases)}:
            if word in seen:
                sentence = f"{where}: {word!r:.60} names both {seen[word]} and {name}."
                raise BadInput(sentence, field="aliases")
            seen[word] = name


class NoticeSettings(Struct, frozen=True):
    """The ways of each kind of notice; an empty list: none.

    Whatever needs the owner is in the inbox in any case.
    """

    question: tuple[str, ...] = (CONVERSATION, PUSH)
    done: tuple[str, ...] = (CONVERSATION,)
    failed: tuple[str, ...] = (CONVERSATION, PUSH)
    lost: tuple[str, ...] = (CONVERSATION, PUSH)  # a message that did not arrive
    missed: tuple[str, ...] = (CONVERSATION,)  # a run that was missed, or skipped by a rule
    refused: tuple[str, ...] = (CONVERSATION,)  # a calendar event that cannot start work
    urgent: tuple[str, ...] = ()  # kinds that are sent in quiet hours, too
    digest_at: str = "08:00"  # on the owner's clock
    digest_over: tuple[str, ...] = (CONVERSATION,)  # the first of these that can be used
    link: str = ""  # address of the dashboard in notices, if not public_url
    push: str = "bare"  # what a lock screen shows: that somebody is needed, or the `title` too
    push_contact: str = ""  # whom a push service may write to: `mailto:…` or `https://…`

    def ways(self, news: NoticeKind) -> tuple[str, ...]:
        """Return the ways of a kind."""
        found: tuple[str, ...] = getattr(self, news.value)
        return found

    @property
    def morning(self) -> time:
        return time.fromisoformat(self.digest_at)

    @property
    def channels(self) -> tuple[str, ...]:
        """Every channel that is named anywhere."""
        named = [*self.digest_over, *(way for news in KINDS for way in self.ways(news))]
        return tuple(dict.fromkeys(way for way in named if way not in WAYS))


def words(key: str, value: object, where: str) -> tuple[str, ...]:
    """Parse a list of words, or one text with commas; `none` must be alone."""
    parted = value.split(",") if isinstance(value, str) else value
    if not isinstance(parted, Sequence) or not all(isinstance(each, str) for each in parted):
        example = '["question"]' if key == "urgent" else '["conversation", "push"]'
        sentence = f"{key} in {where} must be a list such as {example}, or none; not {value!r:.60}."
        raise BadInput(sentence, field=key)
    found = tuple(dict.fromkeys(filter(None, (each.strip() for each in parted))))
    if NONE in found and len(found) > 1:
        raise BadInput(f"{key} in {where} says none and something else; choose one.", field=key)
    return () if NONE in found else found


def check(notices: NoticeSettings, channels: Iterable[str]) -> None:
    """Refuse a word that is no way, no configured channel, and no kind."""
    named = tuple(channels)
    for news in KINDS:
        _check_known(news.value, notices.ways(news), (*WAYS, *named), f"{NONE} alone, or some of ")
    _check_known("digest_over", notices.digest_over, (CONVERSATION, *named), "one or more of ")
    _check_known("urgent", notices.urgent, tuple(KINDS), f"{NONE}, or some of ")
    if not notices.digest_over and any(DIGEST in notices.ways(news) for news in KINDS):
        sentence = f"digest_over in [notices] is empty, but a kind is told by {DIGEST}; name a way."
        raise BadInput(sentence, field="digest_over")


def _check_known(key: str, names: Iterable[str], known: tuple[str, ...], right: str) -> None:
    for word in names:
        if word not in known:
            sentence = f"{key} in [notices] has {word!r:.60}; it may be {right}{', '.join(known)}."
            raise BadInput(sentence, field=key)
