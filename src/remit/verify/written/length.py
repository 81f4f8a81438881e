"""Measures the length of a text: characters, words, sentences, paragraphs, list entries."""

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from remit.model.contract import NOT_DECIDED, Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.verify.written import places
from remit.verify.written.vocabulary import pattern
from remit.verify.written.wording import entries, paragraphs, plain, rows, sentences

_PATTERN: Final = re.compile(
    r"(?P<perhaps>perhaps\s+)?(?:(?P<least>\d+)\s*-\s*(?P<most>\d+)|<=\s*(?P<below>\d+)|>=\s*(?P<above>\d+)|(?P<just>\d+))"
    r"(?:\s+(?P<unit>characters|words|sentences|paragraphs|lines|items))?"
)
_COUNTED: Final = re.compile(r"\w+(?:[.,:'’/@-]\w+)*")
_ENDLESS: Final = 10**9
_HEADING: Final = re.compile(r"^#{1,6}\s+\S", re.MULTILINE)
_SEVERAL: Final = 3  # things of which a sentence can be seen to lack some
_LIST: Final = 2  # entries that make a list


class LengthCounts(NamedTuple):
    """The possible counts of a text; `most` if it has no clear structure."""

    counts: tuple[int, ...]
    most: int | None = None


class LengthCheck:
    """`pattern` is like `20-2000`, `<=200 words`, `>=3 sentences`, `5 items` or `perhaps 5 items`.

    A text without a structure to count, or a "perhaps", is not decided.
    """

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        found = _PATTERN.fullmatch((criterion.pattern or "").strip())
        if found is None:
            why = "the pattern must look like 20-2000, <=200 words or 5 items"
            return Finding("length", Result.FAIL, why)
        unit = found["unit"] or "characters"
        least = int(found["least"] or found["above"] or found["just"] or 0)
        most = int(found["most"] or found["below"] or found["just"] or _ENDLESS)
        tally = COUNTS[unit](evidence.text)
        if any(least <= count <= most for count in tally.counts):
            return Finding("length", Result.PASS)
        wanted = (criterion.pattern or "").removesuffix(unit).removeprefix("perhaps ").strip()
        why = f"{tally.counts[0]} {unit}, not {wanted}"
        too_few = tally.most is None or (tally.most < least and least >= _SEVERAL)
        if found["perhaps"] or not too_few:
            return Finding("length", Result.SKIPPED, NOT_DECIDED + why)
        return Finding("length", Result.FAIL, why)


def count_words(text: str) -> int:
    """Return the number of words; addresses do not count."""
    return len(_COUNTED.findall(places.URL.sub(" ", plain(text))))


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
    inline = [len(apart.split(each)) for each in sentences(text)]
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
