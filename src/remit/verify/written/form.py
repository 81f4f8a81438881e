"""Checks the form and the length of a text: a requested table, no HTML as code, 200 words."""

import csv
import json
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from remit.model.contract import Evidence
from remit.model.task import Task
from remit.verify.written import places
from remit.verify.written.wording import (
    PASSED,
    Judged,
    entries,
    fail,
    has_table,
    paragraphs,
    pattern,
    rows,
    sentences,
    undecided,
    without_marks,
)

_TAG: Final = re.compile(
    r"</?(?:a|b|i|u|p|br|hr|ul|ol|li|h[1-6]|em|strong|div|span|table|t[rdh]|thead|tbody|img|font"
    r"|center|html|body|head|style"
    r"|script)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_LINK: Final = re.compile(r"!?\[[^\]\n]+\]\([^)\s]+\)")
_HEADING: Final = re.compile(r"^#{1,6}\s+\S", re.MULTILINE)
_BOLD: Final = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
_FENCE: Final = re.compile(r"^\s*```[\w-]*\n(.*?)\n```\s*$", re.DOTALL)
_PARTED: Final = re.compile(r"[,;·:]|\.(?:\s|$)| [–—-] ")
_MIN_ITEMS: Final = 2
_SEVERAL: Final = 4  # things in a row: three commas stand in many a sentence that is no list
_BRIEF: Final = 6  # words: a thing, not a clause


def judge_form(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """`wanted` names forms, separated by blanks: what must be there, and what must not."""
    del task
    forms = wanted.split()
    if not forms or not FORMS.keys() >= set(forms):
        return fail(f"the pattern must be some of {', '.join(FORMS)}")
    found = (FORMS[each] for each in forms)
    wrong = [why for holds, why in found if not holds(evidence.text)]
    return fail("; ".join(wrong)) if wrong else PASSED


def _is_json(text: str) -> bool:
    try:
        json.loads(_inside(text))
    except (ValueError, RecursionError):
        return False
    return True


def _is_csv(text: str) -> bool:
    """Whether every line has the same number of fields, more than one."""
    lines = _inside(text).strip().splitlines()
    try:
        widths = [{len(row) for row in csv.reader(lines, delimiter=mark)} for mark in ",;\t"]
    except csv.Error:
        return False
    return any(len(each) == 1 and min(each) >= _MIN_ITEMS for each in widths)


def _inside(text: str) -> str:
    found = _FENCE.match(text)
    return found[1] if found else text


def _has_table(text: str) -> bool:
    tabbed = [line for line in text.splitlines() if line.count("\t") >= 1]
    return has_table(text) or len(tabbed) >= _MIN_ITEMS


def _has_points(text: str) -> bool:
    return len(entries(text)) >= _MIN_ITEMS


def _lacks(mark: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: mark.search(text) is None


def _no_markdown(text: str) -> bool:
    marks = (_LINK, _HEADING, _BOLD)
    return not has_table(text) and all(mark.search(text) is None for mark in marks)


# Each form: how it is seen, and what is wrong without it.
FORMS: Final[Mapping[str, tuple[Callable[[str], bool], str]]] = {
    "table": (_has_table, "there is no table in it"),
    "list": (
        lambda text: _has_points(text) or _lines(text) or _in_a_row(text),
        "there is no list in it",
    ),
    "points": (_has_points, "there are no points in it, one below the other, each with its mark"),
    "json": (_is_json, "it is not JSON"),
    "csv": (_is_csv, "it is not a table of comma-separated values"),
    "no-table": (
        lambda text: not has_table(text),
        "there is a table in it, which its reader cannot read",
    ),
    "no-html": (lambda text: _TAG.search(_CODE.sub("", text)) is None, "there are HTML tags in it"),
    "no-links": (_lacks(_LINK), "there are links in it that are written in markdown"),
    "no-headings": (_lacks(_HEADING), "there are headings in it that are written in markdown"),
    "no-markdown": (_no_markdown, "there is markdown in it, which its reader sees as signs"),
}


def _in_a_row(text: str) -> bool:
    """Whether a line names several things in a row: "sun hats, sandals, a book"."""
    return any(
        sum(0 < len(each.split()) <= _BRIEF for each in _PARTED.split(line)) >= _SEVERAL
        for line in text.splitlines()
    )


def _lines(text: str) -> bool:
    """Whether it is a list without marks: short lines below each other."""
    lines = [line for line in text.splitlines() if line.strip()]
    short = sum(len(line) <= 100 for line in lines)  # noqa: PLR2004 - about a line of a screen
    return len(lines) > _MIN_ITEMS and short >= len(lines) - 1


_PATTERN: Final = re.compile(
    r"(?P<perhaps>perhaps\s+)?(?:(?P<least>\d+)\s*-\s*(?P<most>\d+)|<=\s*(?P<below>\d+)|>=\s*(?P<above>\d+)|(?P<just>\d+))"
    r"(?:\s+(?P<unit>characters|words|sentences|paragraphs|lines|items))?"
)
_COUNTED: Final = re.compile(r"\w+(?:[.,:'’/@-]\w+)*")
_ENDLESS: Final = 10**9
_LENGTH_SEVERAL: Final = 3  # things of which a sentence can be seen to lack some
_LIST: Final = 2  # entries that make a list


class LengthCounts(NamedTuple):
    """The possible counts of a text; `most` if it has no clear structure."""

    counts: tuple[int, ...]
    most: int | None = None


def judge_length(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """`wanted` is like `20-2000`, `<=200 words`, `>=3 sentences`, `5 items` or `perhaps 5 items`.

    A text without a structure to count, or a "perhaps", is not decided.
    """
    del task
    found = _PATTERN.fullmatch(wanted.strip())
    if found is None:
        return fail("the pattern must look like 20-2000, <=200 words or 5 items")
    unit = found["unit"] or "characters"
    least = int(found["least"] or found["above"] or found["just"] or 0)
    most = int(found["most"] or found["below"] or found["just"] or _ENDLESS)
    tally = COUNTS[unit](evidence.text)
    if any(least <= count <= most for count in tally.counts):
        return PASSED
    bounds = wanted.removesuffix(unit).removeprefix("perhaps ").strip()
    why = f"{tally.counts[0]} {unit}, not {bounds}"
    too_few = tally.most is None or (tally.most < least and least >= _LENGTH_SEVERAL)
    return undecided(why) if found["perhaps"] or not too_few else fail(why)


def count_words(text: str) -> int:
    """Return the number of words; addresses do not count."""
    return len(_COUNTED.findall(places.URL.sub(" ", without_marks(text))))


def _items(text: str) -> LengthCounts:
    """Return how many things a text lists. A list or a table decides.

    Entries may be counted over all lists, in the longest one, or on the top level; headings may
    count too; the owner meant one of these. Otherwise paragraphs, lines, sentences or
    comma-separated parts may count.
    """
    found = entries(text)
    heads = len(_HEADING.findall(text))
    headings = (heads,) if heads >= _LIST else ()
    if len(found) >= _LIST:
        top = min(each.depth for each in found)
        level = [each for each in found if each.depth == top]
        numbered = [each for each in level if each.number is not None]
        runs = [sum(1 for _ in run) for run in _runs(text)]
        return LengthCounts((len(level), len(numbered) or len(level), len(found), *runs, *headings))
    if count := rows(text):
        return LengthCounts((count, *headings))
    lines = [line for line in text.splitlines() if line.strip()]
    apart = pattern("small.and", "small.or", before=r"[,;]\s+|\s+", after=r"\s+")
    inline = [len(apart.split(each.lower())) for each in sentences(text)]
    loose = (len(paragraphs(text)), len(lines), len(sentences(text)), *inline, sum(inline))
    counts = (max(loose), *loose, *(count - 1 for count in loose[:3]), *headings)
    return LengthCounts(counts, max(loose))


def _runs(text: str) -> list[list[str]]:
    """Return the lists of a text separately."""
    runs: list[list[str]] = []
    for block in re.split(r"\n[ \t]*\n", text):
        found = [each.text for each in entries(block)]
        if found:
            runs.append(found)
    return runs


COUNTS: Final[Mapping[str, Callable[[str], LengthCounts]]] = {
    "characters": lambda text: LengthCounts((len(text),)),
    "words": lambda text: LengthCounts((count_words(text),)),
    "sentences": lambda text: LengthCounts((len(sentences(text)),)),
    "paragraphs": lambda text: LengthCounts((len(paragraphs(text)),)),
    "lines": lambda text: LengthCounts((sum(1 for line in text.splitlines() if line.strip()),)),
    "items": _items,
}
