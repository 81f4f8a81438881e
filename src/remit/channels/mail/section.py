"""Mail in the settings: an account to send by, and the mailbox that belongs to it."""

from typing import ClassVar

from remit.channels.kind import ChannelKind


class EmailSettings(ChannelKind, frozen=True, kw_only=True):
    """An account that letters go out by; with `imap_host` doubts are looked up in its mailbox."""

    kind: ClassVar[str] = "email"
    service: ClassVar[str] = "Email"
    built_by: ClassVar[str] = "remit.channels.mail.setup"
    promise: ClassVar[str] = (
        "Never twice unasked. After a cut the mailbox is looked into, 15 minutes; then you are "
        "asked."
    )

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
    imap_user: str = ""  # else the same user and password
    imap_password: str = ""
    sent_folders: tuple[str, ...] = ()
    filed_within: int = 0  # minutes in which it files every letter that it takes; 0: not every one

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.password, self.imap_password)

    def door_problem(self, name: str, authserv_id: str) -> str:
        del authserv_id
        return "" if self.imap_host else f"mail is read by IMAP; say imap_host in [channels.{name}]"
