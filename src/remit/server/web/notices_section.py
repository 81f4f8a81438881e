"""The notice part of the settings page: a grid of kinds and ways, and recent notices."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from remit.channels.push.sending import NEEDS
from remit.model.conversation import CONVERSATION, DIGEST, PUSH, Notice, NoticeState
from remit.server.call import Call
from remit.server.web import section_forms, task_sections
from remit.settings.forms import NOTICES
from remit.store import notices

_LATELY: Final = 12
_OWN: Final = {CONVERSATION: "Conversation", PUSH: "Browser", DIGEST: "Digest"}
_STATES: Final[Mapping[NoticeState, tuple[str, str, str]]] = {
    NoticeState.NEW: ("idle", "Waits", "clock"),
    NoticeState.CLAIMED: ("run", "On its way", "run"),
    NoticeState.SENT: ("ok", "Told", "done"),
    NoticeState.UNKNOWN: ("you", "Nobody knows", "ask"),
    NoticeState.FAILED: ("bad", "Failed", "fail"),
    NoticeState.DROPPED: ("idle", "Not needed", "x"),
}


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
        "form": (await section_forms.forms_of(call, NOTICES))[0],
        "ways": list(every.items()),
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


def _line(notice: Notice, called: Mapping[str, str]) -> NoticeLine:
    colour, word, mark = _STATES[notice.state]
    title = notice.telling.title or "Without a title"
    return NoticeLine(notice, title, called.get(notice.way, notice.way), colour, word, mark)
