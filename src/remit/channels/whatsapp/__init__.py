"""WhatsApp: a number on Meta's Cloud API, or a bridge to a linked device. Here: their sections."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from remit.channels import ChannelKind

if TYPE_CHECKING:
    from remit.channels.registry import ChannelSecrets, InboundHook
    from remit.settings.channels import ChannelSettings


class WhatsAppLine(ChannelKind, frozen=True, kw_only=True):
    """A number on the Cloud API. `token`, `app_secret` and `verify_token` are names of secrets."""

    kind: ClassVar[str] = "whatsapp"
    service: ClassVar[str] = "WhatsApp"
    built_by: ClassVar[str] = "remit.channels.whatsapp.sending"
    promise: ClassVar[str] = (
        "Sends nothing twice without asking you. If the connection breaks while sending, Remit "
        "waits 15 minutes for the provider's report, then asks you."
    )

    secret_fields: ClassVar[tuple[str, ...]] = ("token", "app_secret", "verify_token")
    asks: ClassVar[Mapping[str, tuple[str, str]]] = {
        "number_id": ("Phone number id", "From the API set-up page of your Meta app; digits."),
        "owner": ("Your own number", "In digits alone, with the country code."),
        "token": ("Access token", "A permanent one, of a system user."),
        "app_secret": ("App secret", "Without it nothing that comes in is believed."),
        "verify_token": ("Verify token", "A word of your own; Meta asks for it once."),
        "template": ("Template", "For who has not written within a day; may be empty."),
    }

    number_id: str
    token: str
    app_secret: str = ""  # without it nothing that comes in is believed
    verify_token: str = ""
    owner: str = ""  # your own number, in digits alone
    template: str = ""
    language: str = "en"
    template_parameters: tuple[str, ...] = ("{text}",)  # one for each variable of its body
    template_limit: int = 1024  # characters of the text that it takes
    url: str = "https://graph.facebook.com/v25.0"

    def ready(self, name: str) -> str:
        return f"has what it needs; its hook is /hooks/whatsapp/{name}"

    def warning(self, name: str) -> tuple[str, str] | None:
        if self.app_secret:
            return None
        todo = f"Name app_secret and verify_token, and enter /hooks/whatsapp/{name} as the hook."
        text = "can send, but receives nothing: it cannot write first, nor tell what arrived"
        return text, todo

    def door_problem(self, name: str, authserv_id: str) -> str:
        del name
        return "authserv_id is of mail; WhatsApp signs what it brings" if authserv_id else ""

    def hook(
        self, name: str, every: "Mapping[str, ChannelSettings]", keys: "ChannelSecrets"
    ) -> "InboundHook | None":
        """One app has one door for all its numbers, so each knows them all."""
        from remit.channels.registry import InboundHook  # noqa: PLC0415 - as above

        if not self.app_secret:
            return None
        numbers = {
            other.number_id: of
            for of, other in every.items()
            if isinstance(other, WhatsAppLine) and other.app_secret == self.app_secret
        }
        return InboundHook(
            name, keys.token(self.app_secret), keys.token(self.verify_token), numbers
        )


class BridgeLink(ChannelKind, frozen=True, kw_only=True):
    """A program with a linked device; it has a token only if you gave it one."""

    kind: ClassVar[str] = "bridge"
    service: ClassVar[str] = "WhatsApp"
    built_by: ClassVar[str] = "remit.channels.whatsapp.bridge"
    promise: ClassVar[str] = (
        "Sends nothing twice without asking you. If the connection breaks while sending, you are "
        "asked, unless the bridge recognises the message by its id."
    )

    secret_fields: ClassVar[tuple[str, ...]] = ("token",)
    asks: ClassVar[Mapping[str, tuple[str, str]]] = {
        "url": ("Address of the bridge", "Such as http://127.0.0.1:8080."),
        "token": ("Token", "Only if you gave it one."),
        "owner": ("Your own number", "In digits alone, with the country code."),
        "knows_ids": ("It knows a message again by its id", ""),
    }

    url: str
    token: str = ""
    owner: str = ""
    knows_ids: bool = False
