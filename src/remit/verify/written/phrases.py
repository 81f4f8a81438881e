"""Checks what a text must contain and must not: placeholders, filler, repetition; its language."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, TypeAlias

from remit.language.order_words import language_names, languages
from remit.language.tokens import fold_text
from remit.model.contract import Evidence, Result
from remit.model.task import Task
from remit.verify.written import places
from remit.verify.written.wording import (
    PASSED,
    STOP,
    Judged,
    any_of,
    fail,
    lower,
    owner_words,
    pattern,
    sentences,
    stem,
    undecided,
    words,
)

_CAPITALS: Final = re.compile(r"[A-ZÁÉÍÓÚÑ]{2,}(?:\W+[A-ZÁÉÍÓÚÑ]{2,})+")
_MIN_WORDS: Final = 5  # a shorter sentence may well come twice
_ALIKE: Final = 0.8
_MAX_REPEATED_SHARE: Final = 0.25  # of the words
_MAX_FILLER_SHARE: Final = 0.4  # of the sentences
_MIN_FILLERS: Final = 3


def judge_mentions(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """`wanted` is a text that must occur."""
    del task
    there = wanted and wanted.casefold() in evidence.text.casefold()
    return PASSED if there else fail(f"{wanted!r} does not occur")


def judge_placeholders(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """No pattern. Finds [Name], XXX, TODO, and a machine talking about itself.

    A requested template is allowed, and so is what the request contains.
    """
    del wanted
    asked = "\n".join(owner_words(task))
    if pattern("placeholders.templates").search(asked.lower()):
        return Result.PASS, "a template was asked for"
    found = next((each for each in _holes(evidence.text) if each not in asked), None)
    return PASSED if found is None else fail(f"{found!r} was left in")


def _holes(text: str) -> list[str]:
    low = lower(text)
    found = [
        match for begins, sign in _any_case() if begins in text for match in sign.finditer(low)
    ]
    found += [
        each
        for begins, sign in _placeholder_signs()
        if begins in text
        for each in sign.finditer(text)
    ]
    return [text[slice(*match.span())] for match in found if not _is_shouted(match, text)]


# Patterns of holes, each with what every text with such a hole contains.
_Signs: TypeAlias = Sequence[tuple[str, re.Pattern[str]]]


@cache
def _any_case() -> _Signs:
    hole, beginning, joined = (
        rf"(?:todo|tbd|tba|tbc|xx+|{any_of(f'placeholders.holes{ending}')})"
        for ending in ("", "*", "(_*|)")
    )
    signs = (
        # In brackets, unless it is a link, a tick or a note.
        ("[", rf"\[\s*{hole}\b[^\]\n]{{0,60}}\](?![(\[])"),
        ("[", rf"\[(?:[^\W\d_]+[ ’'-]+){{1,5}}{hole}\s*\](?![(\[])"),
        ("{", rf"(?<![\w\\$])\{{\s*{beginning}[\w\s]{{0,30}}\}}"),
        ("<", rf"<{joined}(?:[\s_-]\w{{1,20}}){{0,3}}>"),
        ("", r"lorem ipsum|\bdolor sit amet\b"),
        ("", any_of("placeholders.fill_in", "placeholders.machine")),
    )
    return [(begins, re.compile(sign)) for begins, sign in signs]


@cache
def _placeholder_signs() -> _Signs:
    money = any_of("figures.currencies", glued=True)
    signs = (
        ("{", r"\{\{[^{}\n]{0,60}\}\}|\$\{\w{1,40}\}"),
        ("%", r"%\([a-z_]{1,40}\)s|<%.{0,60}?%>"),
        ("X", r"(?<![\w])X{3,}(?![\w])|\bX{2}[:./-]X{2}\b|(?<!\w)[€$£]\s?X{1,3}\b"),
        ("<<", r"<<[^<>\n]{1,40}>>"),
        ("XX", rf"\bX{{2,}}\s?(?:€|{money})"),
        ("___", r"(?<![\w_])_{3,}(?![\w_])"),
        ("T", r"\b(?:TODO|TBD|TBA|TBC|TK)\b"),
        ("FIXME", r"\bFIXME\b"),
    )
    return [(begins, re.compile(sign)) for begins, sign in signs]


def _is_shouted(match: re.Match[str], text: str) -> bool:
    """Whether TODO is the Spanish word, in a line of capitals: `TODO INCLUIDO`."""
    if match[0] != "TODO":
        return False
    return any(run.start() <= match.start() < run.end() for run in _CAPITALS.finditer(text))


def judge_padding(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """No pattern. A refrain is no padding; a quarter of the text said twice is."""
    del task, wanted
    lengths = {each: len(words(each)) for each in sentences(evidence.text)}
    spoken = [each for each in sentences(evidence.text) if lengths[each] >= _MIN_WORDS]
    again = repeated_sentences(spoken)
    total = sum(lengths[each] for each in sentences(evidence.text)) or 1
    share = sum(lengths[each] for each in again) / total
    if len(again) > 1 and share > _MAX_REPEATED_SHARE:
        return fail(f"{share:.0%} of it is said again, like “{_short(again[0])}”")
    empty = [each for each in spoken if pattern("padding.filler").search(fold_text(each))]
    if len(empty) >= _MIN_FILLERS and len(empty) > _MAX_FILLER_SHARE * len(spoken):
        many = f"{len(empty)} of {len(spoken)} sentences are filler"
        return fail(f"{many}, like “{_short(empty[0])}”")
    return PASSED


def repeated_sentences(texts: list[str]) -> list[str]:
    """Return the sentences that say no more than an earlier one."""
    known: list[frozenset[str]] = []
    again: list[str] = []
    for each in texts:
        content = _content_words(each)
        if any(_are_alike(content, earlier) for earlier in known):
            again.append(each)
        else:
            known.append(content)
    return again


def _content_words(sentence: str) -> frozenset[str]:
    """The words that carry a sentence, figures too: two prices in one wording are two facts."""
    bare = pattern("padding.filler").sub(" ", fold_text(sentence))
    figures = re.findall(r"\d[\d.,:]*", bare)
    return frozenset({*(stem(word) for word in words(bare) if word not in STOP), *figures})


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return False
    return len(one & other) >= _ALIKE * max(len(one), 1) and len(one) <= len(other) + 1


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= 60 else f"{sentence[:57]}…"  # noqa: PLR2004 - one line


_LETTER: Final = re.compile(r"[^\W\d_]")
_MIN_LANGUAGE_WORDS: Final = 12
_MIN_SMALL_WORDS: Final = 4
_AHEAD: Final = 1.4  # how far the first must lie before the second


def judge_language(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """`wanted` is a language code, like `de`. A short text is uncertain."""
    del task
    wanted, names = wanted.casefold(), language_names()
    if wanted not in names:
        return fail(f"the pattern must be one of {', '.join(names)}")
    found = language_of(evidence.text)
    if found is None:
        return undecided("too short to tell its language")
    return PASSED if found == wanted else fail(f"it is in {names[found]}, not in {names[wanted]}")


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
    if len(lowered) < _MIN_LANGUAGE_WORDS:
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
