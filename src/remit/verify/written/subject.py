"""A text is about what was asked: it shares words with the request, or with what was read."""

from collections.abc import Sequence
from typing import Final

from remit.language.files import words_in_all
from remit.language.numbers import NUMBER_WORDS
from remit.verify.written.facts import agree
from remit.verify.written.figures import figures
from remit.verify.written.language import likely_language
from remit.verify.written.wording import ORDER_VERBS, STOP, entries, fold, rows, says, stem, words

_ENOUGH: Final = 3  # words of a request that leave no doubt what it is about
_SHORT: Final = 12  # words of a text too short to judge
_LIST: Final = 2


def compare(
    asked: str, text: str, read: Sequence[str], invents: bool
) -> tuple[list[str], list[str]]:
    """Fails a text that shares nothing; in doubt for a list, an invention or another language."""
    told = frozenset(fold(each) for each in words(text))
    terms = content(asked)
    if not terms or any(says(each, told) for each in terms) or _shares_figure(asked, text):
        return [], []
    if any(says(each, told) for part in read for each in content(part)):
        return [], []
    languages = likely_language(asked), likely_language(text)
    sure = None not in languages and languages[0] == languages[1]
    free = invents or len(entries(text)) >= _LIST or rows(text) >= _LIST
    if sure and not free and len(terms) >= _ENOUGH and len(told) >= _SHORT:
        return ["it shares no word with the request"], []
    return [], ["no word of the request occurs in it"]


def content(text: str) -> list[str]:
    """The stems of the words that carry a text."""
    empty = STOP | words_in_all("requests", "asking") | ORDER_VERBS
    empty |= words_in_all("requests", "orders") | words_in_all("requests", "measures")
    empty |= frozenset(NUMBER_WORDS)
    bare = [fold(each) for each in words(text)]
    return [stem(each) for each in bare if len(each) > _LIST and each not in empty]


def _shares_figure(asked: str, text: str) -> bool:
    told = figures(text)
    return any(agree(mine, yours) for mine in figures(asked) for yours in told)
