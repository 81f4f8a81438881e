"""Cuts the signature off a mailed request, in whole lines.

Nothing is removed from the stored mail; the signature is only not read as work. Lines that ask for
work are never taken for a signature.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, TypeAlias

from remit.language.files import read_toml

Asks: TypeAlias = Callable[[str], bool]  # whether a line begins like a request

_DELIMITER: Final = re.compile(r"\s*(?:--|\u2013\u2013|\u2014|\u2014\u2014)\s*")
_MAX_DEVICE_WORDS: Final = 12
_MAX_SENT_WORDS: Final = 8
_MAX_PROGRAM_WORDS: Final = 6  # in "Sent from X", where X may be any program
_MAX_CLOSING_WORDS: Final = 5
_MAX_THANKS_WORDS: Final = 10
_MIN_NOTICE_WORDS: Final = 6
_MAX_NAME_WORDS: Final = 4
_MAX_INITIALS: Final = 4
_MAX_ADDRESS_BLOCK: Final = 8  # lines below a name
_PHONE_DIGITS: Final = 6
_COMMAS: Final = (",", "\uff0c", "\u3001", "\u060c")
_COLONS: Final = (":", "\uff1a")
_SENTENCE: Final = ("?", "\uff1f", "\u061f", *_COLONS)
_ENDS: Final = (".", "!")
_NAME: Final = re.compile(r"[^\W\d_](?:[^\W\d_]|['\u2019.-])*")
_AROUND_NAME: Final = " ,.!~/\u2013\u2014"
# A title, a company, a pronoun.
_BEHIND_NAME: Final = re.compile(r"\s*[,|\u00b7\u2022]\s*|\s+[-\u2013]\s+|\s+\(")
# Bold, or with a sign beside it.
_SHOWN_NAME: Final = re.compile(r"(?:[^\w\s(\[*_+#>\u2022\u2013-]+ )?([*_]{0,2})(\w.*?)\1[^\w)]*")
_BETWEEN_DATA: Final = re.compile(r" [|\u00b7\u2022] ")
_LIST_ITEM: Final = re.compile(r"\s*(?:[-*\u2022\u2013+]|\(?\d{1,2}[.)]|[a-zA-Z][.)])\s")
_LABELLED: Final = re.compile(r"[^\s:]+(?: [^\s:]+){0,3}:(?:\s|$)")
_NARROWEST, _WIDEST = 55, 100  # characters at which programs wrap lines
_PHONE_WIDTH: Final = 40  # so narrow only small letters show that a sentence goes on
_PRODUCT_WORD: Final = re.compile(r"[\w.-]*\w")
_LINK: Final = re.compile(r"[<(\[]?\s*(?:https?://|mailto:)[^\s>)\]]+\s*[>)\]]?|\]\(\S*\)")
_TITLES: Final = re.compile(r"(?:[\w-]{1,10}\.\s?)+(?=[^\W\d_])")  # "Dipl.-Ing. Hanan"
_SHORT_FORM: Final = re.compile(r"\b[A-Z]\w{0,4}\.$")  # "Ltd.", "Lda."


def read_request(pieces: Sequence[str], owner: str, asks: Asks) -> str:
    """Return the request in the pieces of a mail; `owner` is the name the writer may sign with."""
    found = [
        _join_wrapped_lines(_remove_signatures(piece.split("\n"), owner, asks), asks)
        for piece in pieces
    ]
    return "\n\n".join(each for each in found if each)


# Signatures ---------------------------------------------------------------------------------------


def _remove_signatures(lines: list[str], owner: str, asks: Asks) -> list[str]:
    end = next((n for n, line in enumerate(lines) if _DELIMITER.fullmatch(line)), len(lines))
    kept = _without_end(lines[:end])
    while kept:
        start = _signature_start(kept, owner, asks)
        if start is None:
            return kept
        kept = _without_end(kept[:start])
    return kept


def _without_end(lines: list[str]) -> list[str]:
    """Return the lines without those at the end that have no letter and no digit."""
    end = len(lines)
    while end and not any(map(str.isalnum, lines[end - 1])):
        end -= 1
    return lines[:end]


def _signature_start(lines: list[str], owner: str, asks: Asks) -> int | None:
    """Return where the last signature begins; None if there is none."""
    last = len(lines) - 1
    before = _previous(lines, last)
    listed = before is not None and lines[before].rstrip().endswith(_SENTENCE)  # "Buy this:"
    apart = last == 0 or (not lines[last - 1].strip() and not listed)
    if _is_device_line(lines[last], asks, alone=last == 0, apart=apart):
        return last
    if last and _is_notice(lines[last], asks):
        return last
    if last and apart and _is_parting(lines[last].strip(), asks):
        return last
    if last and _is_device_line(lines[last], asks, alone=False, apart=True):
        closing = _closing_start(lines[:last], owner, asks)  # a program adds its line below a name
        if closing is not None:
            return closing
    return _closing_start(lines, owner, asks)


def _is_parting(line: str, asks: Asks) -> bool:
    """Whether a line is what people say last; "… and call Bert" asks for something."""
    if not _pattern("parting", r"(?:{})\b[^,;:?]*").fullmatch(line.casefold()):
        return False
    return not any(asks(each) for each in _pattern("and", r" (?:{}) ").split(line)[1:])


def _closing_start(lines: list[str], owner: str, asks: Asks) -> int | None:
    if len(lines) < 2:  # noqa: PLR2004 - one line is a request
        return None
    last, named = len(lines) - 1, _name_line(lines, owner, asks)
    if named is not None:
        before = _previous(lines, named)
        if before is not None and _is_closing(lines, before, asks):
            return before
        in_list = before is not None and lines[before].rstrip().endswith(_COLONS)  # "Guests:"
        return None if in_list else named
    before = _previous(lines, last)
    below = _TITLES.sub("", lines[last].strip(), count=1)  # "H. Idris"
    if before and _is_name(below) and _is_comma_closing(lines, before, asks):
        return before
    return last if _is_lone_closing(lines, last, owner, asks) else None


def _is_device_line(line: str, asks: Asks, *, alone: bool, apart: bool) -> bool:
    """Whether a line names a device or mail program, as programs add it."""
    words = [each.casefold() for each in _PRODUCT_WORD.findall(_LINK.sub(" ", line))]
    if not words or len(words) > _MAX_DEVICE_WORDS or line.rstrip().endswith("?"):
        return False
    systems, within = _words("systems"), _pattern("product_within", "{}")
    known = systems | _words("products")
    named = {each for each in words if each in known or within.search(each)}
    sent = _pattern("sent", "{}")
    if not named:
        return apart and not alone and _is_program_line(line.strip().casefold(), words, asks)
    is_program = len(named) > 1 and words[-1] in systems
    is_sent = bool(sent.fullmatch(words[0]) or sent.fullmatch(words[-1]))
    is_sent = is_sent and len(words) <= (_MAX_SENT_WORDS if alone else _MAX_DEVICE_WORDS)
    return is_program or is_sent or (apart and not alone and not asks(line))


def _is_program_line(text: str, words: list[str], asks: Asks) -> bool:
    """Whether a line says what a mail was sent with, or excuses its typing."""
    by = "|".join(read_toml("signature_words", __package__)["sent_from"])
    sent = _pattern("sent", f"(?:{{}}) (?:{by}) ").match(text)
    if excuse := _pattern("excuse", "{}").search(text):
        return bool(sent) or excuse.start() == 0 or not asks(text)
    sent = sent or _pattern("sent", rf"(?:{by}) .* (?:{{}})").fullmatch(text)  # "Von … gesendet"
    return bool(sent) and len(words) <= _MAX_PROGRAM_WORDS


def _is_notice(line: str, asks: Asks) -> bool:
    """Whether a line is what companies put below every mail: that it is confidential."""
    text = line.casefold()
    if len(text.split()) < _MIN_NOTICE_WORDS or not _pattern("about_mail", "{}").search(text):
        return False
    found = set(_pattern("notice", "{}").findall(text))
    # "Please consider the environment before printing this" asks, too, but nobody of us.
    return len(found) > 1 or "printing" in found or (bool(found) and not asks(line))


def _name_line(lines: list[str], owner: str, asks: Asks) -> int | None:
    """Return the line near the end with the owner's name; only contact data below it."""
    known = {each.casefold() for each in _NAME.findall(owner)}
    for n in range(len(lines) - 1, max(0, len(lines) - 1 - _MAX_ADDRESS_BLOCK), -1):
        shown = _SHOWN_NAME.fullmatch(_before_name(lines, n).strip(_AROUND_NAME))
        name = _BEHIND_NAME.split(shown[2] if shown else "", maxsplit=1)[0].strip()
        name = _TITLES.sub("", name, count=1)
        words = name.split()
        is_owner = bool(words) and words[0].casefold() in known
        if is_owner and len(words) <= _MAX_NAME_WORDS and _is_name(name):
            return n
        if lines[n].strip() and not _is_reach(lines[n], asks):
            return None
    return None


def _before_name(lines: list[str], n: int) -> str:
    """Return a line without the dash that people put before their name; a list keeps its dashes."""
    in_list = n > 0 and _LIST_ITEM.match(lines[n - 1])
    last = n == len(lines) - 1
    return lines[n].strip().removeprefix("-") if last and not in_list else lines[n]


def _is_reach(line: str, asks: Asks) -> bool:
    """Whether a line may be below a name: a title, a company, a number, an address."""
    if asks(line) or line.rstrip().endswith(_SENTENCE):
        return False
    digits = sum(map(str.isdigit, line))
    return (
        digits >= _PHONE_DIGITS
        or "@" in line
        or "www." in line
        or "://" in line
        or _BETWEEN_DATA.search(line) is not None
        or (
            len(line.split()) <= _MAX_CLOSING_WORDS + 1
            and (not line.rstrip().endswith(".") or _SHORT_FORM.search(line.rstrip()) is not None)
        )
    )


def _is_closing(lines: list[str], n: int, asks: Asks) -> bool:
    """Whether the line above the owner's name is a closing: short, and set apart."""
    thanks = lines[n].strip().casefold().startswith(tuple(_words("thanking")))
    short = len(lines[n].split()) <= (_MAX_THANKS_WORDS if thanks else _MAX_CLOSING_WORDS)
    apart = n > 0 and (not lines[n - 1].strip() or lines[n].rstrip().endswith((*_COMMAS, "!")))
    closes = _words("closings").issuperset(re.findall(r"\w+", lines[n].casefold()))
    talks = lines[n].rstrip().endswith(_SENTENCE) or _LIST_ITEM.match(lines[n]) is not None
    return short and apart and not asks(lines[n]) and (closes or not talks)


def _is_comma_closing(lines: list[str], n: int, asks: Asks) -> bool:
    return _is_closing(lines, n, asks) and lines[n].rstrip().endswith(_COMMAS)


def _is_lone_closing(lines: list[str], n: int, owner: str, asks: Asks) -> bool:
    """Whether a line is a closing, with the owner's name behind it or none: "LG Hanan", "MfG"."""
    words = [each.casefold() for each in re.findall(r"\w+", lines[n])]
    names = {each.casefold() for each in _NAME.findall(owner)}
    names |= {each[0] for each in names}
    is_signed = len(words) > 1 and words[-1] in names
    rest = words[:-1] if is_signed else words
    if rest and _words("closings").issuperset(rest):
        return len(words) <= _MAX_CLOSING_WORDS
    if lines[n - 1].strip():
        return False
    word = lines[n].strip()
    initials = len(word) <= _MAX_INITIALS and word.isalpha() and sum(map(str.isupper, word)) > 1
    is_initial = len(words) == 1 and len(words[0]) == 1 and words[0] in names
    return initials or is_initial or _is_comma_closing(lines, n, asks)


def _is_name(line: str) -> bool:
    words = line.split()
    return 1 <= len(words) <= _MAX_NAME_WORDS and all(
        _NAME.fullmatch(each) and not each[0].islower() for each in words
    )


def _previous(lines: list[str], n: int) -> int | None:
    return next((at for at in range(n - 1, -1, -1) if lines[at].strip()), None)


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(read_toml("signature_words", __package__)[name])


@cache
def _pattern(name: str, form: str) -> re.Pattern[str]:
    """Return a pattern of the words of a list, put together with "or"."""
    return re.compile(form.format("|".join(read_toml("signature_words", __package__)[name])))


# Lines that were broken ---------------------------------------------------------------------------


def _join_wrapped_lines(lines: list[str], asks: Asks) -> str:
    """Join lines that a program wrapped; lists stay lists."""
    width = max((len(line.rstrip()) for line in lines), default=0)
    joined: list[str] = []
    before = ""  # the line above, unchanged
    for n, line in enumerate(lines):
        small = line[:1].islower() or _is_in_wrapped_paragraph(lines, n, width)
        small = small and width < _NARROWEST and before.rstrip()[-1:] not in _ENDS
        wraps = _NARROWEST <= width <= _WIDEST or (small and width >= _PHONE_WIDTH)
        if joined and wraps and _goes_on(before, line, width, asks):
            joined[-1] = f"{joined[-1].rstrip()} {line.strip()}"
        else:
            joined.append(line.rstrip())
        before = line
    return "\n".join(joined).strip()


def _is_in_wrapped_paragraph(lines: list[str], n: int, width: int) -> bool:
    """Whether the lines around this one are full, and some begin with a small letter."""
    first = next((at + 1 for at in range(n, -1, -1) if not lines[at].strip()), 0)
    end = next((at for at in range(n, len(lines)) if not lines[at].strip()), len(lines))
    around = list(pairwise(lines[first:end]))
    small = any(line[:1].islower() for _, line in around)
    return small and all(_is_full(before, line, width) for before, line in around)


def _is_full(before: str, line: str, width: int) -> bool:
    """Whether the first word of a line did not fit into the one above."""
    return len(before.rstrip()) + 1 + len(line.split(maxsplit=1)[0]) > width


def _goes_on(before: str, line: str, width: int, asks: Asks) -> bool:
    """Whether a line continues the one above: its first word did not fit there."""
    if not before.strip() or not line.strip() or before.rstrip().endswith(_SENTENCE):
        return False
    if _LIST_ITEM.match(line) or _LABELLED.match(line.strip()):
        return False
    starts = line.lstrip()[0].isupper() or width < _NARROWEST
    return _is_full(before, line, width) and not (starts and asks(line))
