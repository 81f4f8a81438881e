"""Finds the one pair of tags in a reply that is no quotation or example.

Tags are searched twice: exactly, and in the folded text. If the two results differ, something looks
like a tag and is none; the reply is held.
"""

import re
from collections.abc import Iterable
from typing import Final

from remit.gate.eye import HoldReason, Objection, excerpt, fold, line

OPEN: Final = "<deliverable>"
CLOSE: Final = "</deliverable>"

_ARROW: Final = re.compile(r"<[-=]")
_WRITTEN_OUT: Final = re.compile(r"&(?:lt|#0{0,6}+60|#x0{0,6}+3c);?+|%3c|\\u003c|\\x3c")
_GAPS: Final = re.compile(r"[\s_.*~`'\"\\-]++")
_STROKES: Final = str.maketrans("i1|03", "llloe")  # `deIiverab1e` is read as it looks
_TAG: Final = re.compile(r"<[/!?]{0,3}+dellverable|[\[{]{1,2}+/?+dellverable[\]}]")

_FENCE: Final = re.compile(
    r"[ \t>]{0,64}+(?:(?:[-*+]|\d{1,3}+[.)])[ \t]{1,8}+)?+(`{3,999}+|~{3,999}+)"
)
_TICKS: Final = re.compile(r"`++")
_QUOTED_LINE: Final = re.compile(r"[ \t]{0,64}+(?:(?:[-*+]|\d{1,3}+[.)])[ \t]{1,8}+)?+>")
_QUOTES: Final = frozenset("\"'`“”‘’„«»「」『』")  # noqa: RUF001 - quotation marks
_CODE_COLUMNS: Final = 4
# Text inside these is for a machine, even if they are never closed.
_THOUGHT: Final = re.compile(
    r"<(/?+)(?:[a-z]{1,12}+:)?+(think|thinking|thought|thoughts|reasoning|reflection|scratchpad"
    r"|analysis|tool_call|tool_calls|tool_use|tool_result|tool_response|function_call"
    r"|function_calls|function_results|invoke|untrusted|untrusted_content|system-reminder"
    r")(?=[\s>=/])"
)
# Text inside these is a sample or quotation; such a word alone in brackets is a placeholder.
_SAMPLE: Final = re.compile(
    r"<(/?+)(draft|example|examples|sample|template|quote|blockquote|q|pre|code|samp|script|style"
    r"|details|document|email|instructions|parameter)(?=[\s>/])"
)


def find(text: str, plain: str) -> tuple[str, str] | Objection:
    """Return the text between the tags, exact and folded; or why there is none.

    `plain` is the folded reply.
    """
    counts = text.count(OPEN), text.count(CLOSE)
    if counts != (1, 1):
        return _not_a_pair(text, plain, *counts)
    before, _, rest = text.partition(OPEN)
    inside, closed, after = rest.partition(CLOSE)
    if not closed:
        return Objection("The closing tag stands before the opening one.", HoldReason.TAGS)
    spelling = misspelt(text, plain, exact=2)
    if spelling:
        return spelling
    # No other tag looks like one, so the folded text splits at the same places.
    plain_before, _, plain_rest = plain.partition(OPEN)
    plain_inside, _, plain_after = plain_rest.partition(CLOSE)
    element = _element(plain_before.lower(), plain_after.lower())
    misplaced = _misplacement_reason(before, inside, after, element)
    if misplaced:
        where = line(text, len(before))
        return Objection(f"The deliverable (line {where}) {misplaced}.", HoldReason.PLACE)
    return inside, plain_inside


def misspelt(text: str, plain: str, *, exact: int = 0) -> Objection | None:
    """Object to tags beyond the exact ones that a text is known to have."""
    if _tags(plain) == exact:
        return None
    lines = enumerate(text.split("\n"), start=1)
    number, at = next(((n, at) for n, at in lines if _is_strange(at)), (0, ""))
    where = f" in line {number}: “{excerpt(at)}”" if number else ", split over lines"
    return Objection(f"There is a deliverable tag in another spelling{where}.", HoldReason.SPELLING)


def _is_strange(at: str) -> bool:
    return len(at) >= len(OPEN) - 2 and _tags(fold(at)) != at.count(OPEN) + at.count(CLOSE)


def _tags(plain: str) -> int:
    """Return how many tags the eye finds, in any letters, with anything between them."""
    opened = _ARROW.sub(" ", _WRITTEN_OUT.sub("<", plain.lower()))
    return len(_TAG.findall(_GAPS.sub("", opened).translate(_STROKES)))


def _not_a_pair(text: str, plain: str, opened: int, closed: int) -> Objection:
    if opened == closed == 0:
        untagged = Objection("The assistant did not mark what to send.", HoldReason.TAGS)
        return misspelt(text, plain) or untagged
    if (opened, closed) == (1, 0):
        where = line(text, text.find(OPEN))
        why = f"The deliverable is opened in line {where} and never closed; it may be cut off."
    elif (opened, closed) == (0, 1):
        where = line(text, text.find(CLOSE))
        why = f"The deliverable is closed in line {where} and was never opened."
    else:
        why = (
            f"The reply has {opened} opening and {closed} closing tags; "
            "exactly one pair, in order, is sent."
        )
    return Objection(why, HoldReason.TAGS)


def _misplacement_reason(before: str, inside: str, after: str, element: str) -> str | None:
    """Return why the pair is no deliverable in its place, as the end of a sentence."""
    *above, beside = before.split("\n")
    below = after.split("\n")
    signs = (
        (bool(open_fence([*above, beside])), "stands in a code block, as an example would"),
        (bool(open_fence(below)), "is followed by a code block that is never closed"),
        (_is_indented(beside), "is indented like code"),
        (_has_open_tick([*above, beside]), "stands in inline code, as an example would"),
        (before.rfind("<!--") > before.rfind("-->"), "stands in an HTML comment"),
        (bool(_QUOTED_LINE.match(beside)), "stands in a quotation"),
        (before[-1:] in _QUOTES and after[:1] in _QUOTES, "stands in quotation marks"),
        (before[-1:] == "\\" or inside[-1:] == "\\", "has its tags escaped, as in a string"),
        (bool(element), f"stands inside <{element}>"),
    )
    return next((sign for holds, sign in signs if holds), None)


def open_fence(lines: Iterable[str]) -> str:
    fence = ""
    for text in lines:
        found = _FENCE.match(text)
        if not found:
            continue
        run, rest = found[1], text[found.end() :]
        if not fence:
            # A line such as ```x``` is inline code.
            fence = "" if run[0] == "`" and "`" in rest else run
        elif run.startswith(fence) and not rest.strip():
            fence = ""
    return fence


def _is_indented(beside: str) -> bool:
    return not beside.strip() and len(beside.expandtabs(_CODE_COLUMNS)) >= _CODE_COLUMNS


def _has_open_tick(lines: list[str]) -> bool:
    """Whether a run of backticks in this paragraph is still open."""
    start = next((n for n in range(len(lines) - 1, 0, -1) if not lines[n - 1].strip()), 0)
    waiting = ""
    for found in _TICKS.finditer("\n".join(lines[start:])):
        if not waiting:
            waiting = found[0]
        elif found[0] == waiting:
            waiting = ""
    return bool(waiting)


def _element(before: str, after: str) -> str:
    """Return the element that contains the pair, if it decides what the pair is."""
    closed = {found[2] for found in _SAMPLE.finditer(after) if found[1]}
    samples = (name for name in _open(_SAMPLE, before) if name in closed)
    return next(iter(_open(_THOUGHT, before)), "") or next(samples, "")


def _open(element: re.Pattern[str], before: str) -> list[str]:
    depth: dict[str, int] = {}
    for found in element.finditer(before):
        step = -1 if found[1] else 1
        depth[found[2]] = max(depth.get(found[2], 0) + step, 0)
    return [name for name, times in depth.items() if times]
