"""Extracts the lines of a mail's body from its plain or HTML part, with their markup.

HTML goes through the parser that also sanitises it and that reads as browsers do, so that unclosed
or misplaced tags give the same lines that a person sees.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Final, cast

import nh3
from msgspec import Struct
from msgspec.structs import replace

from remit.channels.mail import hidden_css, quote_shapes
from remit.channels.mail.hidden_css import WHITE, Colour, StyleSheet
from remit.language.files import read_toml

MAX_LINES: Final = 5_000
_MAX_DEPTH: Final = 300  # nested elements; the parser needs quadratic time
# Initials may precede the mark, and so may marks of direction; East Asian programs write it wide.
_QUOTE_PREFIX: Final = re.compile(
    r"[\s\ufeff\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069]*"
    r"(?:(?:[A-Z][A-Za-z]{0,2})?[>|\u00a6\uff1e\uff5c\u2502\u2503\u258c-\u258f\u276f\u27e9\u3009]"
    r"|&gt;|[\u00bb\u203a](?!.*[\u00ab\u2039]))"
)
_FLOWED_PREFIX: Final = re.compile(r"(?:> ?)*")
_OPTIONAL_END, _BLOCKS, _INLINE, _SPACED, _FOREIGN_TAGS = map(
    frozenset,
    cast("Mapping[str, list[str]]", read_toml("html", "remit.channels.mail")["tags"]).values(),
)
_MAX_INTRODUCTION_LINES: Final = 2
_SHEET: Final = re.compile(r"<style\b[^>]*>(.*?)(?:</style|\Z)", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)")
_LEADS: Final = {"li": "- ", "td": " ", "th": " "}
# Element names that mail programs use in their HTML: the same in every language.
_QUOTE_NAME: Final = re.compile(
    r"quote|(?<![a-z])cite|forward|fwd|referen|reply|original|(?:zmail|gmail)_(?:extra|attr)"
)
_QUOTE_START: Final = re.compile(r"rplyfwd|appendonsend|olk_src|zwchr|stopspelling")
_SIGNATURE_NAME: Final = re.compile(r"signature|zm-_id_-sgn|(?<![a-z])sig(?![a-z])")
# A line at one side of a block: at the right where people write from right to left.
_BORDER_AT_SIDE: Final = re.compile(
    r"border-(?:left|right|inline-start)(?:-width|-style)?\s*:\s*"
    r"(?!none|hidden|0(?:\.0*)?(?![.\d])|medium none)\S"
    r"|border-width\s*:\s*(?:0\w*\s+){3}[^0\s]"
    r"|border-style\s*:\s*(?:none\s+){3}(?!none)\S"
)
_BORDER_TOP: Final = re.compile(r"border-top\s*:\s*(?!none|0|medium none)\S")


class BodyLine(Struct, frozen=True):
    """One line. `starts_quote`: from here to the end another person wrote.

    A `named` line is quoted because an element around it is named like a quote, which may contain
    only the header of the older mail.
    """

    text: str
    quoted: bool = False
    named: bool = False
    starts_quote: bool = False
    rule: bool = False
    signature: bool = False


class MailBody(Struct, frozen=True):
    """All lines of a part. `sound` is False if its markup is ambiguous.

    `hides`: its style sheet hides some lines, and it is unclear which.
    """

    lines: tuple[BodyLine, ...]
    sound: bool = True
    hides: bool = False

    @property
    def text(self) -> str:
        return "\n".join(each.text for each in self.lines).strip()


def read_plain(text: str, *, flowed: bool = False, delsp: bool = False) -> MailBody:
    """Return the lines of a plain part; `flowed` and `delsp` are of its type (RFC 3676)."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if flowed:
        lines = list(_join_flowed_lines(lines, delsp=delsp))
    return MailBody(tuple(_plain_line(line) for line in lines[:MAX_LINES]), len(lines) <= MAX_LINES)


def read_html(html: str) -> MailBody:
    """Return the lines of an HTML part, as a reader sees them."""
    if _depth(html) > _MAX_DEPTH:
        return MailBody(
            (BodyLine("[This mail is too deeply nested to be read.]", quoted=True),), sound=False
        )
    sheet = hidden_css.read_sheet(" ".join(_SHEET.findall(html)))
    reader = _Reader(sheet)
    reader.feed(
        nh3.clean(
            html,
            tags=set(_BLOCKS | _INLINE),
            attributes={
                "*": {"class", "id", "name", "type", "style", "hidden", "color", "bgcolor"}
            },
            generic_attribute_prefixes={"data-"},
            clean_content_tags={"script", "style", "title", "textarea", "noscript", "template"},
            link_rel=None,
        )
    )
    reader.close()
    lower = html.lower()
    balanced = lower.count("<blockquote") == lower.count("</blockquote")
    lines = reader.lines()
    sound = balanced and len(lines) <= MAX_LINES
    return MailBody(tuple(lines[:MAX_LINES]), sound, hides=not sheet.is_clear)


def has_quote_mark(line: str) -> bool:
    return _QUOTE_PREFIX.match(line) is not None


def _plain_line(line: str) -> BodyLine:
    return BodyLine(line.rstrip(), quoted=has_quote_mark(line))


def _join_flowed_lines(lines: list[str], *, delsp: bool) -> Iterator[str]:
    """Yield the lines as they were before wrapping: one that ends in a space continues."""
    held, depth = "", ""
    for line in lines:
        mark = _FLOWED_PREFIX.match(line)
        prefix = mark[0].replace(" ", "") if mark else ""
        words = line[mark.end() if mark else 0 :].removeprefix(" " if not prefix else "")
        if held and prefix == depth and words != "-- ":
            words = held + words
        elif held:
            yield f"{depth} {held}" if depth else held
        held, depth = "", prefix
        if words.endswith(" ") and words != "-- ":
            held = words[:-1] if delsp else words
            continue
        yield f"{prefix} {words}" if prefix else words
    if held:
        yield f"{depth} {held}" if depth else held


def _depth(html: str) -> int:
    """Return an upper bound of the nesting depth."""
    held: Counter[str] = Counter()
    now = most = 0
    for found in _TAG.finditer(html):
        name = found[2].lower()
        if name in _OPTIONAL_END:
            continue
        if not found[1]:
            held[name] += 1
            now += 1
            most = max(most, now)
        elif held[name]:
            held[name] -= 1
            now -= 1
    return most


class _Element(Struct, frozen=True):
    tag: str
    quotes: bool = False
    container: int = 0  # the number of a quote that may contain the writer's reply
    signature: bool = False
    background: Colour = WHITE

    @property
    def stands_apart(self) -> bool:
        """Whether its words share no line with others'."""
        return self.quotes or self.signature


class _Place(Struct, frozen=True):
    """A line and its quote; `deep`: inside the pure quote."""

    line: BodyLine
    container: int = 0
    deep: bool = False


class _Reader(HTMLParser):
    """Walks over clean HTML, in which every element is closed."""

    def __init__(self, sheet: StyleSheet) -> None:
        super().__init__(convert_charrefs=True)
        self._sheet = sheet
        self._places: list[_Place] = []
        self._words: list[str] = []
        self._open: list[_Element] = []
        self._containers = 0
        self._pending = BodyLine("")  # the marks of the next line

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self._end_line(blank=True)
            return
        if tag in _BLOCKS or tag == "hr":
            self._end_line()
        names = " ".join(value or "" for name, value in attrs if name != "style").lower()
        style = " ".join(value or "" for name, value in attrs if name == "style").lower()
        self._mark(tag, names, style)
        if tag == "hr":
            self._add("")
            return
        if tag in _SPACED and self._places and self._places[-1].line.text:
            self._add("")
        given = {name: (value or "").lower() for name, value in attrs}
        written = {"color": given.get("color", ""), "background": given.get("bgcolor", "")}
        written |= hidden_css.declarations(style)
        behind = self._open[-1].background if self._open else WHITE
        hidden = "hidden" in given or self._sheet.hides(tag, given)
        hidden = hidden or hidden_css.hides(written, behind)
        element = replace(
            self._element(tag, names, style, hidden=hidden),
            background=hidden_css.background(written) or behind,
        )
        if element.stands_apart:
            self._end_line()
        self._open.append(element)
        self._words.append(_LEADS.get(tag, ""))

    def _mark(self, tag: str, names: str, style: str) -> None:
        """Set the marks that an element gives to the next line."""
        if _QUOTE_START.search(names) and not self._is_inside():
            self._pending = replace(self._pending, starts_quote=True)
        if tag == "hr" or (tag in _BLOCKS and _BORDER_TOP.search(style)):
            self._pending = replace(self._pending, rule=True)

    def handle_endtag(self, tag: str) -> None:
        known = next((each for each in reversed(self._open) if each.tag == tag), None)
        if tag in _BLOCKS or (known is not None and known.stands_apart):
            self._end_line()
        while self._open:
            if self._open.pop().tag == tag:
                break
        if tag in _SPACED and self._places and self._places[-1].line.text:
            self._add("")

    def handle_data(self, data: str) -> None:
        if any(each.tag == "pre" for each in self._open):
            for n, line in enumerate(data.split("\n")):
                if n:
                    self._end_line(blank=True)
                self._words.append(line)
            return
        self._words.append(re.sub(r"\s+", " ", data.replace("\xa0", " ")))

    def lines(self) -> list[BodyLine]:
        """Return all lines; after an introduced quote the writer may reply."""
        self._end_line()
        begun: set[int] = set()  # the elements whose quote has begun
        answered = {n for n in range(1, self._containers + 1) if self._is_introduced(n)}
        found: list[BodyLine] = []
        for place in self._places:
            if place.deep:
                begun.add(place.container)
            is_answer = place.container in answered & begun and not place.deep
            found.append(_plain_line(place.line.text) if is_answer else place.line)
        return found

    def _element(self, tag: str, names: str, style: str, *, hidden: bool) -> _Element:
        inside = self._is_inside()
        if tag in _FOREIGN_TAGS or hidden or _BORDER_AT_SIDE.search(style):
            return _Element(tag, quotes=True)
        if _SIGNATURE_NAME.search(names) and not inside:
            return _Element(tag, signature=True)
        if not _QUOTE_NAME.search(names):
            return _Element(tag)
        if inside or tag not in _BLOCKS:
            return _Element(tag, quotes=not any(each.container for each in self._open))
        self._containers += 1
        return _Element(tag, container=self._containers)

    def _is_inside(self) -> bool:
        """Whether a quote is open."""
        return any(each.quotes or each.container for each in self._open)

    def _end_line(self, *, blank: bool = False) -> None:
        text = "".join(self._words).strip()
        self._words.clear()
        if text or blank:
            self._add(text)

    def _add(self, text: str) -> None:
        container = next((each.container for each in self._open if each.container), 0)
        deep = any(each.quotes for each in self._open)
        line = replace(
            _plain_line(text),
            starts_quote=self._pending.starts_quote,
            rule=self._pending.rule,
            signature=any(each.signature for each in self._open),
        )
        marked = line.quoted or deep
        line = replace(line, quoted=marked or bool(container), named=bool(container) and not marked)
        self._places.append(_Place(line, container, deep))
        if text or line.rule:
            self._pending = BodyLine("")

    def _is_introduced(self, container: int) -> bool:
        """Whether an element is one line that says who wrote, and then a quote.

        A header of several lines belongs to a forwarded mail: then everything after it is
        another's.
        """
        before: list[str] = []
        for place in self._places:
            if place.container != container:
                continue
            if place.deep:
                found = quote_shapes.introduction(before, len(before) - 1) if before else None
                return (
                    found is not None and found[0] == 0 and not any(map(quote_shapes.label, before))
                )
            if place.line.text:
                before.append(quote_shapes.fold_line(place.line.text))
            if len(before) > _MAX_INTRODUCTION_LINES:
                return False
        return False
