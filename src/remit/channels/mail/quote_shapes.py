"""Recognises lines that mail programs write around quoted mail, in any language.

A quoted mail starts with a header: lines of `word: value`, one with an address and one with a date,
or a single line with both that ends in a colon. Digits of every script count; direction marks are
ignored.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from remit.language.files import read_toml

MAX_LINE: Final = 400  # characters of a line that a program may have written
_MAX_BLOCK_LINES: Final = 24
_MAX_INTRODUCTION_LINES: Final = 4
_MAX_LABEL_WORDS: Final = 5
_WRAPPED: Final = 50  # characters; such a long line may continue in the next one
_UNSEEN: Final = dict.fromkeys(
    [0xAD, 0x61C, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
# Where other scripts have a colon: Armenian, Hebrew, Ethiopic, Khmer, Mongolian, and signs like
# one.
_COLONS: Final = dict.fromkeys(
    map(ord, "\u055d\u0589\u05c3\u1361\u1365\u1366\u17d6\u1804\u2236\ua789\u02d0"), ":"
)
_MARKS: Final = {**_UNSEEN, **_COLONS}
_ADDRESS: Final = re.compile(
    r"[^\s<>@,;:()\[\]\"']+@[^\s<>@,;:()\[\]\"']+\.[^\s<>@,;:()\[\]\"'.]{2,}"
)
_BRACKETED: Final = re.compile(
    r"[<(\[]\s?(?:mailto:)?[^\s<>@()\[\]]+@[^\s<>@()\[\]]+\.[^<>()\[\]]+[>)\]]"
)
_ADDRESS_OR_LINK: Final = re.compile(r"\S*(?:@|://)\S*")
_NUMBER: Final = re.compile(r"\d+")
_TIME: Final = re.compile(r"(?<!\d)\d{1,2}(?:[:.]|\s?h\s?)\d{2}(?!\d)")
_NUMERIC_DATE: Final = re.compile(r"(?<!\d)\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2}(?!\d)")
_YEARS: Final = range(1300, 2700)  # of every calendar that mail programs use
_LABEL: Final = re.compile(
    r"[\s*_]*([^\d:@<>()\[\]{}!?;,/\\\"|=+#*_]{1,40})[*_\s]*:(?!//)[*_]*(.*)"
)
_DASH: Final = "-_=*~\u2010\u2012\u2013\u2014\u2015\u2500"
_DIVIDER: Final = re.compile(rf"\s*[#{_DASH}]{{2,}}[^{_DASH}].{{0,160}}[#{_DASH}]{{2,}}\s*")
_RULE: Final = re.compile(rf"\s*([{_DASH}])\1{{9,}}\s*")
# Words follow who wrote them at once; the colon of a time is none of these.
_ONE_LINE: Final = re.compile(r"[>)\]](?:[^:]|(?<=\d):(?=\d)){0,30}(?<!\d):(?!\d)\s*\S")
_NOTES: Final = re.compile(
    r"---\s?\d{1,4}[./-]\d{1,2}[./-]\d{2,4}[ ,]+[\d:. apm]+---", re.IGNORECASE
)
_PREFIX: Final = re.compile(r"\s*(?:\[[^\]]{1,40}\]\s*)?[^\W\d_]{1,6}(?:[\[(]\d+[\])])?\s?:")


# Lines above or before the words of a chat: a time in brackets, a name and a colon; a name in
# angle brackets; a date, a dash and a name. The others are written so by their owners, too.
_CLOCK: Final = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?i:\s?[ap]\.?m\.?|\s?uhr)?"
_DAY: Final = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?\s{0,2})?"
_PERSON: Final = r"~?\s?[^\W\d_][\w.'’ -]{0,40}"
_CHAT_LINE: Final = re.compile(
    rf"\s*(?:[\[(]{_DAY}{_CLOCK}[\])]\s*(?:{_PERSON}(?::|\s*$)|<{_PERSON}>)"
    rf"|{_PERSON},?\s?\[{_DAY}{_CLOCK}\]\s?(?::|$)"
    rf"|\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}},?\s{{1,2}}{_CLOCK}\s?[-–—]\s?{_PERSON}:"
    rf"|(?:{_CLOCK}\s)?<{_PERSON}>\s)",
    re.IGNORECASE,
)
_CHAT_MAYBE: Final = re.compile(
    rf"\s*(?:{_CLOCK}\s?[-–—|]?\s?{_PERSON}:\s?\S|{_PERSON}\s?\({_DAY}{_CLOCK}\)\s?:\s"
    rf"|[^\W\d_a-z][\w.'’-]{{0,30}}(?:\s[^\W\d_a-z][\w.'’-]{{0,30}}){{0,3}}"
    rf"\s?[,–—|-]?\s{{1,3}}(?:\w{{2,12}}\s){{0,2}}{_DAY}{_CLOCK}\s*:?\s*$)"
)
_LEAST_CHAT_LINES: Final = 2
_HEAD_LABELS: Final = 2
_MAX_HEAD_LINES: Final = 8
_MAX_HEAD_LINE: Final = 120
_MAX_HEAD_WORDS: Final = 8
_SENTENCE_ENDS: Final = (".", "!", "?", "\u3002", "\u0964")


class HeaderBlock(Struct, frozen=True):
    """Consecutive lines of `word: value`. `wide`: with empty lines in between."""

    labels: int
    has_address: bool
    has_date: bool
    wide: bool

    @property
    def is_certain(self) -> bool:
        """Whether it has what a mail header has."""
        return self.labels >= 2 and self.has_address and self.has_date  # noqa: PLR2004 - a pair

    @property
    def is_likely(self) -> bool:
        """Whether it may be a mail header without addresses."""
        return self.labels >= 3 and (self.has_address or self.has_date)  # noqa: PLR2004 - a head


def fold_line(line: str) -> str:
    """Return a line in one spelling: ASCII digits and colons, nothing invisible."""
    if line.isascii():
        return line[:MAX_LINE]
    text = unicodedata.normalize("NFKC", line[:MAX_LINE].translate(_MARKS))
    return "".join(str(unicodedata.decimal(char, char)) for char in text)


def has_address(text: str) -> bool:
    return _ADDRESS.search(text) is not None


def has_bracketed_address(text: str) -> bool:
    """Whether an address is in brackets, as programs write it."""
    return _BRACKETED.search(text) is not None


def has_date(text: str) -> bool:
    """Whether a date or time is written with digits."""
    bare = _ADDRESS_OR_LINK.sub(" ", text)
    numbers = _NUMBER.findall(bare)
    year = any(len(each) == 4 and int(each) in _YEARS for each in numbers)  # noqa: PLR2004 - a year
    day = any(len(each) <= 2 for each in numbers)  # noqa: PLR2004 - a day
    return (year and day) or bool(_TIME.search(bare) or _NUMERIC_DATE.search(bare))


def label(line: str) -> str | None:
    """Return the value of a `word: value` line; None if it is no such line."""
    found = _LABEL.fullmatch(line)
    if found is None or not 1 <= len(found[1].split()) <= _MAX_LABEL_WORDS:
        return None
    return found[2].strip()


def header_block(lines: Sequence[str], start: int) -> HeaderBlock | None:
    """Return the `word: value` lines from here on; a value may continue on a second line."""
    labels, values, gaps, gap, continued = 0, [], 0, False, True
    for line in lines[start : start + _MAX_BLOCK_LINES]:
        value = label(line)
        if value is not None:
            labels, gaps, gap, continued = labels + 1, gaps + gap, False, False
            values.append(value)
        elif not line.strip():
            if gap:
                break
            gap = True
        elif gap or continued:
            break
        else:
            values.append(line)
            continued = True
    if not labels:
        return None
    return HeaderBlock(labels, any(map(has_address, values)), any(map(has_date, values)), gaps > 0)


def is_divider(line: str) -> bool:
    """Whether a line is words between dashes."""
    return _DIVIDER.fullmatch(line) is not None and any(map(str.isalpha, line))


def is_rule(line: str) -> bool:
    """Whether a line is a long row of one kind of dash."""
    return _RULE.fullmatch(line) is not None


def has_prefix(subject: str) -> bool:
    """Whether a subject begins like a reply or forward: a short word and a colon."""
    return _PREFIX.match(fold_line(subject)) is not None


def introduction(lines: Sequence[str], end: int) -> tuple[int, str] | None:
    """Return where the words that introduce a quote begin, and the words.

    None if the line does not end in a colon, or nothing says who or when.
    """
    if not lines[end].rstrip(" *_").endswith(":"):
        return None
    text, least = "", None
    for first in range(end, max(-1, end - _MAX_INTRODUCTION_LINES), -1):
        if not lines[first].strip():
            break
        text = f"{lines[first].strip()} {text}".strip()
        if has_address(text) and has_date(text):
            return first, text
        if least is None and (has_address(text) or has_date(text)):
            least = first, text
    return least


def says_wrote(line: str) -> bool:
    """Whether a line says that somebody wrote what follows, with a word for it."""
    return line.rstrip(" *_").endswith(":") and _wrote().search(line.casefold()) is not None


def names_writer(line: str) -> bool:
    """Whether a line that ends in a colon has an address, and more words behind it."""
    text = line.rstrip(" *_")
    found = list(_ADDRESS.finditer(text))
    behind = text[found[-1].end() :].strip(" >)]:") if found else ""
    return text.endswith(":") and bool(behind)


def is_flat_quote(line: str, *, is_answer: bool) -> bool:
    """Whether one line says who wrote and when, and has the words themselves, too."""
    if _NOTES.search(line):
        return True
    if not is_answer and not _wrote().search(line.casefold()):
        return False  # people order so: "tell Bert <…> on Monday the 3rd: I am late"
    found = None if line.rstrip(" *_").endswith(":") else _BRACKETED.search(line)
    return (
        found is not None and has_date(line) and _ONE_LINE.match(line, found.end() - 1) is not None
    )


def is_bare_head(lines: Sequence[str], start: int, *, is_answer: bool) -> bool:
    """Whether a paragraph has an address and a date, and is no sentence, as heads without labels.

    People write such lines, too: in a new mail, a line with more than a few words is an order.
    """
    if start and lines[start - 1].strip():
        return False
    block = lines[start : _head_end(lines, start)]
    text = " ".join(block)
    if not block or not has_date(text) or text.rstrip(" *_").endswith(_SENTENCE_ENDS):
        return False
    if len(block) > _MAX_HEAD_LINES or max(map(len, block)) > _MAX_HEAD_LINE:
        return False
    if len(block) > 1:
        return has_address(text) if is_answer else has_bracketed_address(text)
    words = re.findall(r"[^\W\d_]+", _ADDRESS_OR_LINK.sub(" ", text))
    return has_bracketed_address(text) and (is_answer or len(words) <= _MAX_HEAD_WORDS)


def _head_end(lines: Sequence[str], start: int) -> int:
    """Return where a paragraph ends, or a head that is known by its labels or its colon begins."""
    end = start
    while end < len(lines) and lines[end].strip():
        block, found = header_block(lines, end), introduction(lines, end)
        if block is not None and (block.is_certain or block.is_likely):
            break
        if found is not None:
            return max(start, found[0])
        end += 1
    return end


def may_go_on(line: str) -> bool:
    """Whether a line is long enough to have been wrapped."""
    return len(line.rstrip()) >= _WRAPPED


def chat_start(lines: Sequence[str], *, is_answer: bool) -> int | None:
    """Return the first line of a pasted chat, if there is one."""
    sure = next((n for n, line in enumerate(lines) if _CHAT_LINE.match(line)), None)
    if sure is not None:
        return sure
    maybe = [n for n, line in enumerate(lines) if _CHAT_MAYBE.match(line)]
    # An owner's list has such lines one below the other; in a chat there are words between them.
    heads = [n for n in maybe if n + 1 < len(lines) and n + 1 not in maybe and lines[n + 1].strip()]
    spoken = [n for n in maybe if label(lines[n]) is not None or ": " in lines[n]]
    least = 1 if is_answer else _LEAST_CHAT_LINES
    if max(len(heads), len(spoken)) >= least:
        return maybe[0]
    return _dialogue_start(lines)


def _dialogue_start(lines: Sequence[str]) -> int | None:
    """Return where two speak in turns: `Bob: …`, `Anna: …`, `Bob: …`."""
    found = [(n, line.partition(":")[0].strip()) for n, line in enumerate(lines) if label(line)]
    named = [(n, name) for n, name in found if name[:1].isupper()]
    counts = Counter(name for _, name in named)
    return named[0][0] if len(counts) > 1 and max(counts.values()) > 1 else None


def is_head_without_date(lines: Sequence[str], start: int, *, is_answer: bool) -> bool:
    """Whether lines of `word: value` above other words may be the head of an older mail."""
    names: list[str] = []
    for line in lines[start : start + _MAX_BLOCK_LINES]:
        if label(line) is None:
            break
        names.append(line.partition(":")[0].strip(" *_").casefold())
    ends = start + len(names)
    stands_apart = ends < len(lines) and not lines[ends].strip()
    known = read_toml("quote_words", __package__)
    says = not set(names).isdisjoint(known["from"]) and not set(names).isdisjoint(known["subject"])
    return len(names) >= _HEAD_LABELS and (says or (is_answer and stands_apart))


def names_person(line: str) -> bool:
    """Whether a line is only a name of several words, and a colon."""
    words = line.strip(" *_:").split()
    several = 1 < len(words) < _MAX_LABEL_WORDS and line.rstrip(" *_").endswith(":")
    return several and all(word[0].isupper() and word.isalpha() for word in words)


@cache
def _wrote() -> re.Pattern[str]:
    """Return how programs say "wrote" above a quote: a line without date and address needs it."""
    known = read_toml("quote_words", __package__)
    words, signs = "|".join(known["wrote"]), "|".join(known["wrote_signs"])
    return re.compile(rf"\b(?:{words})\b|{signs}")
