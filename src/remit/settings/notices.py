"""Notice settings: `[notices]`, where and when the owner is notified."""

import re
from collections.abc import Iterable, Sequence
from datetime import time
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model.notice import CONVERSATION, DIGEST, KINDS, NONE, PUSH, WAYS, NoticeKind

_HOUR: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
_LINK: Final = re.compile(r"https?://[\w.:\[\]-]+(/[!-~]*)?")
_CONTACT: Final = re.compile(r"(mailto:[^\s@]+@|https://)[\w.-]+\.[\w-]+[!-~]*")
_PUSHES: Final = ("bare", "title")


class NoticeSettings(Struct, frozen=True):
    """The ways of each kind of notice; an empty list: none.

    Whatever needs the owner is in the inbox in any case.
    """

    question: tuple[str, ...] = (CONVERSATION, PUSH)
    done: tuple[str, ...] = (CONVERSATION,)
    failed: tuple[str, ...] = (CONVERSATION, PUSH)
    lost: tuple[str, ...] = (CONVERSATION, PUSH)  # a message that did not arrive
    missed: tuple[str, ...] = (CONVERSATION,)  # a run that was missed, or skipped by a rule
    refused: tuple[str, ...] = (CONVERSATION,)  # a calendar event that cannot start work
    urgent: tuple[str, ...] = ()  # kinds that are sent in quiet hours, too
    digest_at: str = "08:00"  # on the owner's clock
    digest_over: tuple[str, ...] = (CONVERSATION,)  # the first of these that can be used
    link: str = ""  # address of the dashboard in notices; else where it listens
    push: str = "bare"  # what a lock screen shows: that somebody is needed, or the `title` too
    push_contact: str = ""  # whom a push service may write to: `mailto:…` or `https://…`

    def ways(self, news: NoticeKind) -> tuple[str, ...]:
        """Return the ways of a kind."""
        found: tuple[str, ...] = getattr(self, news.value)
        return found

    @property
    def morning(self) -> time:
        return time.fromisoformat(self.digest_at)

    @property
    def channels(self) -> tuple[str, ...]:
        """Every channel that is named anywhere."""
        named = [*self.digest_over, *(way for news in KINDS for way in self.ways(news))]
        return tuple(dict.fromkeys(way for way in named if way not in WAYS))


def words(key: str, value: object, where: str) -> tuple[str, ...]:
    """Parse a list of words, or one text with commas; `none` must be alone."""
    parted = value.split(",") if isinstance(value, str) else value
    if not isinstance(parted, Sequence) or not all(isinstance(each, str) for each in parted):
        example = '["question"]' if key == "urgent" else '["conversation", "push"]'
        sentence = f"{key} in {where} must be a list such as {example}, or none; not {value!r:.60}."
        raise BadInput(sentence, field=key)
    found = tuple(dict.fromkeys(filter(None, (each.strip() for each in parted))))
    if NONE in found and len(found) > 1:
        raise BadInput(f"{key} in {where} says none and something else; choose one.", field=key)
    return () if NONE in found else found


def check(notices: NoticeSettings, channels: Iterable[str]) -> None:
    """Refuse a word that is no way, no configured channel, and no kind."""
    named = tuple(channels)
    for news in KINDS:
        _check_known(news.value, notices.ways(news), (*WAYS, *named), f"{NONE} alone, or some of ")
    _check_known("digest_over", notices.digest_over, (CONVERSATION, *named), "one or more of ")
    _check_known("urgent", notices.urgent, tuple(KINDS), f"{NONE}, or some of ")
    if not notices.digest_over and any(DIGEST in notices.ways(news) for news in KINDS):
        sentence = f"digest_over in [notices] is empty, but a kind is told by {DIGEST}; name a way."
        raise BadInput(sentence, field="digest_over")


def _check_known(key: str, said: Iterable[str], known: tuple[str, ...], right: str) -> None:
    for word in said:
        if word not in known:
            sentence = f"{key} in [notices] has {word!r:.60}; it may be {right}{', '.join(known)}."
            raise BadInput(sentence, field=key)


# Texts that must be of a certain form -------------------------------------------------------------


def check_hour(text: str, where: str) -> None:
    if not _HOUR.fullmatch(text):
        sentence = f"digest_at in {where} is {text!r:.60}; one looks like 08:00."
        raise BadInput(sentence, field="digest_at")


def check_night(text: str, where: str) -> None:
    if not _HOUR.fullmatch(text):
        raise BadInput(f"at in {where} is {text!r:.60}; one looks like 03:00.", field="at")


def check_link(text: str, where: str) -> None:
    if not _LINK.fullmatch(text):
        sentence = f"link in {where} is {text!r:.60}; one looks like https://remit.example.org."
        raise BadInput(sentence, field="link")


def check_push(text: str, where: str) -> None:
    if text not in _PUSHES:
        sentence = f"push in {where} is {text!r:.60}; it may be {' or '.join(_PUSHES)}."
        raise BadInput(sentence, field="push")


def check_contact(text: str, where: str) -> None:
    if not _CONTACT.fullmatch(text):
        sentence = (
            f"push_contact in {where} is {text!r:.60}; one looks like mailto:you@example.org."
        )
        raise BadInput(sentence, field="push_contact")
