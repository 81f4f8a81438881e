"""Channel settings: `[channels.NAME]`, with a kind and what that kind needs.

    [channels.ninas_whatsapp]
    kind = "whatsapp"
    number_id = "106540352242922"
    token = "whatsapp_token"          # the name of a secret, never its value

A secret is given by its name only; `remit secrets set NAME` stores its value.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias, cast

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import IT, Json, JsonMap, from_json

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SECRET: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
TAKEN: Final = frozenset({"dashboard"})


class WhatsAppLine(Struct, frozen=True, kw_only=True):
    """A number on the Cloud API. `token`, `app_secret` and `verify_token` are names of secrets."""

    number_id: str
    token: str
    app_secret: str = ""  # without it no incoming call is accepted
    verify_token: str = ""
    owner: str = ""  # your own number, digits only
    template: str = ""
    language: str = "en"
    template_parameters: tuple[str, ...] = ("{text}",)  # one for each variable of its body
    template_limit: int = 1024  # characters of the text it accepts
    url: str = "https://graph.facebook.com/v25.0"
    aliases: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.token, self.app_secret, self.verify_token)


class BridgeLink(Struct, frozen=True, kw_only=True):
    """A program with a linked device; it has a token only if you set one."""

    url: str
    token: str = ""
    owner: str = ""
    knows_ids: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.token,)


class EmailSettings(Struct, frozen=True, kw_only=True):
    """A mail account for sending; with `imap_host` unknown sends are looked up in its mailbox."""

    host: str
    sender: str
    port: int = 587
    security: str = "starttls"
    user: str = ""
    password: str = ""  # the name of a secret
    sender_name: str = ""
    reply_to: str = ""
    owner: str = ""
    ca_file: str = ""
    imap_host: str = ""
    imap_port: int = 993
    imap_security: str = "tls"
    imap_user: str = ""  # default: the same user and password
    imap_password: str = ""
    sent_folders: tuple[str, ...] = ()
    filed_within: int = 0  # minutes within which it files every accepted letter; 0: not every one
    aliases: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.password, self.imap_password)


class WebhookSettings(Struct, frozen=True, kw_only=True):
    """A program that gets signed events. `secret` is the name of the signing secret."""

    url: str
    secret: str
    private: bool = False  # it may be on this machine or in your own network
    source: str = "urn:remit"
    aliases: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"HookOut(secret={self.secret!r})"  # many URLs are secrets themselves

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.secret,)


class AppriseTargets(Struct, frozen=True, kw_only=True):
    """Apprise targets: each name has the name of the secret with its address.

    `owner` is the one that is you.
    """

    targets: dict[str, Json]
    owner: str = ""
    private: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(str(each) for each in self.targets.values())


Chosen: TypeAlias = WhatsAppLine | BridgeLink | EmailSettings | WebhookSettings | AppriseTargets

KINDS: Final[Mapping[str, type[Chosen]]] = {
    "whatsapp": WhatsAppLine,
    "bridge": BridgeLink,
    "email": EmailSettings,
    "webhook": WebhookSettings,
    "apprise": AppriseTargets,
}
# What the owner calls a kind; a bridge is WhatsApp too.
CALLED: Final[Mapping[type[Chosen], str]] = {
    WhatsAppLine: "whatsapp",
    BridgeLink: "whatsapp",
    EmailSettings: "email",
    WebhookSettings: "webhook",
    AppriseTargets: "apprise",
}


def kind_of(chosen: Chosen) -> str:
    """Return the settings' word for a channel's kind."""
    return next(word for word, kind in KINDS.items() if isinstance(chosen, kind))


def read(value: object, where: str) -> Mapping[str, Chosen]:
    """Parse all channels; errors name their place."""
    if not isinstance(value, Mapping):
        sentence = f"channels in {where} must be a table of channels."
        raise BadInput(sentence, field="channels")
    found = {
        name: _one(name, each, f"[channels.{name}] in {where}") for name, each in value.items()
    }
    _refuse_doubles(found, where)
    return found


def _one(name: str, value: object, where: str) -> Chosen:
    if not _NAME.fullmatch(name) or name in TAKEN:
        sentence = f"{where}: a name is of small letters, digits and _, and not dashboard."
        raise BadInput(sentence, field=name)
    if not isinstance(value, Mapping):
        raise BadInput(f"{where} must be a table with a kind.", field=name)
    kind = KINDS.get(str(value.get("kind")))
    if kind is None:
        said = f"kind is {value['kind']!r:.60}" if "kind" in value else "it has no kind"
        raise BadInput(f"{where}: {said}; it may be {', '.join(KINDS)}.", field="kind")
    rest = {key: each for key, each in value.items() if key != "kind"}
    try:
        chosen = from_json(kind, cast("JsonMap", rest), IT)
    except BadInput as error:
        said = str(error)
        hint = "" if "has no field" not in said else f" Known: {_known(kind)}."
        raise BadInput(f"{where}: {said}{hint}", field=name) from None
    _check(chosen, where)
    return chosen


def _known(kind: type[Chosen]) -> str:
    return ", ".join(("kind", *kind.__struct_fields__))


def _check(chosen: Chosen, where: str) -> None:
    if isinstance(chosen, AppriseTargets) and not all(
        isinstance(each, str) for each in chosen.targets.values()
    ):
        sentence = f"{where}: targets must map names to names of secrets."
        raise BadInput(sentence, field="targets")
    for secret in chosen.secrets:
        if secret and not _SECRET.fullmatch(secret):
            # Not shown: somebody may have written the value itself.
            sentence = (
                f"{where}: what is secret is given by its name, such as whatsapp_token; "
                "`remit secrets set NAME` keeps its value. If it was the real one, renew it."
            )
            raise BadInput(sentence, field="secret")
    if any(not alias.strip() for alias in chosen.aliases):
        raise BadInput(f"{where}: an alias may not be empty.", field="aliases")


def _refuse_doubles(found: Mapping[str, Chosen], where: str) -> None:
    """Refuse two channels with the same name or alias."""
    seen: dict[str, str] = {}
    for name, chosen in found.items():
        for word in {name, *(alias.strip().casefold() for alias in chosen.aliases)}:
            if word in seen:
                sentence = f"{where}: {word!r:.60} names both {seen[word]} and {name}."
                raise BadInput(sentence, field="aliases")
            seen[word] = name
