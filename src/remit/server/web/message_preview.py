"""The preview of a message in its channel's look, with remarks.

It is made from what would be sent, not from what was typed: the channel's own form is applied as
the courier does it, and the gate is asked now what it would say then.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from remit import gate
from remit.channels.mail import letter, letter_head
from remit.channels.webhook import sending
from remit.delivery.courier import MOST_PARTS
from remit.gate import Author, Objection
from remit.model.delivery import Parcel
from remit.ports import Channel, ShapingChannel, implements
from remit.server.call import Call
from remit.server.page_language import retell, say
from remit.server.web import markup, words
from remit.wiring import CHANNELS

_KINDS: Final = {**words.CHANNELS, "apprise": ("bell", "Notice", "as a notice")}
_BLOCKS: Final = re.compile(r"^(?:#{1,6}\s|```|\s*[-+]\s+\S|\|.*\|)", re.MULTILINE)
_MOST: Final = 100_000  # for a channel that is gone


class ChannelLabel(Struct, frozen=True):
    """A channel as a page names it."""

    name: str
    kind: str
    icon: str
    word: str
    by: str  # for a sentence: sent by email


class LetterRemark(Struct, frozen=True):
    """A remark on a text before it is sent: fine, worth knowing, or a problem."""

    kind: str  # ok, plan, bad
    icon: str
    words: str


class LetterPreview(Struct, frozen=True):
    """A text as its reader will see it."""

    way: ChannelLabel
    html: tuple[Markup, ...]  # one for each message it is sent as
    remarks: tuple[LetterRemark, ...]
    subject: str = ""
    changed: markup.TextChanges | None = None


def channel_label(call: Call, channel: str) -> ChannelLabel:
    """Return a channel's label; one that is gone keeps its name."""
    kinds: Mapping[str, str] = {each.name: each.kind for each in call.app.outfit.ways}
    kind = kinds.get(channel, channel if channel in _KINDS else "")
    if kind not in _KINDS:
        return ChannelLabel(channel, kind, "send", channel, say("on {0}", channel))
    icon, word, by = _KINDS[kind]
    return ChannelLabel(channel, kind, icon, say(word), say(by))


def preview(call: Call, channel: str, text: str, draft: str | None = None) -> LetterPreview:
    """Return how a text would arrive. With a draft, also what was changed."""
    drawn, known = channel_label(call, channel), _channels(call).get(channel)
    if not text.strip():
        return LetterPreview(drawn, (), (LetterRemark("plan", "edit", "Nothing is written yet"),))
    edited = draft is not None and draft != text
    # The owner's text is sent as it is; a draft in the channel's form.
    shaped = text if edited else _shape_text(known, text)
    author = Author.OWNER if edited else Author.BRAIN
    judged = gate.judge_text(shaped, most=_longest_text(known), author=author)
    sent = shaped.strip() if isinstance(judged, Objection) else judged.text
    parts = _parts(known, sent)
    source = str(getattr(call.app.settings.channels.get(channel), "source", ""))
    remarks = [*_form(drawn, shaped, _shape_text(known, shaped)), _length(known, sent, len(parts))]
    if isinstance(judged, Objection):
        remarks.append(
            LetterRemark("bad", "alert", say("Would be held: {0}", retell(judged.reason)))
        )
    elif call.app.hide(sent) != sent:
        remarks.append(
            LetterRemark("bad", "alert", "Would be held: it looks as if it held a secret.")
        )
    return LetterPreview(
        way=drawn,
        html=tuple(_draw_preview(drawn, part, source) for part in parts),
        remarks=tuple(remarks),
        subject=_subject(sent) if drawn.kind == "email" else "",
        changed=markup.changes(draft, text) if edited and draft is not None else None,
    )


def _channels(call: Call) -> Mapping[str, Channel]:
    return {**CHANNELS, **call.app.outfit.channels}


def _shape_text(channel: object, text: str) -> str:
    return channel.shape(text) if implements(channel, ShapingChannel) else text


def _parts(channel: object, sent: str) -> tuple[str, ...]:
    return channel.parts(sent) if implements(channel, ShapingChannel) and sent else (sent,)


def _longest_text(channel: Channel | None) -> int:
    most = channel.most if channel else _MOST
    shapes: object = channel
    return most * MOST_PARTS if implements(shapes, ShapingChannel) else most


def _form(drawn: ChannelLabel, text: str, shaped: str) -> list[LetterRemark]:
    """Return what the channel does with marks in the text."""
    match drawn.kind:
        case "whatsapp" if shaped != text or _BLOCKS.search(text):
            return [LetterRemark("plan", "alert", "WhatsApp shows Markdown as typed")]
        case "whatsapp":
            plain = LetterRemark("ok", "done", "Plain text")
            return [plain, LetterRemark("ok", "done", "No headings or code")]
        case "email" | "dashboard":
            return [LetterRemark("ok", "done", "Formatting is kept")]
        case _:
            return []


def _length(channel: Channel | None, sent: str, parts: int) -> LetterRemark:
    most = channel.most if channel else _MOST
    if parts > 1:
        return LetterRemark(
            "plan", "copy", say("{0} characters, sent as {1} messages", f"{len(sent):,}", parts)
        )
    kind, icon = ("ok", "done") if len(sent) <= most else ("bad", "alert")
    return LetterRemark(kind, icon, say("{0} of {1} characters", f"{len(sent):,}", f"{most:,}"))


def _subject(text: str) -> str:
    """Return the subject: the first heading, or the first words."""
    made = letter_head.subject(letter.heading(text))
    opening = letter_head.opening(letter.plain_text(text))
    return made or letter_head.subject(opening) or "(no subject)"


def _draw_preview(drawn: ChannelLabel, text: str, source: str) -> Markup:
    match drawn.kind:
        case "whatsapp":
            return markup.whatsapp(text)
        case "email" | "dashboard":
            return markup.markdown(text)
        case "webhook":
            parcel = Parcel("(set when it is sent)", None, text)
            fields = json.loads(sending.event(parcel, source))
            del fields["data"]["recipient"]  # it stands above the text
            pretty = json.dumps(fields, ensure_ascii=False, indent=2)
            return Markup("<pre>{}</pre>").format(pretty)
        case _:
            return Markup("<p>{}</p>").format(text)
