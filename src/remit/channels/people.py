"""Who wrote an inbound message, by the owner's contacts, and what it may start.

The owner's messages are read as requests. A contact may start work if the settings allow it for
that channel; the request is then the owner's text from the settings, and the contact's words are
material. Strangers start nothing.
"""

import hashlib
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.channels.mail import quoted_text, signatures
from remit.channels.mail.quoted_text import SplitMail
from remit.channels.mail.receiving import IncomingMail, MailHead
from remit.channels.mail.signatures import Asks
from remit.errors import BadInput
from remit.files import checks
from remit.files.kept_files import KeptFiles
from remit.language import outside_text
from remit.model.codec import Json, JsonMap
from remit.model.delivery import Delivery
from remit.model.task import Creator, Cue, Source, SourceKind, Taint
from remit.model.task_file import files_in, to_context
from remit.settings.doors import DROP, START, InboundRule
from remit.store.cues import Arrival, CueFate, StoredCue

OWNER: Final = "owner"
CONTACT: Final = "contact"
STRANGER: Final = "stranger"
_NOBODY: Final = "its From is not one plain address"
_UNKNOWN: Final = "who wrote is not in your book"
_FOREIGN_SUBJECT: Final = frozenset({"text/calendar", "application/ics", "message/rfc822"})
_KEPT: Final = "contacts start nothing by this door"


class Person(Struct, frozen=True):
    """A person in the contact book."""

    name: str
    owner: bool = False


def mail_arrival(
    name: str, door: InboundRule, head: MailHead, who: Person | None
) -> Arrival | None:
    """Return the arrival of a mail by its header; None if it is not stored. `who` is its sender."""
    sender = head.sender
    verified = sender is not None and sender.verified
    known = who if verified and not head.robot else None
    fate, why = _fate_of(door, known, head.robot or (sender.why if sender else _NOBODY))
    if known is None and door.strangers == DROP:
        return None
    address = sender.address if sender else ""
    body: JsonMap = {
        "kind": "mail",
        "who": STRANGER if known is None else OWNER if known.owner else CONTACT,
        "person": known.name if known else None,
        "sender": address,
        "verified": verified,
        "id": head.message_id,
        "threads": list[Json](head.threads),
        "subject": head.subject,
    }
    # The sender is part of the ref: nobody can occupy another's mail in advance.
    whose = _digest(address) if verified else f"?{_digest(address)}"
    ref = f"{name} mail {whose} {head.message_id}"
    return Arrival(ref=ref, door=name, body=body, sender=address, fate=fate, why=why)


def with_mail_text(kept: KeptFiles, arrival: Arrival, letter: IncomingMail) -> Arrival:
    """Return the arrival with its text; the attachments of a mail that starts work are kept."""
    starts, split = arrival.fate is CueFate.WAITING, letter.words
    is_owner = arrival.body.get("who") == OWNER
    taint = Taint.OWNER if split.certain and not split.quoted else Taint.PUBLIC
    taint = taint if is_owner else Taint.CONTACT
    listed = list[Json](letter.attachments)
    if starts:
        files = (*letter.files, *((None,) * (len(listed) - len(letter.files))))
        listed = [
            keep_file(kept, each, file.content if file else None, taint)
            for each, file in zip(letter.attachments, files, strict=False)
        ]
    more: JsonMap = {"text": letter.text, "attachments": listed}
    if is_owner:
        more |= {"own": list[Json](split.own), "quoted": split.quoted, "certain": split.certain}
        # A mail or an invitation is in it, and the subject may be of that.
        more["carries"] = any(each["type"] in _FOREIGN_SUBJECT for each in letter.attachments)
    return replace(arrival, body=arrival.body | more)


def keep_file(kept: KeptFiles, named: JsonMap, content: bytes | None, taint: Taint) -> JsonMap:
    """Keep a file that came in; return it as a task lists it, or why it is not kept."""
    name = checks.safe_name(str(named.get("name") or ""))
    if content is None:
        return {**named, "name": name, "why": "it could not be fetched, or is too large"}
    try:
        return to_context(kept.keep_incoming(name, content, taint.value))
    except BadInput as bad:
        return {**named, "name": name, "why": str(bad)}


def message_arrival(channel: str, ref: str, sender: str, body: JsonMap, who: Person) -> Arrival:
    """Return the arrival of a contact's message on a channel that authenticates senders."""
    more: JsonMap = {"kind": "message", "who": CONTACT, "person": who.name, "sender": sender}
    return Arrival(ref=ref, door=channel, body=body | more, sender=sender)


def words_of(body: JsonMap) -> str:
    """Return what a message says; for media, what it is."""
    text, media = body.get("text"), body.get("media")
    words = text.strip() if isinstance(text, str) else ""
    kept = bool(files_in(body))
    label = media.get("label") if isinstance(media, dict) and not kept else None
    return "\n".join(filter(None, (words, f"[{label}, not opened]" if label else "")))


def cue(kept: StoredCue, door: InboundRule, source: Source, about: str | None = None) -> Cue:
    """Make the cue of a message: done as the owner's settings say, shown on the dashboard."""
    body = kept.body
    person, sender = str(body.get("person") or ""), str(body.get("sender") or kept.sender)
    context: JsonMap = {
        "person": person or None,
        "threads": body.get("threads") or [],
        "sender": sender,
        "sender_verified": body.get("verified") is True,
        "attachments": body.get("attachments") or [],
        "about": about,
        "outside": outside_text.bound_text(words_of(body)),
    }
    subject = quoted_text.bare_subject(str(body.get("subject") or ""))
    return Cue(
        source=source,
        title=outside_text.title(
            subject, f"{_THING[source.kind]} from {person or sender or 'somebody'}"
        ),
        text=door.text,
        delivery=(Delivery("dashboard"),),
        context=_without_empty_values(context),
        created_by=Creator.SCHEDULER,
        taint=Taint.CONTACT if body.get("who") == CONTACT else Taint.PUBLIC,
    )


FORWARDED: Final = (
    "You have forwarded this. I do not take another's words as yours, so nothing was done. Reply "
    "to it, and say what I shall do with it."
)


class OwnerMail(Struct, frozen=True):
    """The owner's mail: the owner's words, and the rest.

    If it is not `certain` which words are the owner's, none is executed.
    """

    text: str
    context: JsonMap
    taint: Taint
    certain: bool = True


def read_owner_mail(kept: StoredCue, asks: Asks) -> OwnerMail:
    """Return the owner's words in a mail. Quoted or forwarded text is another's.

    `asks` says whether a line begins like a request: then it is no signature.
    """
    body = kept.body
    subject, split = str(body.get("subject") or ""), _split(body)
    own = signatures.read_request(split.own, str(body.get("person") or ""), asks)
    if not own and not split.quoted and _is_own_subject(subject, body):
        own = subject
    foreign = bool(split.quoted) or not split.certain or quoted_text.is_forwarded(subject)
    context: JsonMap = {
        "person": body.get("person"),
        "threads": body.get("threads") or [],
        "sender": kept.sender,
        "sender_verified": True,
        "subject": subject,
        "attachments": body.get("attachments") or [],
        "outside": split.quoted,
    }
    taint = Taint.PUBLIC if foreign else Taint.OWNER
    certain = split.certain or (not own and quoted_text.is_forwarded(subject))
    return OwnerMail(own, _without_empty_values(context), taint, certain)


def _split(body: JsonMap) -> SplitMail:
    """Return the stored split of a mail; without one, no word is the owner's."""
    own = body.get("own")
    pieces = tuple(map(str, own)) if isinstance(own, list) else ()
    return SplitMail(pieces, str(body.get("quoted") or ""), body.get("certain") is True)


def _is_own_subject(subject: str, body: JsonMap) -> bool:
    """Whether the writer chose the subject: it is of no other mail and no invitation."""
    answers = quoted_text.is_answered(subject) or quoted_text.is_forwarded(subject)
    threads = body.get("threads")
    goes_on = isinstance(threads, list) and len(threads) > 1
    return not (answers or goes_on or body.get("carries"))


def _without_empty_values(context: JsonMap) -> JsonMap:
    return {name: value for name, value in context.items() if value not in (None, [], "")}


def _fate_of(door: InboundRule, known: Person | None, why: str) -> tuple[CueFate, str]:
    if known is None:
        return CueFate.IGNORED, why or _UNKNOWN
    if known.owner or door.contacts == START:
        return CueFate.WAITING, ""
    return CueFate.IGNORED, _KEPT


def _digest(address: str) -> str:
    return hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:12]


_THING: Final = {SourceKind.EMAIL: "Mail", SourceKind.WHATSAPP: "Message"}
