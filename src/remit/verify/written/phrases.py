"""Checks what a text must contain and must not: placeholders, filler, repetition."""

import re
from functools import cache
from typing import Final

from remit.language.tokens import fold_text
from remit.model.contract import Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.verify.written.grounded import owner_words
from remit.verify.written.vocabulary import any_of, pattern
from remit.verify.written.wording import STOP, sentences, stem, words

_CAPITALS: Final = re.compile(r"[A-ZÁÉÍÓÚÑ]{2,}(?:\W+[A-ZÁÉÍÓÚÑ]{2,})+")
_MIN_WORDS: Final = 5  # a shorter sentence may well come twice
_ALIKE: Final = 0.8
_MAX_REPEATED_SHARE: Final = 0.25  # of the words
_MAX_FILLER_SHARE: Final = 0.4  # of the sentences
_MIN_FILLERS: Final = 3


class MentionsCheck:
    """`pattern` is a text that must occur."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        wanted = criterion.pattern or ""
        if wanted and wanted.casefold() in evidence.text.casefold():
            return Finding("mentions", Result.PASS)
        return Finding("mentions", Result.FAIL, f"{wanted!r} does not occur")


class PlaceholderCheck:
    """No pattern. Finds [Name], XXX, TODO, and a machine talking about itself.

    A requested template is allowed, and so is what the request contains.
    """

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del criterion
        asked = "\n".join(owner_words(task))
        if pattern("placeholders.templates").search(asked):
            return Finding("no-placeholder", Result.PASS, "a template was asked for")
        found = next((each for each in _holes(evidence.text) if each not in asked), None)
        if found is None:
            return Finding("no-placeholder", Result.PASS)
        return Finding("no-placeholder", Result.FAIL, f"{found!r} was left in")


def _holes(text: str) -> list[str]:
    found = [match for sign in _signs() for match in sign.finditer(text)]
    return [match.group(0) for match in found if not _is_shouted(match, text)]


@cache
def _signs() -> tuple[re.Pattern[str], ...]:
    hole, beginning, joined = (
        rf"(?:todo|tbd|tba|tbc|xx+|{any_of(f'placeholders.holes{ending}')})"
        for ending in ("", "*", "(_*|)")
    )
    money = any_of("figures.currencies", glued=True)
    in_any_case = (
        # In brackets, unless it is a link, a tick or a note.
        rf"\[\s*{hole}\b[^\]\n]{{0,60}}\](?![(\[])",
        rf"\[(?:[^\W\d_]+[ ’'-]+){{1,5}}{hole}\s*\](?![(\[])",
        rf"(?<![\w\\$])\{{\s*{beginning}[\w\s]{{0,30}}\}}",
        rf"<{joined}(?:[\s_-]\w{{1,20}}){{0,3}}>",
        r"lorem ipsum|\bdolor sit amet\b",
        any_of("placeholders.fill_in", "placeholders.machine"),
    )
    as_written = (
        r"\{\{[^{}\n]{0,60}\}\}|\$\{\w{1,40}\}|%\([a-z_]{1,40}\)s|<%.{0,60}?%>",
        r"(?<![\w])X{3,}(?![\w])|\bX{2}[:./-]X{2}\b|(?<!\w)[€$£]\s?X{1,3}\b",
        rf"\bX{{2,}}\s?(?:€|{money})",
        r"(?<![\w_])_{3,}(?![\w_])",
        r"\b(?:TODO|FIXME|TBD|TBA|TBC|TK)\b",
    )
    folded = tuple(re.compile(each, re.IGNORECASE) for each in in_any_case)
    return folded + tuple(map(re.compile, as_written))


def _is_shouted(match: re.Match[str], text: str) -> bool:
    """Whether TODO is the Spanish word, in a line of capitals: `TODO INCLUIDO`."""
    if match.group(0) != "TODO":
        return False
    return any(run.start() <= match.start() < run.end() for run in _CAPITALS.finditer(text))


class PaddingCheck:
    """No pattern. A refrain is no padding; a quarter of the text said twice is."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task, criterion
        spoken = [each for each in sentences(evidence.text) if len(words(each)) >= _MIN_WORDS]
        again = repeated(spoken)
        total = sum(len(words(each)) for each in sentences(evidence.text)) or 1
        share = sum(len(words(each)) for each in again) / total
        if len(again) > 1 and share > _MAX_REPEATED_SHARE:
            why = f"{share:.0%} of it is said again, like “{_short(again[0])}”"
            return Finding("no-padding", Result.FAIL, why)
        empty = [each for each in spoken if pattern("padding.filler").search(fold_text(each))]
        if len(empty) >= _MIN_FILLERS and len(empty) > _MAX_FILLER_SHARE * len(spoken):
            why = f"{len(empty)} of {len(spoken)} sentences are filler, like “{_short(empty[0])}”"
            return Finding("no-padding", Result.FAIL, why)
        return Finding("no-padding", Result.PASS)


def repeated(texts: list[str]) -> list[str]:
    """Return the sentences that say no more than an earlier one."""
    known: list[frozenset[str]] = []
    again: list[str] = []
    for each in texts:
        content = _content_words(each)
        if any(_alike(content, earlier) for earlier in known):
            again.append(each)
        else:
            known.append(content)
    return again


def _content_words(sentence: str) -> frozenset[str]:
    """The words that carry a sentence, figures too: two prices in one wording are two facts."""
    bare = pattern("padding.filler").sub(" ", fold_text(sentence))
    figures = re.findall(r"\d[\d.,:]*", bare)
    return frozenset({*(stem(word) for word in words(bare) if word not in STOP), *figures})


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return False
    return len(one & other) >= _ALIKE * max(len(one), 1) and len(one) <= len(other) + 1


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= 60 else f"{sentence[:57]}…"  # noqa: PLR2004 - one line
