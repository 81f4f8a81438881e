"""Cuts the signature off a mailed request, in whole lines.

Nothing is removed from the stored mail; the signature is only not read as work. Lines that ask for
work are never taken for a signature.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

Asks: TypeAlias = Callable[[str], bool]  # whether a line begins like a request

_DELIMITER: Final = re.compile(r"\s*(?:--|\u2013\u2013|\u2014|\u2014\u2014)\s*")
_MAX_DEVICE_WORDS: Final = 12
_MAX_SENT_WORDS: Final = 8
_MAX_CLOSING_WORDS: Final = 5
_MAX_NAME_WORDS: Final = 4
_MAX_INITIALS: Final = 4
_MAX_ADDRESS_BLOCK: Final = 8  # lines below a name
_PHONE_DIGITS: Final = 6
_COMMAS: Final = (",", "\uff0c", "\u3001", "\u060c")
_SENTENCE: Final = ("?", "\uff1f", "\u061f", ":", "\uff1a")
_NAME: Final = re.compile(r"[^\W\d_](?:[^\W\d_]|['\u2019.-])*")
_LIST_ITEM: Final = re.compile(r"\s*(?:[-*\u2022\u2013+]|\(?\d{1,2}[.)]|[a-zA-Z][.)])\s")
_LABELLED: Final = re.compile(r"[^\s:]+(?: [^\s:]+){0,3}:(?:\s|$)")
_NARROWEST, _WIDEST = 55, 100  # characters at which programs wrap lines
# Devices, systems and mail programs: their names are the same in every language.
_SYSTEMS: Final = frozenset(
    ("android", "ios", "ipad", "iphone", "linux", "mac", "macos", "windows")
)
_PRODUCTS: Final = _SYSTEMS | frozenset(
    (
        *("outlook", "hotmail", "gmail", "yahoo", "aol", "icloud", "apple", "proton", "protonmail"),
        *("gmx", "web.de", "mail.ru", "zoho", "tutanota", "tuta", "spark", "bluemail", "k-9"),
        *("fairemail", "thunderbird", "superhuman", "airmail", "mailspring", "aquamail"),
        *("samsung", "galaxy", "huawei", "xiaomi", "redmi", "oneplus", "pixel", "nokia"),
        *("motorola", "blackberry", "t-mobile", "vodafone"),
    )
)
_PRODUCT_WORD: Final = re.compile(r"[a-zA-Z0-9.-]*[a-zA-Z0-9]|[^\W]+")


def read_request(pieces: Sequence[str], owner: str, asks: Asks) -> str:
    """Return the request in the pieces of a mail; `owner` is the name the writer may sign with."""
    found = [_unwrapped(_unsigned(piece.split("\n"), owner, asks), asks) for piece in pieces]
    return "\n\n".join(each for each in found if each)


# Signatures ---------------------------------------------------------------------------------------


def _unsigned(lines: list[str], owner: str, asks: Asks) -> list[str]:
    end = next((n for n, line in enumerate(lines) if _DELIMITER.fullmatch(line)), len(lines))
    kept = _without_end(lines[:end])
    while kept:
        start = _signature_start(kept, owner, asks)
        if start is None:
            return kept
        kept = _without_end(kept[:start])
    return kept


def _without_end(lines: list[str]) -> list[str]:
    """Return the lines without empty ones at the end."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _signature_start(lines: list[str], owner: str, asks: Asks) -> int | None:
    """Return where the last signature begins; None if there is none."""
    last = len(lines) - 1
    stands_alone = last == 0 or not lines[last - 1].strip()
    if stands_alone and _is_device_line(lines[last], asks, alone=last == 0):
        return last
    if last == 0:
        return None  # a mail of one line is a request
    named = _name_line(lines, owner, asks)
    if named is not None:
        before = _previous(lines, named)
        return before if before is not None and _is_closing(lines, before, asks) else named
    before = _previous(lines, last)
    if before and _is_comma_closing(lines, before, asks) and _is_name(lines[last]):
        return before
    return last if stands_alone and _is_lone_closing(lines, last, asks) else None


def _is_device_line(line: str, asks: Asks, *, alone: bool) -> bool:
    """Whether a line names a device or mail program, as programs add it."""
    words = [each.casefold() for each in _PRODUCT_WORD.findall(line)]
    named = [each for each in words if each in _PRODUCTS]
    if not named or len(words) > _MAX_DEVICE_WORDS or line.rstrip().endswith("?"):
        return False
    is_program = len(set(named)) > 1 and words[-1] in _SYSTEMS
    is_sent = words[0] == "sent" and len(words) <= _MAX_SENT_WORDS
    return is_program or is_sent or (not alone and not asks(line))


def _name_line(lines: list[str], owner: str, asks: Asks) -> int | None:
    """Return the line near the end with the owner's name; only contact data below it."""
    known = {each.casefold() for each in _NAME.findall(owner)}
    for n in range(len(lines) - 1, max(0, len(lines) - 1 - _MAX_ADDRESS_BLOCK), -1):
        words = lines[n].strip().strip(",.!").split()
        is_owner = bool(words) and words[0].casefold() in known
        if is_owner and len(words) <= _MAX_NAME_WORDS and _is_name(lines[n].strip(" ,.!")):
            return n
        if lines[n].strip() and not _is_reach(lines[n], asks):
            return None
    return None


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
        or (len(line.split()) <= _MAX_CLOSING_WORDS + 1 and not line.rstrip().endswith("."))
    )


def _is_closing(lines: list[str], n: int, asks: Asks) -> bool:
    """Whether the line above the owner's name is a closing: short, and set apart."""
    short = len(lines[n].split()) <= _MAX_CLOSING_WORDS
    apart = n > 0 and (not lines[n - 1].strip() or lines[n].rstrip().endswith((*_COMMAS, "!")))
    return short and apart and not asks(lines[n]) and not _is_talk(lines[n])


def _is_comma_closing(lines: list[str], n: int, asks: Asks) -> bool:
    return _is_closing(lines, n, asks) and lines[n].rstrip().endswith(_COMMAS)


def _is_lone_closing(lines: list[str], n: int, asks: Asks) -> bool:
    """Whether a line is a closing without a name: it ends in a comma, or is initials like MfG."""
    word = lines[n].strip()
    initials = len(word) <= _MAX_INITIALS and word.isalpha() and sum(map(str.isupper, word)) > 1
    return initials or _is_comma_closing(lines, n, asks)


def _is_talk(line: str) -> bool:
    """Whether a line asks or announces something."""
    return line.rstrip().endswith(_SENTENCE) or _LIST_ITEM.match(line) is not None


def _is_name(line: str) -> bool:
    words = line.split()
    return 1 <= len(words) <= _MAX_NAME_WORDS and all(
        _NAME.fullmatch(each) and not each[0].islower() for each in words
    )


def _previous(lines: list[str], n: int) -> int | None:
    return next((at for at in range(n - 1, -1, -1) if lines[at].strip()), None)


# Lines that were broken ---------------------------------------------------------------------------


def _unwrapped(lines: list[str], asks: Asks) -> str:
    """Join lines that a program wrapped; lists stay lists."""
    width = max((len(line.rstrip()) for line in lines), default=0)
    joined: list[str] = []
    before = ""  # the line above, unchanged
    for line in lines:
        if joined and _NARROWEST <= width <= _WIDEST and _goes_on(before, line, width, asks):
            joined[-1] = f"{joined[-1].rstrip()} {line.strip()}"
        else:
            joined.append(line.rstrip())
        before = line
    return "\n".join(joined).strip()


def _goes_on(before: str, line: str, width: int, asks: Asks) -> bool:
    """Whether a line continues the one above: its first word did not fit there."""
    if not before.strip() or not line.strip() or before.rstrip().endswith(_SENTENCE):
        return False
    if _LIST_ITEM.match(line) or _LABELLED.match(line.strip()):
        return False
    first = line.split(maxsplit=1)[0]
    full = len(before.rstrip()) + 1 + len(first) > width
    return full and not (first[0].isupper() and asks(line))
