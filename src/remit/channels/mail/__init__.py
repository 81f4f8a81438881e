"""E-mail: sending over SMTP, receiving over IMAP, bounces, and sender authentication.

Here: the section of the settings, an account to send by and the mailbox that belongs to it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from remit.channels import ChannelContext, ChannelKind
from remit.channels.oauth import MAIL, problem_of
from remit.settings.channels import OAuthSettings

if TYPE_CHECKING:
    from remit.ports import Channel
    from remit.system.background import Background, LoopGroup


class EmailSettings(ChannelKind, frozen=True, kw_only=True):
    """An account that letters go out by; with `imap_host` doubts are looked up in its mailbox."""

    kind: ClassVar[str] = "email"
    service: ClassVar[str] = "Email"
    built_by: ClassVar[str] = "remit.channels.mail.sending"
    promise: ClassVar[str] = (
        "Sends nothing twice without asking you. If the connection breaks while sending, Remit "
        "looks for the message in the mailbox for 15 minutes, then asks you."
    )

    secret_fields: ClassVar[tuple[str, ...]] = ("password", "imap_password")
    asks: ClassVar[Mapping[str, tuple[str, str]]] = {
        "sender": ("Address to send from", "Such as remit@example.org."),
        "owner": ("Your own address", "Where Remit writes to you."),
        "host": ("SMTP server", "Such as smtp.example.org."),
        "port": ("SMTP port", "587 with STARTTLS, 465 with TLS."),
        "security": ("SMTP security", ""),
        "user": ("User", "Often the address itself."),
        "password": ("Password", "An app password, if the provider has them."),
        "imap_host": ("IMAP server", "To read what comes in and to look up doubts; may be empty."),
        "imap_port": ("IMAP port", ""),
        "sender_name": ("Name of the sender", "What people see beside the address."),
    }
    choices: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "security": {"starttls": "STARTTLS", "tls": "TLS", "none": "None (this machine only)"}
    }

    host: str
    sender: str
    port: int = 587
    security: str = "starttls"
    user: str = ""
    password: str = ""  # the name of a secret
    oauth: OAuthSettings | None = None  # instead of a password
    sender_name: str = ""
    reply_to: str = ""
    owner: str = ""
    ca_file: str = ""
    imap_host: str = ""
    imap_port: int = 993
    imap_security: str = "tls"
    imap_user: str = ""  # else the same user and password
    imap_password: str = ""
    sent_folders: tuple[str, ...] = ()
    filed_within: int = 0  # minutes in which it files every letter that it takes; 0: not every one

    @property
    def secrets(self) -> tuple[str, ...]:
        return (*super().secrets, *((self.oauth.client_secret,) if self.oauth else ()))

    @property
    def sign_in(self) -> OAuthSettings | None:
        return self.oauth

    def problem(self) -> str:
        if self.oauth is None:
            return ""
        if not self.user or self.password or self.imap_user or self.imap_password:
            return "with oauth it has a user, and no other user and no password"
        return problem_of(self.oauth, MAIL)

    def loops(
        self, channel: "Channel", context: ChannelContext, background: "Background"
    ) -> "Sequence[LoopGroup]":
        from remit.channels.mail import mailbox_watch  # noqa: PLC0415 - loads SMTP and IMAP

        return mailbox_watch.loops_of(self, channel, context, background)

    def door_problem(self, name: str, authserv_id: str) -> str:
        del authserv_id
        return "" if self.imap_host else f"mail is read by IMAP; say imap_host in [channels.{name}]"
