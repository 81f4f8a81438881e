"""Who wrote a mail, as far as the owner's own mail server vouches for it. Pure, and never raises.

Anybody can write any name into a mail. What counts is the first `Authentication-Results` of it, if
it is of the server that the owner named: there DMARC must have passed, for the very domain that the
one address in `From` has. Everything else is a stranger's, whatever it says.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_MOST: Final = 10_000  # characters of a header that are read
_ADDRESS: Final = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63}"
)
_ANGLE: Final = re.compile(r"([^<>,;]*)<([^<>\s]+)>\s*")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_DMARC: Final = re.compile(r"dmarc\s*(?:/\s*1\s*)?=\s*([a-z]+)(.*)", re.IGNORECASE | re.DOTALL)
_FROM: Final = re.compile(r"\bheader\.from\s*=\s*([^\s;]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sender:
    """The one address in `From`, in small letters, and whether our server vouches for it."""

    address: str
    verified: bool = False


def sender(froms: Sequence[str], results: Sequence[str], authserv_id: str) -> Sender | None:
    """Who wrote a mail with these headers, in their order; None if nobody can say."""
    found = address(froms[0]) if len(froms) == 1 else None
    if found is None:
        return None
    first = results[0] if results and authserv_id else ""
    return Sender(found, _vouches(first, authserv_id, found.rpartition("@")[2]))


def address(header: str) -> str | None:
    """The address that a header names, if it names exactly one, in no way two readers differ on."""
    text = " ".join(header.split())
    if len(text) > _MOST:
        return None
    bare = _QUOTED.sub("", text)
    inside = _ANGLE.fullmatch(bare)
    found = inside[2] if inside else bare.strip()
    return found.lower() if _ADDRESS.fullmatch(found) else None


def _vouches(header: str, authserv_id: str, domain: str) -> bool:
    if len(header) > _MOST:
        return False
    name, *said = _plain(header).split(";")
    known = name.split()
    if not known or known[0].lower() != authserv_id.lower():
        return False
    found = list(_dmarc(said))
    return bool(found) and all(passed and of == domain for passed, of in found)


def _dmarc(said: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Every word on DMARC: whether it passed, and for which domain."""
    for each in said:
        match = _DMARC.fullmatch(each.strip())
        if match is not None:
            of = _FROM.findall(match[2])
            yield match[1].lower() == "pass", of[0].lower() if len(of) == 1 else ""


def _plain(header: str) -> str:  # noqa: C901 - one pass over a small grammar
    """A header without remarks, which may hold anything, and without quotes."""
    kept: list[str] = []
    depth, quoted, escaped = 0, False, False
    for char in header:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"' and not depth:
            quoted = not quoted
        elif quoted:
            continue  # what is quoted is never one of the few words that count
        elif char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif not depth:
            kept.append(char)
    return "".join(kept)
