"""From a section of the settings to the channel that sends mail, and to its mailbox."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from remit.channels.kind import ChannelContext
from remit.channels.mail import letter, letter_head
from remit.channels.mail.account import Security, SmtpAccount
from remit.channels.mail.letter import MailSender, MailThread
from remit.channels.mail.mailbox import Mailbox, SentFolderPolicy
from remit.channels.mail.section import EmailSettings
from remit.channels.mail.sending import EmailChannel, ThreadOf
from remit.channels.oauth.providers import MAIL, client_of
from remit.channels.oauth.tokens import TokenSource
from remit.errors import BadInput
from remit.model.delivery import Parcel
from remit.settings.channels import ChannelSettings
from remit.store import deliveries
from remit.system.http_client import Token


def build(section: EmailSettings, context: ChannelContext) -> EmailChannel:
    """The channel that a section of the settings describes."""
    sender = letter_head.address(section.sender, section.sender_name or None)
    account = SmtpAccount(
        section.host,
        section.port,
        _security(section.security, "security"),
        *_credentials(section, context, section.user, section.password),
    )
    after = timedelta(minutes=section.filed_within) if section.filed_within else None
    filing = SentFolderPolicy(section.sent_folders, authoritative_after=after)
    return EmailChannel(
        account,
        MailSender(sender, letter_head.address(section.reply_to) if section.reply_to else None),
        context.clock,
        owner=letter_head.address(section.owner) if section.owner else None,
        thread_of=_thread_of(context),
        mailbox=Mailbox(imap_account(section, context), sender.domain, filing)
        if section.imap_host
        else None,
        name=context.name,
    )


def imap_account(section: EmailSettings, context: ChannelContext) -> SmtpAccount:
    """What opens the mailbox: by default the user and the password that letters go out by."""
    user, password = section.imap_user or section.user, section.imap_password or section.password
    return SmtpAccount(
        section.imap_host,
        section.imap_port,
        _security(section.imap_security, "imap_security"),
        *_credentials(section, context, user, password),
    )


def token_source(section: ChannelSettings, context: ChannelContext) -> TokenSource | None:
    """What gives the access tokens of a channel that the owner signed in at; else None."""
    if (chosen := section.sign_in) is None:
        return None
    keys = context.keys
    return TokenSource(
        client_of(chosen, MAIL, keys.get),
        keys.kept,
        chosen.token,
        now=context.clock.now,
        keys=keys,
        todo=f"remit channels connect {context.name}",
    )


def _credentials(
    section: EmailSettings, context: ChannelContext, user: str, password: str
) -> tuple[str | None, Token | None, Path | None, Callable[[str], str] | None, str]:
    """User, password, authority, renewal and what to do without, as an account takes them."""
    authority = Path(section.ca_file).expanduser() if section.ca_file else None
    source = token_source(section, context)
    if source is not None:
        todo = f"Run `remit channels connect {context.name}` and sign in as {user}."
        return user, source, authority, source.renew, todo
    token = context.keys.token(password) if user else None
    return user or None, token, authority, None, "Renew the user or the password."


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
