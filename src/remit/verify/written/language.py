"""Detects the language of a text by its letters and its small words."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from remit.language.order_words import language_names, languages
from remit.model.contract import NOT_DECIDED, Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.verify.written import places
from remit.verify.written.wording import words

_LETTER: Final = re.compile(r"[^\W\d_]")
_MIN_WORDS: Final = 12
_MIN_SMALL_WORDS: Final = 4
_AHEAD: Final = 1.4  # how far the first must lie before the second


class LanguageCheck:
    """`pattern` is a language code, like `de`. A short text is uncertain."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        wanted = (criterion.pattern or "").casefold()
        names = language_names()
        if wanted not in names:
            known = ", ".join(names)
            return Finding("language", Result.FAIL, f"the pattern must be one of {known}")
        found = language_of(evidence.text)
        if found is None:
            why = f"{NOT_DECIDED}too short to tell its language"
            return Finding("language", Result.SKIPPED, why)
        if found == wanted:
            return Finding("language", Result.PASS)
        return Finding("language", Result.FAIL, f"it is in {names[found]}, not in {names[wanted]}")


def language_of(text: str) -> str | None:
    """Return the language of a text; None if it is too short or too mixed."""
    for pattern in (places.URL, places.MAIL):
        text = pattern.sub(" ", text)
    letters = len(_LETTER.findall(text))
    for code, each in languages().items():
        own = len(re.findall(f"[{each.letters}]", text)) if each.letters and letters else 0
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
    counts = (
        (sum(word in small for word in lowered), code) for code, small in _small_words().items()
    )
    return sorted(counts, reverse=True)[:2]


@cache
def _small_words() -> Mapping[str, frozenset[str]]:
    known = languages().items()
    return {code: frozenset(each.small_words.split()) for code, each in known if each.small_words}
