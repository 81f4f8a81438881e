"""Webhooks: signed events to other programs, and signed calls from them.

Here: the section of a program that is told by a signed event.
"""

from collections.abc import Mapping
from typing import ClassVar

from remit.channels import ChannelKind


class WebhookSettings(ChannelKind, frozen=True, kw_only=True):
    """A program that is told, by a signed event. `secret` is the name of what it is signed with."""

    kind: ClassVar[str] = "webhook"
    service: ClassVar[str] = "Webhook"
    built_by: ClassVar[str] = "remit.channels.webhook.sending"
    promise: ClassVar[str] = (
        "At least once, under an id that never changes, so that the receiver can tell."
    )

    secret_fields: ClassVar[tuple[str, ...]] = ("secret",)
    asks: ClassVar[Mapping[str, tuple[str, str]]] = {
        "url": ("Address", "Where the program takes events, such as https://example.org/in."),
        "secret": ("Signing secret", "It signs every event: whsec_ and base64."),
        "private": ("It is in your own network", "Or on this machine."),
    }

    url: str
    secret: str
    private: bool = False  # it may lie on this machine or in your own network
    source: str = "urn:remit"

    def __repr__(self) -> str:
        return f"HookOut(secret={self.secret!r})"  # many a url is a secret itself
