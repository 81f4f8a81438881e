"""Checks that named sources were read, and that there are enough of them."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from remit.language.tokens import fold, fold_text
from remit.model.contract import Criterion, Evidence, Finding, ReadSource, Result
from remit.model.task import Task
from remit.verify.written import places
from remit.verify.written.grounded import owner_words
from remit.verify.written.vocabulary import pattern, word_set
from remit.verify.written.wording import STOP, folded_words, plain, stem

_BEHIND_HEADING: Final = r"(?:[\W_]*:[ \t]*|[\W_]*$|\s+(?=https?://))"
_CALL: Final = re.compile(r"^[\w.-]+\(")
_MIN_LABEL_CHARACTERS: Final = 4
_OPENING: Final = 600  # characters of a page in which its title stands


class SourcesCheck:
    """`pattern` is how many different sources must be named; with 0, none."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        wanted = criterion.pattern or "1"
        if not wanted.isdecimal():
            return Finding("sources", Result.FAIL, "the pattern must be a number, like 3")
        strange = unread(task, evidence)
        if strange:
            named = ", ".join(f"“{each}”" for each in strange[:3])
            return Finding("sources", Result.FAIL, f"{named} is named as a source but was not read")
        found = {origin(each) for each in evidence.read if is_named(each, evidence.text)}
        if len(found) >= int(wanted):
            return Finding("sources", Result.PASS)
        why = f"{len(found)} of the sources that were read are named, not {wanted}"
        return Finding("sources", Result.FAIL, why)


def origin(source: ReadSource) -> str:
    """Return who a source is: two pages of one site are one."""
    if places.is_page(source.place):
        return places.site(source.place)
    return fold(source.place.rsplit("/", 1)[-1])


def is_named(source: ReadSource, text: str) -> bool:
    """Whether a text names a source: its address, site, file or title."""
    if places.is_page(source.place):
        named = {places.site(url) for _, _, url in places.urls(text)}
        return places.site(source.place) in named or _label(source.place) in _joined(text)
    if call := _CALL.match(source.place):
        parts = re.split(r"\W+", fold(call.group(0)))
        return any(part in fold_text(text) for part in parts if part)
    name = source.place.rsplit("/", 1)[-1]
    stem_of_file = name.rsplit(".", 1)[0]
    return fold(name) in fold_text(text) or _joined(stem_of_file) in _joined(text)


def unread(task: Task, evidence: Evidence) -> list[str]:
    """Return what the text names as a source although nobody read it."""
    linked = {places.address(url) for each in evidence.read for _, _, url in places.urls(each.text)}
    read = {origin(each) for each in evidence.read if places.is_page(each.place)}
    asked = {places.site(url) for text in owner_words(task) for _, _, url in places.urls(text)}
    cited = list(_cited(evidence.text))
    strange = [
        url
        for _, _, url in places.urls(evidence.text)
        if places.site(url) not in read | asked
        and (any(url in each for each in cited) or places.address(url) not in linked)
    ]
    names = [each for each in cited if not any(places.urls(each)) and not _is_known(each, evidence)]
    return [*strange, *names]


def _cited(text: str) -> Iterable[str]:
    """Yield what is listed under a sources heading, and after `Source:` in a line."""
    for found in pattern("sources.inline", after=r"[*_]*:[ \t]*(?P<what>[^\n]+)").finditer(text):
        yield from _pieces(found["what"])
    heads = pattern("sources.headings(_|)", before=r"^[\W_]*", after=_BEHIND_HEADING, glued=True)
    for head in heads.finditer(text):
        line_ends = text[head.end() : head.end() + 1] in ("", "\n")
        if head.group(0).rstrip().endswith(":") and not line_ends:
            continue
        yield from _pieces(_until_blank(text[head.end() :]))


def _until_blank(text: str) -> str:
    return re.split(r"\n[ \t]*\n", text.lstrip("\n"))[0]


def _pieces(text: str) -> Iterable[str]:
    apart = pattern("small.and", before=r"[,;]\s+|\n+|\s+(?:&|", after=r")\s+")
    for each in apart.split(text):
        bare = plain(each).strip(' \t-•.()[]"“”„')
        if bare:
            yield bare


def _is_known(name: str, evidence: Evidence) -> bool:
    """Whether a name without an address is one of what was read, as far as can be told."""
    if any(is_named(each, name) for each in evidence.read):
        return True
    empty = STOP | word_set("sources.pages")
    told = [stem(word) for word in folded_words(name) if word not in empty]
    return not told or any(_speaks(told, each) for each in evidence.read)


def _speaks(told: Sequence[str], source: ReadSource) -> bool:
    """Whether a page has this name: half of its words are in the address or at the top."""
    opening = fold_text(f"{source.place} {source.text[:_OPENING]}")
    return 2 * sum(each in opening for each in told) >= len(told)


def _label(url: str) -> str:
    """Return a site's common name: `lonelyroad` of travel.lonelyroad.example."""
    label = _joined(places.site(url).split(".")[0])
    return label if len(label) >= _MIN_LABEL_CHARACTERS else places.site(url)


def _joined(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold_text(text))
