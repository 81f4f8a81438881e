"""Writes mail headers so that no value can inject a header line.

The standard library is not used here: it decodes its input before encoding, so a line break hidden
in an encoded word comes out as a line break. Here every value stays text, and the finished header
is read back line by line before it leaves.
"""

import base64
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import idna
from msgspec import Struct

from remit.errors import BadInput

Fields: TypeAlias = Sequence[tuple[str, str]]  # name and value, the value folded as sent

_GREETING: Final = 5  # words, as in "Dear Dr. Anna Smith,"
MOST_SUBJECT: Final = 120
_LINE: Final = 76
_MOST_LINE: Final = 998
_MAX_LOCAL: Final = 64
_MAX_ADDRESS: Final = 254
_MAX_NAME: Final = 100
_CHUNK: Final = 42  # bytes in an encoded word, to stay within 75 characters
_MAX_EARLIER: Final = 20
_ATOM: Final = frozenset("#$&'*+-/=^_{}~")
_DOTS: Final = re.compile("[\u3002\uff0e\uff61]")  # some programs take these for a dot
_ADDRESS_OF_A_PAGE: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_KEY: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_MAX_KEY: Final = 128
_ID: Final = re.compile(r"<[A-Za-z0-9!#$%&'*+/=^_{}~.-]{1,160}@[A-Za-z0-9.-]{1,160}>")
_NAME: Final = re.compile(rb"([A-Z][A-Za-z-]*): (?=\S)")
_CONTROL: Final = re.compile(rb"[\x00-\x1f\x7f]")
_JOINERS: Final = "\u200c\u200d"  # needed by some scripts and emoji


class MailAddress(Struct, frozen=True):
    """One address that is safe in commands and headers. `address` makes it."""

    local: str
    domain: str  # always ASCII, so that a look-alike is visible
    name: str | None = None

    def __str__(self) -> str:
        return f"{self.local}@{self.domain}"

    @property
    def is_ascii(self) -> bool:
        return self.local.isascii()


def address(text: str, name: str | None = None) -> MailAddress:
    """Parse one bare address: no name, brackets, comment or second one."""
    local, _, domain = text.rpartition("@")
    found = MailAddress(unicodedata.normalize("NFC", local), _domain(domain, text), _name(name))
    if not _is_local(found.local) or len(str(found).encode()) > _MAX_ADDRESS:
        raise BadInput(_no_address(text), field="address")
    return found


def _no_address(text: str) -> str:
    return f"{text!r:.80} is no mail address. Write one alone, like nina@example.org."


def _is_local(local: str) -> bool:
    fits = 0 < len(local.encode("utf-8", "replace")) <= _MAX_LOCAL
    return fits and all(
        atom and all(char in _ATOM or _is_letter(char) for char in atom)
        for atom in local.split(".")
    )


def _is_letter(char: str) -> bool:
    if char.isascii():
        return char.isalnum()
    return unicodedata.category(char)[0] in "LNM"


def _domain(domain: str, text: str) -> str:
    """Return the domain as sent."""
    try:
        if _DOTS.search(domain) or domain.endswith("."):
            raise BadInput(_no_address(text), field="address")
        found = idna.encode(domain.lower(), strict=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise BadInput(_no_address(text), field="address") from error
    *most, last = found.split(".")
    if not most or last.isdigit():
        raise BadInput(_no_address(text), field="address")
    return found


def _name(name: str | None) -> str | None:
    if name is None:
        return None
    if name != clean(name) or not name or len(name) > _MAX_NAME:
        raise BadInput(
            f"{name!r:.60} cannot stand before an address. "
            f"A name is one line of at most {_MAX_NAME} characters, without control characters.",
            field="name",
        )
    return name


def clean(text: str) -> str:
    """Return one visible line: no control, hidden or encoded characters."""
    kept = (_printable(char) for char in text)
    line = " ".join("".join(kept).split())
    while "=?" in line:  # a reader that decodes twice must find nothing
        line = line.replace("=?", "=")
    return line


def _printable(char: str) -> str:
    category = unicodedata.category(char)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    hidden = category in ("Cf", "Cs", "Co", "Cn") and char not in _JOINERS
    return "" if hidden else char


def subject(text: str) -> str:
    """Return a subject: one line, shortened between words."""
    line = clean(text)
    if len(line) <= MOST_SUBJECT:
        return line
    head = line[:MOST_SUBJECT]
    word, blank, _ = head.rpartition(" ")
    return (word if blank and len(word) > MOST_SUBJECT // 2 else head[:-1]).rstrip(" ,;:-") + "…"


def opening(words: str) -> str:
    """Return the line that names a letter: its first, or the one after the greeting."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    greeted = len(lines) > 1 and lines[0].endswith(",") and len(lines[0].split()) <= _GREETING
    line = lines[1] if greeted else lines[0] if lines else ""
    line = _ADDRESS_OF_A_PAGE.sub("", line).strip()
    return line[:1].upper() + line[1:]


def message_id(key: str, domain: str) -> str:
    """Return the permanent id of a delivery, however often it is sent."""
    if not _KEY.fullmatch(key) or len(key) > _MAX_KEY:
        raise BadInput(
            f"The key {key!r:.60} cannot be part of a message id: letters, digits, _ and -, "
            f"at most {_MAX_KEY}.",
            field="key",
        )
    return f"<{key}@{domain}>"


def key_in(some_id: str, domain: str) -> str | None:
    """Return the key of our delivery with this id; None if it is not ours."""
    text = some_id.strip()
    key = text.removeprefix("<").removesuffix(f"@{domain}>")
    ours = text == f"<{key}@{domain}>" and len(key) <= _MAX_KEY
    return key if ours and _KEY.fullmatch(key) else None


def ids_in(text: str) -> tuple[str, ...]:
    """Return the valid message ids in somebody else's header."""
    return tuple(_ID.findall(text))


def earlier(ids: Iterable[str]) -> tuple[str, ...]:
    """Return what a letter replies to, oldest first: the first and the latest, if many."""
    good = tuple(dict.fromkeys(each for each in ids if _ID.fullmatch(each)))
    return good if len(good) <= _MAX_EARLIER else (good[0], *good[1 - _MAX_EARLIER :])


def fold_pieces(pieces: Iterable[str], used: int) -> str:
    """Join the pieces with blanks, folding where a line would be too long."""
    lines = [""]
    for piece in pieces:
        room = _LINE - (used if len(lines) == 1 else 1)
        if lines[-1] and len(lines[-1]) + 1 + len(piece) > room:
            lines.append(piece)
        else:
            lines[-1] = f"{lines[-1]} {piece}" if lines[-1] else piece
    return "\r\n ".join(lines)


def header_value(text: str, used: int) -> str:
    """Return a text as a header value that starts after this many characters."""
    if text.isascii() and "=?" not in text:
        return fold_pieces(text.split(" "), used)
    return "\r\n ".join(_words(text))


def mailbox(who: MailAddress) -> str:
    """Return an address as a header value, with its name if there is one."""
    if who.name is None:
        return str(who)
    if not who.name.isascii() or "=?" in who.name:
        return "\r\n ".join((*_words(who.name), f"<{who}>"))
    quoted = who.name.replace("\\", "\\\\").replace('"', '\\"')
    return fold_pieces((f'"{quoted}"', f"<{who}>"), len("Reply-To: "))


def _words(text: str) -> Iterable[str]:
    """Yield encoded words with whole characters."""
    chunk = b""
    for char in text:
        encoded = char.encode()
        if len(chunk) + len(encoded) > _CHUNK:
            yield _word(chunk)
            chunk = b""
        chunk += encoded
    yield _word(chunk)


def _word(chunk: bytes) -> str:
    return f"=?utf-8?b?{base64.b64encode(chunk).decode('ascii')}?="


def head(fields: Fields, *, utf8: bool = False) -> bytes:
    """Return the header, ended by an empty line; it is read back first."""
    made = "".join(f"{name}: {value}\r\n" for name, value in fields).encode()
    names = tuple(name for name, _ in fields)
    if _names_in(made) != names or len(set(names)) != len(names):
        raise BadInput("The head of the letter would not hold exactly the lines it should.")
    if not utf8 and not made.isascii():
        raise BadInput("The head of the letter would hold bytes that not every server takes.")
    return made + b"\r\n"


def _names_in(made: bytes) -> tuple[str, ...] | None:
    """Return the header names a reader finds; None if a line is invalid."""
    names: list[str] = []
    for line in made.removesuffix(b"\r\n").split(b"\r\n"):
        if len(line) > _MOST_LINE or _CONTROL.search(line):
            return None
        if line.startswith(b" ") and line.strip() and names:
            continue
        found = _NAME.match(line)
        if found is None:
            return None
        names.append(found[1].decode("ascii"))
    return tuple(names)
