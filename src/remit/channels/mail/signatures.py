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
_MAX_PROGRAM_WORDS: Final = 6  # in "Sent from X", where X may be any program
_MAX_CLOSING_WORDS: Final = 5
_MAX_THANKS_WORDS: Final = 10
_MIN_NOTICE_WORDS: Final = 6
_MAX_NAME_WORDS: Final = 4
_MAX_INITIALS: Final = 4
_MAX_ADDRESS_BLOCK: Final = 8  # lines below a name
_PHONE_DIGITS: Final = 6
_COMMAS: Final = (",", "\uff0c", "\u3001", "\u060c")
_SENTENCE: Final = ("?", "\uff1f", "\u061f", ":", "\uff1a")
_ENDS: Final = (".", "!")
_NAME: Final = re.compile(r"[^\W\d_](?:[^\W\d_]|['\u2019.-])*")
_AROUND_NAME: Final = " ,.!~/\u2013\u2014"
# A title, a company, a pronoun.
_BEHIND_NAME: Final = re.compile(r"\s*[,|\u00b7\u2022]\s*|\s+[-\u2013]\s+|\s+\(")
_SHOWN_NAME: Final = re.compile(r"([*_]{0,2})(\w.*?)\1[^\w)]*")  # bold, or with a sign behind it
_LIST_ITEM: Final = re.compile(r"\s*(?:[-*\u2022\u2013+]|\(?\d{1,2}[.)]|[a-zA-Z][.)])\s")
_LABELLED: Final = re.compile(r"[^\s:]+(?: [^\s:]+){0,3}:(?:\s|$)")
_NARROWEST, _WIDEST = 55, 100  # characters at which programs wrap lines
_PHONE_WIDTH: Final = 40  # so narrow only a small letter shows that a sentence goes on
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
# Many languages write endings or no blank around these: "iPhonesta", "发自我的iPhone".
_PRODUCT_WITHIN: Final = re.compile(r"iphon|ipad|android|outlook|gmail|mail\.ru|avast|avg\.com")
_PRODUCT_WORD: Final = re.compile(r"[\w.-]*\w")
_LINK: Final = re.compile(r"[<(\[]?\s*(?:https?://|mailto:)[^\s>)\]]+\s*[>)\]]?|\]\(\S*\)")
_SENT: Final = re.compile(
    r"sent|gesendet|envoyée?|enviad[oa]|inviat[oa]|verzonden|verstuurd|skickat|sendt|lähetetty|"
    r"wysłan[eoy]|odesláno|odoslané|küldve|gönderildi|trimis|отправлено"
)
_SENT_BY: Final = re.compile(
    rf"(?:{_SENT.pattern}) "
    r"(?:from|via|with|using|mit|von|über|desde|con|depuis|de|da|dal|do|vanaf|från|fra) "
)
_EXCUSE: Final = re.compile(
    r"(?:please |bitte )?(?:excuse|pardon|forgive|sorry|apologies|entschuldig|disculp|désolé)"
    r".*(?:typo|brevity|tippfehler|kürze|erratas|brevedad|frappe)"
)
# How people close a letter; a line of these words alone asks for nothing.
_CLOSINGS: Final = frozenset(
    (
        *("thanks", "thank", "you", "thx", "many", "best", "kind", "warm", "regards", "wishes"),
        *("cheers", "sincerely", "yours", "truly", "br", "kr", "rgds", "very", "again"),
        *("danke", "vielen", "dank", "grüße", "gruß", "grüsse", "gruss", "viele", "liebe"),
        *("beste", "herzliche", "schöne", "freundliche", "lg", "vg", "mfg", "bg", "hg", "im"),
        *("voraus", "vorab", "in", "advance", "und", "and", "mit", "freundlichen", "grüßen"),
        *("gracias", "muchas", "saludos", "cordiales", "un", "saludo", "abrazo", "atentamente"),
        *("merci", "cordialement", "bien", "cdt", "bises", "grazie", "saluti", "cordiali"),
        *("groet", "groeten", "obrigado", "obrigada", "abraço", "tack", "hälsningar", "mvh"),
    )
)
_THANKING: Final = ("thank", "thx", "dank", "gracias", "merci", "grazie", "obrigad", "viel", "best")
# What people say last, above their name: a whole line of it asks for nothing.
_PARTING: Final = re.compile(
    r"(?:(?:(?:i|we|i'm|i am|we are) )?look(?:ing)? forward to|(?:i )?hope to hear from|"
    r"have a (?:nice|great|good|lovely) (?:day|evening|night|week|weekend|time|one)|"
    r"thank(?:s| you) (?:very much )?for your|"
    r"(?:ich freue mich|wir freuen uns) auf|schön(?:en|es) (?:tag|abend|wochenende)|"
    r"quedo a la espera|dans l['\u2019]attente|(?:resto )?in attesa di)\b[^,;:?]*"
)
_ABOUT_MAIL: Final = re.compile(
    r"e-?mail|\bmail\b|message|nachricht|mensaje|correo|courriel|messaggio"
)
_NOTICE: Final = re.compile(
    r"confiden|vertraulich|privileged|intended (?:solely|only|recipient)|addressee|adressat|"
    r"empfänger|destinatari|unauthori|unbefugt|disclos|printing|ausdruck|imprimir|virus"
)


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
    if last and apart and _PARTING.fullmatch(lines[last].strip().casefold()):
        return last
    return _closing_start(lines, owner, asks) if last else None  # one line is a request


def _closing_start(lines: list[str], owner: str, asks: Asks) -> int | None:
    last, named = len(lines) - 1, _name_line(lines, owner, asks)
    if named is not None:
        before = _previous(lines, named)
        return before if before is not None and _is_closing(lines, before, asks) else named
    before = _previous(lines, last)
    if before and _is_comma_closing(lines, before, asks) and _is_name(lines[last]):
        return before
    return last if _is_lone_closing(lines, last, owner, asks) else None


def _is_device_line(line: str, asks: Asks, *, alone: bool, apart: bool) -> bool:
    """Whether a line names a device or mail program, as programs add it."""
    words = [each.casefold() for each in _PRODUCT_WORD.findall(_LINK.sub(" ", line))]
    if not words or len(words) > _MAX_DEVICE_WORDS or line.rstrip().endswith("?"):
        return False
    named = {each for each in words if each in _PRODUCTS or _PRODUCT_WITHIN.search(each)}
    sent = _SENT.fullmatch(words[0]) or _SENT.fullmatch(words[-1])
    if not named:
        return apart and not alone and _is_program_line(line.strip().casefold(), words, asks)
    is_program = len(named) > 1 and words[-1] in _SYSTEMS
    is_sent = bool(sent) and len(words) <= (_MAX_SENT_WORDS if alone else _MAX_DEVICE_WORDS)
    return is_program or is_sent or (apart and not alone and not asks(line))


def _is_program_line(text: str, words: list[str], asks: Asks) -> bool:
    """Whether a line says what a mail was sent with, or excuses its typing."""
    sent = _SENT_BY.match(text)
    if excuse := _EXCUSE.search(text):
        return bool(sent) or excuse.start() == 0 or not asks(text)
    return bool(sent) and len(words) <= _MAX_PROGRAM_WORDS


def _is_notice(line: str, asks: Asks) -> bool:
    """Whether a line is what companies put below every mail: that it is confidential."""
    text = line.casefold()
    if len(text.split()) < _MIN_NOTICE_WORDS or not _ABOUT_MAIL.search(text):
        return False
    found = set(_NOTICE.findall(text))
    # "Please consider the environment before printing this" asks, too, but nobody of us.
    return len(found) > 1 or "printing" in found or (bool(found) and not asks(line))


def _name_line(lines: list[str], owner: str, asks: Asks) -> int | None:
    """Return the line near the end with the owner's name; only contact data below it."""
    known = {each.casefold() for each in _NAME.findall(owner)}
    for n in range(len(lines) - 1, max(0, len(lines) - 1 - _MAX_ADDRESS_BLOCK), -1):
        shown = _SHOWN_NAME.fullmatch(_before_name(lines, n).strip(_AROUND_NAME))
        name = _BEHIND_NAME.split(shown[2] if shown else "", maxsplit=1)[0].strip()
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
        or (len(line.split()) <= _MAX_CLOSING_WORDS + 1 and not line.rstrip().endswith("."))
    )


def _is_closing(lines: list[str], n: int, asks: Asks) -> bool:
    """Whether the line above the owner's name is a closing: short, and set apart."""
    thanks = lines[n].strip().casefold().startswith(_THANKING)
    short = len(lines[n].split()) <= (_MAX_THANKS_WORDS if thanks else _MAX_CLOSING_WORDS)
    apart = n > 0 and (not lines[n - 1].strip() or lines[n].rstrip().endswith((*_COMMAS, "!")))
    return short and apart and not asks(lines[n]) and not _is_talk(lines[n])


def _is_comma_closing(lines: list[str], n: int, asks: Asks) -> bool:
    return _is_closing(lines, n, asks) and lines[n].rstrip().endswith(_COMMAS)


def _is_lone_closing(lines: list[str], n: int, owner: str, asks: Asks) -> bool:
    """Whether a line is a closing, with the owner's name behind it or none: "LG Hanan", "MfG"."""
    words = [each.casefold() for each in re.findall(r"\w+", lines[n])]
    names = {each.casefold() for each in _NAME.findall(owner)}
    names |= {each[0] for each in names}
    is_signed = len(words) > 1 and words[-1] in names
    rest = words[:-1] if is_signed else words
    if rest and all(each in _CLOSINGS for each in rest):
        return len(words) <= _MAX_CLOSING_WORDS
    if lines[n - 1].strip():
        return False
    word = lines[n].strip()
    initials = len(word) <= _MAX_INITIALS and word.isalpha() and sum(map(str.isupper, word)) > 1
    is_initial = len(words) == 1 and len(words[0]) == 1 and words[0] in names
    return initials or is_initial or _is_comma_closing(lines, n, asks)


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
        small = width < _NARROWEST and line[:1].islower() and before.rstrip()[-1:] not in _ENDS
        wraps = _NARROWEST <= width <= _WIDEST or (small and width >= _PHONE_WIDTH)
        if joined and wraps and _goes_on(before, line, width, asks):
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
    starts = first[0].isupper() or width < _NARROWEST
    return full and not (starts and asks(line))
