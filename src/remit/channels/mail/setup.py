"""From a section of the settings to the channel that sends mail, and to its mailbox."""

from datetime import timedelta
from pathlib import Path

from remit.channels.kind import ChannelContext
from remit.channels.mail import letter, letter_head
from remit.channels.mail.account import Security, SmtpAccount
from remit.channels.mail.letter import MailSender, MailThread
from remit.channels.mail.mailbox import Mailbox, SentFolderPolicy
from remit.channels.mail.section import EmailSettings
from remit.channels.mail.sending import EmailChannel, ThreadOf
from remit.channels.registry import ChannelSecrets
from remit.errors import BadInput
from remit.model.delivery import Parcel
from remit.store import deliveries


def build(section: EmailSettings, context: ChannelContext) -> EmailChannel:
    """The channel that a section of the settings describes."""
    sender = letter_head.address(section.sender, section.sender_name or None)
    account = SmtpAccount(
        section.host,
        section.port,
        _security(section.security, "security"),
        section.user or None,
        context.keys.token(section.password) if section.user else None,
        _file(section.ca_file),
    )
    after = timedelta(minutes=section.filed_within) if section.filed_within else None
    filing = SentFolderPolicy(section.sent_folders, authoritative_after=after)
    return EmailChannel(
        account,
        MailSender(sender, letter_head.address(section.reply_to) if section.reply_to else None),
        context.clock,
        owner=letter_head.address(section.owner) if section.owner else None,
        thread_of=_thread_of(context),
        mailbox=Mailbox(imap_account(section, context.keys), sender.domain, filing)
        if section.imap_host
        else None,
        name=context.name,
    )


def imap_account(section: EmailSettings, keys: ChannelSecrets) -> SmtpAccount:
    """What opens the mailbox: by default the user and the password that letters go out by."""
    user = section.imap_user or section.user or None
    return SmtpAccount(
        section.imap_host,
        section.imap_port,
        _security(section.imap_security, "imap_security"),
        user,
        keys.token(section.imap_password or section.password) if user else None,
        _file(section.ca_file),
    )


def _thread_of(context: ChannelContext) -> ThreadOf | None:
    if (db := context.db) is None:
        return None

    async def thread(parcel: Parcel) -> MailThread:
        found = await db.read(deliveries.find_thread, parcel.key, context.name)
        title = found.subject or (letter.subject_of(found.first) if found.first else None)
        return MailThread(title, found.earlier)

    return thread


def _security(word: str, field: str) -> Security:
    if word not in list(Security):
        sentence = f"The {field} {word!r:.60} is none; it may be {', '.join(Security)}."
        raise BadInput(sentence, field=field)
    return Security(word)


def _file(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
