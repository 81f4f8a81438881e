"""A program that is told by a signed event, in the settings."""

from typing import ClassVar

from remit.channels.kind import ChannelKind


class WebhookSettings(ChannelKind, frozen=True, kw_only=True):
    """A program that is told, by a signed event. `secret` is the name of what it is signed with."""

    kind: ClassVar[str] = "webhook"
    service: ClassVar[str] = "Webhook"
    built_by: ClassVar[str] = "remit.channels.webhook.sending"
    promise: ClassVar[str] = (
        "At least once, under an id that never changes, so that the receiver can tell."
    )

    url: str
    secret: str
    private: bool = False  # it may lie on this machine or in your own network
    source: str = "urn:remit"

    def __repr__(self) -> str:
        return f"HookOut(secret={self.secret!r})"  # many a url is a secret itself

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.secret,)
