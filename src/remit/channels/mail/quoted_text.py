"""Separates what the writer of a mail wrote from what the mail quotes or forwards.

Quoted words belong to somebody else, whoever sends them. They are found by their place in the HTML
and by the shape of the lines above them, in any language. If the two parts of a mail disagree, or
the result is unclear, no word counts as the writer's.
"""

import re
from collections import Counter
from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from msgspec import Struct

from remit.channels.mail import body_text, quote_shapes
from remit.channels.mail.body_text import BodyLine, MailBody
from remit.language.files import read_toml

# What programs put before a subject, in the languages that have words of their own for it.
_FORWARDED_WORDS, _ANSWERED_WORDS = (
    "|".join(read_toml("quote_words", "remit.channels.mail")[name])
    for name in ("forwarded", "answered")
)
_FORWARDED: Final = re.compile(rf"\s*(?:{_FORWARDED_WORDS})\s*[:\uff1a]", re.IGNORECASE)
_ANSWERED: Final = re.compile(rf"\s*(?:(?:{_ANSWERED_WORDS})\s*[:\uff1a]\s*)+", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+")
_LINK: Final = re.compile(r"<?(?:https?://|mailto:|cid:)\S+")
_MAX_SIGNATURE_LINES: Final = 10
_LONG_LINE: Final = 80


class SplitMail(Struct, frozen=True):
    """The writer's own words, in pieces between quotes, and the quoted words.

    If not `certain`, words in `own` may be another's too.
    """

    own: tuple[str, ...] = ()
    quoted: str = ""
    certain: bool = True

    @property
    def own_text(self) -> str:
        return "\n\n".join(self.own)


def split(plain: MailBody | None, html: MailBody | None, *, is_answer: bool) -> SplitMail:
    """Separate own and quoted words. `is_answer`: the header names an earlier mail."""
    by_html = _split(html, is_answer=is_answer) if html and html.text else None
    by_plain = _split(plain, is_answer=is_answer) if plain and plain.text else None
    if by_html is None or by_plain is None:
        return by_html or by_plain or SplitMail()
    agreed = not _words(by_html.own) - _words(by_plain.own) and bool(
        by_html.own or not by_plain.own
    )
    quoted = by_html.quoted or by_plain.quoted
    # A doubt in the plain part alone is settled by the HTML, which gave the writer no more words.
    return SplitMail(by_html.own, quoted, by_html.certain and agreed)


def is_forwarded(subject: str) -> bool:
    """Whether a subject says that the mail was forwarded."""
    return _FORWARDED.match(subject) is not None


def is_answered(subject: str) -> bool:
    """Whether a subject says that the mail is a reply."""
    return _ANSWERED.match(subject) is not None


def bare_subject(subject: str) -> str:
    """Return a subject without reply prefixes."""
    return _ANSWERED.sub("", subject, count=1).strip()


def _words(pieces: Sequence[str]) -> Counter[str]:
    return Counter(_WORD.findall(_LINK.sub(" ", " ".join(pieces)).casefold()))


def _split(body: MailBody, *, is_answer: bool) -> SplitMail:
    lines = body.lines
    folded = [quote_shapes.fold_line(each.text) for each in lines]
    cut = _cut(lines, folded, is_answer=is_answer)
    end, certain = cut.start, cut.certain and not body.hides
    owned = [not each.quoted and not each.signature for each in lines[:end]]
    introduced = _introductions(lines[:end], folded, is_answer=is_answer)
    for n in introduced:
        owned[n] = False
    certain = certain and not _is_broken_quote(lines[:end], folded, introduced)
    own = _pieces(lines[:end], owned)
    others = [each.text for n, each in enumerate(lines[:end]) if each.quoted or n in introduced]
    others += [] if cut.is_signature else [each.text for each in lines[end:]]
    quoted = "\n".join(others).strip()
    if not body.sound:
        certain = certain and not _has_own_below(lines, owned)
    if quoted and not own and is_answer:
        certain = False  # a reply below the quote, or none
    return SplitMail(own, quoted, certain)


def _has_own_below(lines: Sequence[BodyLine], owned: Sequence[bool]) -> bool:
    """Whether the writer's words are below a quote."""
    first = next((n for n, each in enumerate(lines) if each.quoted), len(lines))
    return any(
        mine and each.text.strip() for each, mine in zip(lines[first:], owned[first:], strict=False)
    )


def _pieces(lines: Sequence[BodyLine], owned: Sequence[bool]) -> tuple[str, ...]:
    """Return the writer's words, split where a quote is in between."""
    held: list[str] = []
    pieces: list[str] = []
    for line, mine in zip(lines, owned, strict=True):
        if mine:
            held.append(line.text)
        elif line.quoted and line.text.strip():
            pieces.append("\n".join(held))
            held = []
    pieces.append("\n".join(held))
    return tuple(each.strip("\n") for each in pieces if each.strip())


# Where another's words begin and go on to the end -------------------------------------------------


class _Sign(Enum):
    """How certain it is that an older mail begins in a line and continues to the end."""

    CERTAIN = auto()
    LIKELY = auto()  # certain in a reply, doubtful otherwise
    IN_ANSWERS = auto()  # means nothing otherwise
    DRAWN = auto()  # a drawn line: in a reply the older mail, otherwise a signature
    DOUBTFUL = auto()  # everywhere: people write so, too


class _Cut(Struct, frozen=True):
    """From which line on nothing is the writer's; a signature is nobody's."""

    start: int
    certain: bool = True
    is_signature: bool = False


def _cut(lines: Sequence[BodyLine], folded: Sequence[str], *, is_answer: bool) -> _Cut:
    chat = quote_shapes.chat_start(
        ["" if line.quoted else text for line, text in zip(lines, folded, strict=True)],
        is_answer=is_answer,
    )
    for n, line in enumerate(lines):
        if n == chat:
            return _Cut(n, certain=False)
        if line.quoted and not line.starts_quote and not line.named:
            continue
        start, sign = _sign(lines, folded, n, is_answer=is_answer) or (n, None)
        if sign is None or (sign is _Sign.IN_ANSWERS and not is_answer):
            continue
        if sign is _Sign.DRAWN and not is_answer:
            ends = _is_signature(lines[n + 1 :])
            return _Cut(start, certain=ends, is_signature=ends)
        known = sign is _Sign.CERTAIN or (is_answer and sign is not _Sign.DOUBTFUL)
        return _Cut(start, certain=known)
    return _Cut(len(lines))


def _sign(
    lines: Sequence[BodyLine], folded: Sequence[str], n: int, *, is_answer: bool
) -> tuple[int, _Sign] | None:
    """Return where an older mail begins, and how certain that is; None if it does not."""
    if lines[n].starts_quote:
        return n, _Sign.CERTAIN
    text = folded[n]
    follows = _next(folded, n)
    block = quote_shapes.header_block(folded, n) if quote_shapes.label(text) is not None else None
    if block is not None or lines[n].named:
        found = _block_sign(folded, n, block) if block else None
        doubt = not lines[n].named and _doubtful_sign(lines, folded, n, follows, is_answer)
        return found or doubt or None
    ahead = quote_shapes.header_block(folded, follows) if follows is not None else None
    has_head = ahead is not None and ahead.labels >= 2  # noqa: PLR2004 - one label is a sentence
    if quote_shapes.is_divider(text):
        return _divider_sign(lines, n, text, follows, has_head=has_head)
    if lines[n].rule or quote_shapes.is_rule(text):
        return _rule_sign(lines, n, text, follows, has_head=has_head)
    found = _introduction_sign(lines, folded, n, follows)
    return found or _doubtful_sign(lines, folded, n, follows, is_answer)


def _block_sign(
    folded: Sequence[str], n: int, block: quote_shapes.HeaderBlock
) -> tuple[int, _Sign] | None:
    if not block.is_certain and not block.is_likely:
        return None
    if block.wide:
        later = _later_block(folded, n)
        if later is not None:
            return None  # the text above is the writer's; the header follows a few lines later
    return n, _Sign.CERTAIN if block.is_certain else _Sign.LIKELY


def _later_block(folded: Sequence[str], n: int) -> int | None:
    """Return where a header begins after the first paragraph, if that is none."""
    end = n
    while end < len(folded) and folded[end].strip():
        end += 1
    first = " ".join(folded[n:end])
    start = _next(folded, end - 1)
    block = quote_shapes.header_block(folded, start) if start is not None else None
    if (
        block is None
        or block.wide
        or quote_shapes.has_address(first)
        or quote_shapes.has_date(first)
    ):
        return None
    return start if block.is_certain or block.is_likely else None


def _divider_sign(
    lines: Sequence[BodyLine], n: int, text: str, follows: int | None, *, has_head: bool
) -> tuple[int, _Sign] | None:
    names = quote_shapes.has_address(text) or quote_shapes.has_date(text)
    if follows is not None and lines[follows].quoted:
        return None  # it introduces a quote that is marked line by line
    return n, _Sign.CERTAIN if has_head or names else _Sign.LIKELY


def _rule_sign(
    lines: Sequence[BodyLine], n: int, text: str, follows: int | None, *, has_head: bool
) -> tuple[int, _Sign] | None:
    if has_head:
        return n, _Sign.CERTAIN
    if follows is None or lines[follows].quoted:
        return None
    return n, _Sign.DRAWN if quote_shapes.is_rule(text) else _Sign.IN_ANSWERS


def _introduction_sign(
    lines: Sequence[BodyLine], folded: Sequence[str], n: int, follows: int | None
) -> tuple[int, _Sign] | None:
    """Return a line that says who wrote, above words that are not marked as a quote."""
    found = quote_shapes.introduction(folded, n)
    if found is None or follows is None or lines[follows].quoted:
        return None
    start, text = found
    dated = quote_shapes.has_date(text)
    if dated and quote_shapes.has_bracketed_address(text):
        return start, _Sign.CERTAIN
    if dated:
        likely = quote_shapes.has_address(text) or quote_shapes.says_wrote(text)
        return start, _Sign.LIKELY if likely else _Sign.IN_ANSWERS
    return None


def _doubtful_sign(
    lines: Sequence[BodyLine], folded: Sequence[str], n: int, follows: int | None, is_answer: bool
) -> tuple[int, _Sign] | None:
    """Return a line that may introduce another's words, though people write such lines, too."""
    if quote_shapes.is_flat_quote(folded[n], is_answer=is_answer):
        return n, _Sign.DOUBTFUL
    if follows is None or lines[follows].quoted:
        return None
    text = folded[n]
    named = is_answer and (quote_shapes.names_writer(text) or quote_shapes.names_person(text))
    headed = quote_shapes.is_head_without_date(folded, n, is_answer=is_answer)
    headed = headed or quote_shapes.is_bare_head(folded, n, is_answer=is_answer)
    return (n, _Sign.DOUBTFUL) if named or headed or quote_shapes.says_wrote(text) else None


def _next(folded: Sequence[str], n: int) -> int | None:
    """Return the next line that is not empty."""
    return next((at for at in range(n + 1, len(folded)) if folded[at].strip()), None)


def _is_signature(rest: Sequence[BodyLine]) -> bool:
    """Whether what follows a drawn line is only a signature."""
    words = [each.text for each in rest if each.text.strip()]
    return len(words) <= _MAX_SIGNATURE_LINES and all(len(each) <= _LONG_LINE for each in words)


# Quotes that are marked line by line -------------------------------------------------------------


def _introductions(
    lines: Sequence[BodyLine], folded: Sequence[str], *, is_answer: bool
) -> set[int]:
    """Return the lines above quotes that say who wrote them."""
    found: set[int] = set()
    for n, line in enumerate(lines):
        follows = _next(folded, n)
        is_above = follows is not None and follows < len(lines) and lines[follows].quoted
        if line.quoted or not is_above or not line.text.strip():
            continue
        known = quote_shapes.introduction(folded, n)
        if known is not None:
            found.update(range(known[0], n + 1))
        elif quote_shapes.is_divider(folded[n]) or (is_answer and folded[n].rstrip().endswith(":")):
            found.add(n)
    return found


def _is_broken_quote(
    lines: Sequence[BodyLine], folded: Sequence[str], introduced: set[int]
) -> bool:
    """Whether a line may be the wrapped end of a quoted or introducing line."""
    for n, line in enumerate(lines):
        if line.quoted or n in introduced or not line.text.strip():
            continue
        before = lines[n - 1] if n else None
        marked = before is not None and before.quoted and body_text.has_quote_mark(before.text)
        # Even if the line above ends a sentence: a stranger may have let it end there.
        if before is not None and marked and quote_shapes.may_go_on(before.text):
            return True
        if n + 1 in introduced and quote_shapes.may_go_on(folded[n]):
            return True
    return False
