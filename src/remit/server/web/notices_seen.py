"""The notices part of the settings page: a grid of kinds and ways, and what was told lately."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from remit.deliver.push import NEEDS
from remit.model.notice import CONVERSATION, DIGEST, KINDS, PUSH, News, Notice, State
from remit.server.call import Call
from remit.server.web import cards
from remit.settings import Notices
from remit.store import notices

_LATELY: Final = 12
_KINDS: Final[Mapping[News, tuple[str, str]]] = {
    News.QUESTION: ("It needs you", "a decision, an answer, an account to put right"),
    News.DONE: ("A task is done", "with its result in the conversation"),
    News.FAILED: ("A task failed", "and why"),
    News.LOST: ("A message did not arrive", "though it was sent"),
    News.MISSED: ("A run was missed", "or left out by a rule"),
    News.REFUSED: ("An event starts nothing", "it stands in a calendar and cannot be read"),
}
_OWN: Final = {CONVERSATION: "Conversation", PUSH: "Browser", DIGEST: "Digest"}
_STATES: Final[Mapping[State, tuple[str, str, str]]] = {
    State.NEW: ("idle", "Waits", "clock"),
    State.CLAIMED: ("run", "On its way", "run"),
    State.SENT: ("ok", "Told", "done"),
    State.UNKNOWN: ("you", "Nobody knows", "ask"),
    State.FAILED: ("bad", "Failed", "fail"),
    State.DROPPED: ("idle", "Not needed", "x"),
}


class Kind(Struct, frozen=True):
    """A row of the grid."""

    name: str
    title: str
    says: str
    ways: tuple[str, ...]
    urgent: bool


class Line(Struct, frozen=True):
    """Something that was told, or waits to be."""

    notice: Notice
    title: str
    way: str
    colour: str
    word: str
    mark: str


async def seen(call: Call) -> dict[str, object]:
    """All that the section shows."""
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


def told(notice: Notice, names: Mapping[str, str]) -> str:
    """What came of a try, in a sentence."""
    _, word, _ = _STATES[notice.state]
    return f"{names.get(notice.way, notice.way)}: {word.lower()}. {notice.why or ''}".rstrip()


def ways(call: Call) -> dict[str, str]:
    """Every way, as people call it."""
    called = cards.called(call.house.settings.channels)
    return {**_OWN, **{name: called[name] for name in call.house.settings.channels}}


def _kind(news: News, wishes: Notices) -> Kind:
    title, says = _KINDS[news]
    return Kind(news.value, title, says, wishes.ways(news), news.value in wishes.urgent)


def _line(notice: Notice, called: Mapping[str, str]) -> Line:
    colour, word, mark = _STATES[notice.state]
    title = notice.telling.title or "Without a title"
    return Line(notice, title, called.get(notice.way, notice.way), colour, word, mark)
