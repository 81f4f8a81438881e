"""Detects the language of a text by its letters and its small words."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from remit.language.order_words import language_names, languages
from remit.model.contract import Evidence
from remit.model.task import Task
from remit.verify.written import places
from remit.verify.written.check import PASSED, Judged, failed, undecided
from remit.verify.written.wording import words

_LETTER: Final = re.compile(r"[^\W\d_]")
_MIN_WORDS: Final = 12
_MIN_SMALL_WORDS: Final = 4
_AHEAD: Final = 1.4  # how far the first must lie before the second


def judge_language(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """`wanted` is a language code, like `de`. A short text is uncertain."""
    del task
    wanted, names = wanted.casefold(), language_names()
    if wanted not in names:
        return failed(f"the pattern must be one of {', '.join(names)}")
    found = language_of(evidence.text)
    if found is None:
        return undecided("too short to tell its language")
    return PASSED if found == wanted else failed(f"it is in {names[found]}, not in {names[wanted]}")


def language_of(text: str) -> str | None:
    """Return the language of a text; None if it is too short or too mixed."""
    for address in (places.URL, places.MAIL):
        text = address.sub(" ", text)
    letters = 0 if text.isascii() else len(_LETTER.findall(text))
    for code, each in languages().items() if letters else ():
        own = len(re.findall(f"[{each.letters}]", text)) if each.letters else 0
        if own and own >= each.least_share * letters:
            return code
    lowered = [word.casefold() for word in words(text)]
    if len(lowered) < _MIN_WORDS:
        return None
    (most, code), (second, _) = _ranking(lowered)
    return code if most >= max(_MIN_SMALL_WORDS, _AHEAD * second) else None


@lru_cache(maxsize=32)  # a check looks at the same few texts again and again
def likely_language(text: str) -> str | None:
    """Return the language with the most small words, however short the text; None for a tie."""
    (most, code), (second, _) = _ranking([word.casefold() for word in words(text)])
    return code if most > second else None


def _ranking(lowered: list[str]) -> list[tuple[int, str]]:
    """Return the two languages with the most small words, and their counts."""
    known = Counter(lowered)
    counts = (
        (sum(known[word] for word in known.keys() & small), code)
        for code, small in _small_words().items()
    )
    return sorted(counts, reverse=True)[:2]


@cache
def _small_words() -> Mapping[str, frozenset[str]]:
    known = languages().items()
    return {code: frozenset(each.small_words.split()) for code, each in known if each.small_words}
