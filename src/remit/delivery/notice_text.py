"""The text of a notice: a title, a line, maybe a link.

A title may come from a stranger's mail or calendar. So it cannot format the message, link anywhere,
or start a line: the only link is to the dashboard.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast
from urllib.parse import quote

from msgspec import Struct

from remit.channels.markdown import plain
from remit.language.files import read_toml
from remit.language.sentences import DEFAULT_LANGUAGE, message_language, notice_sentence
from remit.model.conversation import Notice, NoticeKind
from remit.model.delivery import ActionButton

FEW: Final = 5  # of one kind in a message; more are only counted
MOST_LINES: Final = 20
MOST_TITLE: Final = 80
MOST_LINE: Final = 160
MOST_PUSHED: Final = 60
MOST_APPROVED: Final = 3_000  # characters of a text that is to be approved
_CUT: Final = "… and {0} more characters. The whole text is in the inbox of the dashboard."
_TICKS: Final = re.compile("`+")
_WORDS: Final = cast("Mapping[str, Mapping[str, str]]", read_toml("notice_words", __package__))


class NoticeWords(Struct, frozen=True):
    """Renders notices: the agent's name, a filter for secrets, and the base of links, if any.

    They are in the owner's language; if none is set, in that of the tasks they are about.
    """

    agent: str
    hide: Callable[[str], str]
    root: Callable[[], str]

    def body(self, found: Sequence[Notice], approved: str = "") -> str:
        """One message with all of these in it; `approved` is what a yes to the one would let go."""
        if len(found) == 1:
            line = self._with_link(self.one(found[0]), found[0].telling.href)
            block = verbatim(self.hide(approved), _language(found))
            return f"{line}\n\n{block}" if approved.strip() else line
        kinds = Counter(each.news for each in found)
        if len(kinds) == 1 and len(found) > FEW:
            news = found[0].news
            return self._with_link(f"{_counts(found)}.", _list_of(news))
        return self.digest(found)

    def answer_links(self, notice: Notice, way: str, buttons: Sequence[ActionButton]) -> str:
        """Where each answer to a question is given: links to its card, under a message."""
        if not self.root():
            return ""
        link = f"{self._link(notice.telling.href)}?by={quote(way)}&answer="
        lines = [f"- [{each.label}]({link}{quote(each.data)})" for each in buttons]
        return "\n".join(("\n", *lines)) if lines else ""

    def digest(self, found: Sequence[Notice]) -> str:
        """Return a digest: counts by kind, then one line each as far as there is room."""
        lines = [f"- {self.one(each)}" for each in found[:MOST_LINES]]
        left = len(found) - MOST_LINES
        more = [notice_sentence("- and {0} more", _language(found), left)] if left > 0 else []
        link = ["", self._link("/inbox")] if self.root() else []
        return "\n".join([f"{self.agent}: {_counts(found)}.", "", *lines, *more, *link])

    def one(self, notice: Notice) -> str:
        """One notice in one line, without its link."""
        content, language = notice.telling, _language([notice])
        title = plain(self.hide(content.title), MOST_TITLE)
        line = plain(self.hide(content.line), MOST_LINE)
        title = title or notice_sentence("Something without a title", language)
        return notice_sentence(_WORDS[content.news.value]["line"], language, title, line).rstrip(
            ": "
        )

    def pushed(self, found: Sequence[Notice], *, named: bool) -> str:
        """Return the lock screen text: that something happened; with `named`, also what."""
        first = found[0]
        if len(found) > 1:
            return f"{_counts(found)}."
        text = _WORDS[first.news.value]["pushed"]
        if first.news is NoticeKind.FAILED and first.telling.task_id is None:
            text = "A part of Remit failed"
        text = notice_sentence(text, _language(found), self.agent)
        title = plain(self.hide(first.telling.title), MOST_PUSHED)
        return f"{text}: {title}" if named and title else f"{text}."

    def _with_link(self, line: str, href: str) -> str:
        return f"{line} {self._link(href)}" if self.root() else line

    def _link(self, href: str) -> str:
        return self.root().rstrip("/") + href


def place(found: Sequence[Notice]) -> str:
    """Return the dashboard page for these notices."""
    return found[0].telling.href if len(found) == 1 else _list_of(found[0].news)


def verbatim(text: str, language: str = DEFAULT_LANGUAGE) -> str:
    """A text to the letter, as a block that marks up nothing; cut where there is no more room."""
    shown = text.strip("\n")
    more = "\n\n" + notice_sentence(_CUT, language, f"{len(shown) - MOST_APPROVED:,}")
    longest = max((len(run) for run in _TICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    cut = len(shown) > MOST_APPROVED
    return f"{fence}\n{shown[:MOST_APPROVED]}\n{fence}" + (more if cut else "")


def _counts(found: Sequence[Notice]) -> str:
    """Return how many there are of each kind."""
    kinds, language = Counter(each.news for each in found), _language(found)
    forms = ((_WORDS[news.value]["one" if n == 1 else "many"], n) for news, n in kinds.items())
    return ", ".join(notice_sentence(form, language, n) for form, n in forms)


def _language(found: Sequence[Notice]) -> str:
    return message_language(
        "\n".join(f"{each.telling.title}\n{each.telling.line}" for each in found)
    )


def _list_of(news: NoticeKind) -> str:
    places = {NoticeKind.DONE: "/tasks", NoticeKind.MISSED: "/schedule"}
    return places.get(news, "/inbox")
