"""The notice part of the settings page: a grid of kinds and ways, and recent notices."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from remit.channels.push.sending import NEEDS
from remit.model.notice import CONVERSATION, DIGEST, KINDS, PUSH, Notice, NoticeKind, NoticeState
from remit.server.call import Call
from remit.server.web import task_sections
from remit.settings import NoticeSettings
from remit.store import notices

_LATELY: Final = 12
_KINDS: Final[Mapping[NoticeKind, tuple[str, str]]] = {
    NoticeKind.QUESTION: ("It needs you", "a decision, an answer, an account to put right"),
    NoticeKind.DONE: ("A task is done", "with its result in the conversation"),
    NoticeKind.FAILED: ("A task failed", "and why"),
    NoticeKind.LOST: ("A message did not arrive", "though it was sent"),
    NoticeKind.MISSED: ("A run was missed", "or left out by a rule"),
    NoticeKind.REFUSED: (
        "A calendar event could not be read",
        "its task does not start",
    ),
}
_OWN: Final = {CONVERSATION: "Conversation", PUSH: "Browser", DIGEST: "Digest"}
_STATES: Final[Mapping[NoticeState, tuple[str, str, str]]] = {
    NoticeState.NEW: ("idle", "Waits", "clock"),
    NoticeState.CLAIMED: ("run", "On its way", "run"),
    NoticeState.SENT: ("ok", "Told", "done"),
    NoticeState.UNKNOWN: ("you", "Nobody knows", "ask"),
    NoticeState.FAILED: ("bad", "Failed", "fail"),
    NoticeState.DROPPED: ("idle", "Not needed", "x"),
}


class NoticeKindRow(Struct, frozen=True):
    """A row of the grid."""

    name: str
    title: str
    says: str
    ways: tuple[str, ...]
    urgent: bool


class NoticeLine(Struct, frozen=True):
    """A sent or waiting notice."""

    notice: Notice
    title: str
    way: str
    colour: str
    word: str
    mark: str


async def notices_section(call: Call) -> dict[str, object]:
    """Return all that the section shows."""
    house = call.house
    wishes, push = house.wishes.notices, house.push
    every = ways(call)
    names = {name: word for name, word in every.items() if name not in _OWN}
    found = await house.db.read(notices.recent, None, _LATELY)
    return {
        "push": push.possible,
        "pushed": push.possible and await push.is_on(call.key),
        "needs": NEEDS,
        "named": wishes.push == "title",
        "wishes": wishes,
        "kinds": [_kind(news, wishes) for news in KINDS],
        "ways": list(every.items()),
        "over": [(CONVERSATION, "the conversation"), *names.items()],
        "tried": [(CONVERSATION, "Conversation"), (PUSH, "Browser"), *names.items()],
        "quiet": house.settings.deliver.quiet,
        "lately": [_line(each, every) for _, each in found],
    }


def test_result_sentence(notice: Notice, names: Mapping[str, str]) -> str:
    """Return the result of a test, in a sentence."""
    _, word, _ = _STATES[notice.state]
    return f"{names.get(notice.way, notice.way)}: {word.lower()}. {notice.why or ''}".rstrip()


def ways(call: Call) -> dict[str, str]:
    """Return every way by its name for people."""
    called = task_sections.called(call.house.settings.channels)
    return {**_OWN, **{name: called[name] for name in call.house.settings.channels}}


def _kind(news: NoticeKind, wishes: NoticeSettings) -> NoticeKindRow:
    title, says = _KINDS[news]
    return NoticeKindRow(news.value, title, says, wishes.ways(news), news.value in wishes.urgent)


def _line(notice: Notice, called: Mapping[str, str]) -> NoticeLine:
    colour, word, mark = _STATES[notice.state]
    title = notice.telling.title or "Without a title"
    return NoticeLine(notice, title, called.get(notice.way, notice.way), colour, word, mark)
