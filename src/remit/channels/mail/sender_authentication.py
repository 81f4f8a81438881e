"""Who wrote a mail, as far as the owner's own mail server authenticates it. Pure; never raises.

Anybody can write any name into a mail. Only the topmost `Authentication-Results` headers count, and
only from the server that the owner named. DMARC must pass for the exact domain of the single From
address; if the server says nothing about DMARC, a DKIM signature of that domain must pass. Every
other mail counts as a stranger's.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from remit.system.address_rules import may_be_suffix, registered_domain

_MOST: Final = 10_000  # characters of a header that are read
_ADDRESS: Final = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63}"
)
_ANGLE: Final = re.compile(r"([^<>,;]*)<([^<>\s]+)>\s*")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_RESULT: Final = re.compile(
    r"([a-z-]+)\s*(?:/\s*1\s*)?=\s*([a-z]+)(?![a-z])(.*)", re.IGNORECASE | re.DOTALL
)
_PROPERTY: Final = re.compile(r"(?<![\w.])(header\.(?:from|d|i)|d)\s*=\s*([^\s;]+)", re.IGNORECASE)
_NO_POLICY: Final = frozenset({"none", "bestguesspass"})  # DMARC results without a policy
_JUDGING: Final = frozenset({"dmarc", "dkim", "spf"})
_HOST: Final = re.compile(r"[a-z0-9_][a-z0-9._-]{0,252}")
_UNREADABLE: Final = "a server with an unreadable name"
UNNAMED: Final = "none"  # the authserv_id of servers that write none, such as Microsoft's
_NOTHING: Final = (
    "your mail server says nothing on who wrote it: there is no Authentication-Results"
)
_UNSET: Final = "authserv_id is not set, so nobody is believed to be who the mail says"
_TOO_LONG: Final = "the Authentication-Results are too long to be read"


class VerifiedSender(Struct, frozen=True):
    """The From address in lower case, and whether our server authenticates it.

    `why` says why not, and which setting would help.
    """

    address: str
    verified: bool = False
    why: str = ""


class _Result(Struct, frozen=True):
    """One result of a server: `dmarc=pass header.from=example.org`."""

    method: str
    outcome: str
    properties: tuple[tuple[str, str], ...]

    def value(self, name: str) -> str:
        """Return the only value of a property; empty for none or several."""
        found = [value for each, value in self.properties if each == name]
        return found[0] if len(found) == 1 else ""


def sender(froms: Sequence[str], results: Sequence[str], authserv_id: str) -> VerifiedSender | None:
    """Return who wrote a mail with these headers, in order; None if unclear."""
    found = address(froms[0]) if len(froms) == 1 else None
    if found is None:
        return None
    why = _doubt(results, authserv_id.strip().lower(), found)
    return VerifiedSender(found, verified=not why, why=why)


def address(header: str) -> str | None:
    """Return the only address of a header, if every reader would agree on it."""
    text = " ".join(header.split())
    if len(text) > _MOST:
        return None
    bare = _QUOTED.sub("", text)
    inside = _ANGLE.fullmatch(bare)
    found = inside[2] if inside else bare.strip()
    return found.lower() if _ADDRESS.fullmatch(found) else None


def _doubt(headers: Sequence[str], named: str, written_by: str) -> str:
    """Return why the server does not authenticate an address; empty if it does."""
    if not headers:
        return _NOTHING
    if len(headers[0]) > _MOST:
        return _TOO_LONG
    host, _ = _read(headers[0])
    if not named:
        return f"{_UNSET}; {_proposal(host)}"
    if not _is_named(host, named):
        text = f"{host} says who wrote it" if host else "a server without a name says who wrote it"
        return f"{text}, but authserv_id is {named}; {_proposal(host)}"
    return _why_unproven(list(_trusted_results(headers, host, named)), written_by)


def _trusted_results(headers: Sequence[str], host: str, named: str) -> Iterator[_Result]:
    """Yield the server's results from the topmost headers; unnamed, only the first.

    Another host of the named domain counts as long as none has judged the sender: iCloud has one
    host for each kind of check.
    """
    judged = False
    for n, header in enumerate(headers):
        name, results = _read(header) if len(header) <= _MOST else ("", [])
        same = name == host or (not judged and bool(name) and _is_named(name, named))
        if not same or (n and not host):
            return
        host = name
        judged = judged or any(each.method in _JUDGING for each in results)
        yield from results


def _why_unproven(results: Sequence[_Result], written_by: str) -> str:
    """Return why the right server's results do not prove an address; empty if they do."""
    domain = written_by.rpartition("@")[2]
    judged = [each for each in results if each.method == "dmarc"]
    if any(each.outcome not in _NO_POLICY for each in judged):
        if all(each.outcome == "pass" and _is_from(each, written_by) for each in judged):
            return ""
        return (
            f"your mail server says that DMARC did not pass for {domain}; no setting changes that"
        )
    if any(each.method == "dkim" and _is_signed(each, domain) for each in results):
        return ""
    return f"your mail server found neither DMARC nor a signature (DKIM) of {domain}"


def _is_from(result: _Result, written_by: str) -> bool:
    """Whether DMARC was checked for this address or its domain.

    Cisco's gateways write `d=` where others write `header.from=`.
    """
    named = {name for name, _ in result.properties} & {"header.from", "d"}
    domain = result.value(named.pop()).strip("<>").lower() if len(named) == 1 else ""
    return domain in (written_by, written_by.rpartition("@")[2])


def _is_signed(result: _Result, domain: str) -> bool:
    """Whether the domain itself signed, or its parent."""
    by = result.value("header.d") or result.value("header.i").rpartition("@")[2]
    by = by.lower()
    return result.outcome == "pass" and "." in by and (domain == by or domain.endswith(f".{by}"))


def _is_named(host: str, named: str) -> bool:
    """Whether a host is the one the owner named, or within the named domain."""
    if named == UNNAMED:
        return not host
    return host == named or ("." in named and host.endswith(f".{named}"))


def _proposal(host: str) -> str:
    """Return what to set if the first server is the owner's."""
    if host == _UNREADABLE:
        return "look into a mail of yours for the name of your mail server"
    if not host:
        return f'if your provider names none, as Microsoft does, set authserv_id = "{UNNAMED}"'
    return f'if that is your mail server, set authserv_id = "{_domain_of_all(host)}"'


def _domain_of_all(host: str) -> str:
    """Return what names this host and its neighbours: their domain, if hosts are numbered.

    Never a suffix such as co.uk, under which everybody may have a server.
    """
    domain = registered_domain(host)
    if domain is None:  # unclear: one label less, if what is left is surely somebody's
        domain = host.partition(".")[2]
    numbered = any(map(str.isdigit, host.removesuffix(domain)))
    return domain if numbered and not may_be_suffix(domain) else host


def _read(header: str) -> tuple[str, list[_Result]]:
    """Return the host that a header names, empty if none, and its results."""
    name, *parts = _plain(header).split(";")
    if "=" in name:
        return "", [found for each in (name, *parts) if (found := _result(each))]
    host = name.split()[0].lower().removesuffix(".") if name.split() else ""
    host = host if not host or _HOST.fullmatch(host) else _UNREADABLE
    return host, [found for each in parts if (found := _result(each))]


def _result(text: str) -> _Result | None:
    match = _RESULT.fullmatch(text.strip())
    if match is None:
        return None
    found = tuple((name.lower(), value) for name, value in _PROPERTY.findall(match[3]))
    return _Result(match[1].lower(), match[2].lower(), found)


def _plain(header: str) -> str:  # noqa: C901 - one pass over a small grammar
    """Return a header without comments and quotes."""
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
            continue  # quoted text is never one of the words that count
        elif char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif not depth:
            kept.append(char)
    return "".join(kept)
