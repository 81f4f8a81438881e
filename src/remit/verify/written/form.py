"""Checks the form of a text: a requested table, HTML that the reader would see as code."""

import csv
import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from remit.model.contract import Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.verify.written.wording import entries, has_table

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


class FormCheck:
    """`pattern` names forms, separated by blanks.

    They are `table`, `list`, `points`, `json` and `csv`, and what must not be: `no-table`,
    `no-html`, `no-links`, `no-headings`, `no-markdown`.
    """

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        wanted = (criterion.pattern or "").split()
        unknown = [each for each in wanted if each not in FORMS]
        if unknown or not wanted:
            why = f"the pattern must be some of {', '.join(FORMS)}"
            return Finding("form", Result.FAIL, why)
        wrong = [WRONG[each] for each in wanted if not FORMS[each](evidence.text)]
        if wrong:
            return Finding("form", Result.FAIL, "; ".join(wrong))
        return Finding("form", Result.PASS)


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


def _no_html(text: str) -> bool:
    return _TAG.search(_CODE.sub("", text)) is None


def _no_markdown(text: str) -> bool:
    marks = (_LINK, _HEADING, _BOLD)
    return not has_table(text) and all(mark.search(text) is None for mark in marks)


FORMS: Final[Mapping[str, Callable[[str], bool]]] = {
    "table": _has_table,
    "list": lambda text: _has_points(text) or _lines(text) or _in_a_row(text),
    "points": _has_points,
    "json": _is_json,
    "csv": _is_csv,
    "no-table": lambda text: not has_table(text),
    "no-html": _no_html,
    "no-links": lambda text: _LINK.search(text) is None,
    "no-headings": lambda text: _HEADING.search(text) is None,
    "no-markdown": _no_markdown,
}
WRONG: Final[Mapping[str, str]] = {
    "table": "there is no table in it",
    "list": "there is no list in it",
    "points": "there are no points in it, one below the other, each with its mark",
    "json": "it is not JSON",
    "csv": "it is not a table of comma-separated values",
    "no-table": "there is a table in it, which its reader cannot read",
    "no-html": "there are HTML tags in it",
    "no-links": "there are links in it that are written in markdown",
    "no-headings": "there are headings in it that are written in markdown",
    "no-markdown": "there is markdown in it, which its reader sees as signs",
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
