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

Fields: TypeAlias = Sequence[tuple[str, str]]  # name and value, the value folded as it goes out

_GREETING: Final = 5  # words, as in "Dear Dr. Anna Smith,"
MOST_SUBJECT: Final = 120
_LINE: Final = 76
_MOST_LINE: Final = 998
_MOST_LOCAL: Final = 64
_MOST_ADDRESS: Final = 254
_MOST_NAME: Final = 100
_CHUNK: Final = 42  # bytes in an encoded word, so that it stays within 75 characters
_MOST_EARLIER: Final = 20
_ATOM: Final = frozenset("#$&'*+-/=^_{}~")
_DOTS: Final = re.compile("[\u3002\uff0e\uff61]")  # what some take for a dot, and others do not
_ADDRESS_OF_A_PAGE: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_KEY: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_MOST_KEY: Final = 128
_ID: Final = re.compile(r"<[A-Za-z0-9!#$%&'*+/=^_{}~.-]{1,160}@[A-Za-z0-9.-]{1,160}>")
_NAME: Final = re.compile(rb"([A-Z][A-Za-z-]*): (?=\S)")
_CONTROL: Final = re.compile(rb"[\x00-\x1f\x7f]")
_JOINERS: Final = "\u200c\u200d"  # without them, some scripts and emoji fall apart


class MailAddress(Struct, frozen=True):
    """One address that can stand in a command and in a header as it is. `address` makes it."""

    local: str
    domain: str  # always ASCII, so that a look-alike is seen
    name: str | None = None

    def __str__(self) -> str:
        return f"{self.local}@{self.domain}"

    @property
    def is_ascii(self) -> bool:
        return self.local.isascii()


def address(text: str, name: str | None = None) -> MailAddress:
    """Read one bare address: no name, no brackets, no comment, no second one."""
    local, _, domain = text.rpartition("@")
    found = MailAddress(unicodedata.normalize("NFC", local), _domain(domain, text), _name(name))
    if not _is_local(found.local) or len(str(found).encode()) > _MOST_ADDRESS:
        raise BadInput(_no_address(text), field="address")
    return found


def _no_address(text: str) -> str:
    return f"{text!r:.80} is no mail address. Write one alone, like nina@example.org."


def _is_local(local: str) -> bool:
    fits = 0 < len(local.encode("utf-8", "replace")) <= _MOST_LOCAL
    return fits and all(
        atom and all(char in _ATOM or _is_letter(char) for char in atom)
        for atom in local.split(".")
    )


def _is_letter(char: str) -> bool:
    if char.isascii():
        return char.isalnum()
    return unicodedata.category(char)[0] in "LNM"


def _domain(domain: str, text: str) -> str:
    """The domain as it goes over the wire."""
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
    if name != clean(name) or not name or len(name) > _MOST_NAME:
        raise BadInput(
            f"{name!r:.60} cannot stand before an address. "
            f"A name is one line of at most {_MOST_NAME} characters, without control characters.",
            field="name",
        )
    return name


def clean(text: str) -> str:
    """A text as one line that shows all it says: no controls, nothing hidden, nothing encoded."""
    kept = (_shown(char) for char in text)
    line = " ".join("".join(kept).split())
    while "=?" in line:  # a reader that decodes once too often must find nothing
        line = line.replace("=?", "=")
    return line


def _shown(char: str) -> str:
    category = unicodedata.category(char)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    hidden = category in ("Cf", "Cs", "Co", "Cn") and char not in _JOINERS
    return "" if hidden else char


def subject(text: str) -> str:
    """A subject: one line, cut between words if it is long."""
    line = clean(text)
    if len(line) <= MOST_SUBJECT:
        return line
    head = line[:MOST_SUBJECT]
    word, blank, _ = head.rpartition(" ")
    return (word if blank and len(word) > MOST_SUBJECT // 2 else head[:-1]).rstrip(" ,;:-") + "…"


def opening(words: str) -> str:
    """The line a letter is known by: its first, or the one behind the greeting."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    greeted = len(lines) > 1 and lines[0].endswith(",") and len(lines[0].split()) <= _GREETING
    line = lines[1] if greeted else lines[0] if lines else ""
    line = _ADDRESS_OF_A_PAGE.sub("", line).strip()
    return line[:1].upper() + line[1:]


def message_id(key: str, domain: str) -> str:
    """The id that a delivery always has, however often it is sent."""
    if not _KEY.fullmatch(key) or len(key) > _MOST_KEY:
        raise BadInput(
            f"The key {key!r:.60} cannot be part of a message id: letters, digits, _ and -, "
            f"at most {_MOST_KEY}.",
            field="key",
        )
    return f"<{key}@{domain}>"


def key_in(some_id: str, domain: str) -> str | None:
    """The key of the delivery that an id of ours was made for; None if it is not ours."""
    text = some_id.strip()
    key = text.removeprefix("<").removesuffix(f"@{domain}>")
    ours = text == f"<{key}@{domain}>" and len(key) <= _MOST_KEY
    return key if ours and _KEY.fullmatch(key) else None


def ids_in(text: str) -> tuple[str, ...]:
    """The message ids that stand in a header of somebody else's, those that can be repeated."""
    return tuple(_ID.findall(text))


def earlier(ids: Iterable[str]) -> tuple[str, ...]:
    """What a letter answers to, oldest first: the first one and the latest, if there are many."""
    good = tuple(dict.fromkeys(each for each in ids if _ID.fullmatch(each)))
    return good if len(good) <= _MOST_EARLIER else (good[0], *good[1 - _MOST_EARLIER :])


def folded(pieces: Iterable[str], used: int) -> str:
    """The pieces with a blank between two, or a fold where a line would grow too long."""
    lines = [""]
    for piece in pieces:
        room = _LINE - (used if len(lines) == 1 else 1)
        if lines[-1] and len(lines[-1]) + 1 + len(piece) > room:
            lines.append(piece)
        else:
            lines[-1] = f"{lines[-1]} {piece}" if lines[-1] else piece
    return "\r\n ".join(lines)


def written(text: str, used: int) -> str:
    """A text as the value of a header that starts after so many characters."""
    if text.isascii() and "=?" not in text:
        return folded(text.split(" "), used)
    return "\r\n ".join(_words(text))


def mailbox(who: MailAddress) -> str:
    """An address as the value of a header, with the name if there is one."""
    if who.name is None:
        return str(who)
    if not who.name.isascii() or "=?" in who.name:
        return "\r\n ".join((*_words(who.name), f"<{who}>"))
    quoted = who.name.replace("\\", "\\\\").replace('"', '\\"')
    return folded((f'"{quoted}"', f"<{who}>"), len("Reply-To: "))


def _words(text: str) -> Iterable[str]:
    """Encoded words that each hold whole characters."""
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
    """The head, ended by an empty line; read back before it is given away."""
    made = "".join(f"{name}: {value}\r\n" for name, value in fields).encode()
    names = tuple(name for name, _ in fields)
    if _names_in(made) != names or len(set(names)) != len(names):
        raise BadInput("The head of the letter would not hold exactly the lines it should.")
    if not utf8 and not made.isascii():
        raise BadInput("The head of the letter would hold bytes that not every server takes.")
    return made + b"\r\n"


def _names_in(made: bytes) -> tuple[str, ...] | None:
    """The names that a reader finds in a head; None if a line is none of a head."""
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
