"""What must stand in a text, and what must not: [Name], XXX, TODO, a machine that names itself."""

import re
from functools import cache
from typing import Final

from remit.model.contract import Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.verify.written.grounded import owner_words
from remit.verify.written.vocabulary import any_of, pattern

_CAPITALS: Final = re.compile(r"[A-ZÁÉÍÓÚÑ]{2,}(?:\W+[A-ZÁÉÍÓÚÑ]{2,})+")


class MentionsCheck:
    """`pattern` is a text that must occur."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        wanted = criterion.pattern or ""
        if wanted and wanted.casefold() in evidence.text.casefold():
            return Finding("mentions", Result.PASS)
        return Finding("mentions", Result.FAIL, f"{wanted!r} does not occur")


class PlaceholderCheck:
    """Whoever asks for a template gets one; what stands in the request may stand in the answer."""

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
