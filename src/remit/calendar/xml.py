"""Parses the XML of CalDAV servers as hostile input, writes requests, and compares host names.

Two hosts are of one domain only if that is certain, because there is no public suffix list here.
"""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import quote, unquote_to_bytes, urlsplit
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]
from msgspec import Struct

from remit.errors import Permanent

Answer: TypeAlias = Element

DAV: Final = "{DAV:}"
CALDAV: Final = "{urn:ietf:params:xml:ns:caldav}"
MOST_BYTES: Final = 32 * 1024 * 1024
_MOST_MARKS: Final = 1_500_000  # `<` in one answer: an element costs a hundred times its bytes
_PATH_SAFE: Final = ":@!$&'()*+,;=-._~"
_TOKEN_LOST: Final = frozenset({403, 409, 410, 412})
_NO_SYNC: Final = frozenset({400, 403, 405, 409, 415, 422, 501})
_PARTIAL: Final = 507  # the list continues: ask again with the new token
_NAMES: Final = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"'


class MultistatusItem(Struct, frozen=True):
    """What a multistatus says about one path."""

    path: str
    status: int | None  # None if it has only properties
    etag: str
    body: str | None  # the calendar itself, if requested
    name: str
    calendar: bool  # whether the path is a calendar
    kinds: frozenset[str]  # VEVENT, VTODO: what a calendar accepts; empty if unknown


def parse(body: bytes, who: str) -> Answer:
    """Parse an answer, or raise a sentence."""
    if body.count(b"<") > _MOST_MARKS:
        raise Permanent(f"{who} sent an answer of more parts than any calendar has.")
    try:
        root = fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        what = "defines entities" if isinstance(error, DefusedXmlException) else "is not XML"
        raise Permanent(
            f"{who} sent an answer that {what}; a CalDAV server was expected."
        ) from None
    if not isinstance(root, Element):
        raise Permanent(f"{who} sent an empty answer.")
    return root


def responses(root: Answer, who: str) -> list[MultistatusItem]:
    """Return all items of a multistatus, in order."""
    if root.tag != f"{DAV}multistatus":
        raise Permanent(f"{who} answered {root.tag[:60]!r}; a multistatus was expected.")
    return [item for each in root.iterfind(f"{DAV}response") if (item := _item(each)) is not None]


def token(root: Answer) -> str:
    """Return the sync token of an answer; empty if it has none."""
    return _text(root.find(f"{DAV}sync-token"))


def href_in(root: Answer, tag: str) -> str | None:
    """Return the address inside a property."""
    for each in root.iter(tag):
        found = _text(each.find(f"{DAV}href"))
        if found:
            return found
    return None


def path_of(address: str) -> str:
    """Return an address as we store it: its path, in one spelling.

    An escaped slash stays escaped, because it is part of a name.
    """
    parts = urlsplit(address).path.split("/")
    return "/".join(quote(unquote_to_bytes(part), safe=_PATH_SAFE) for part in parts)


def propfind(*properties: str) -> bytes:
    return _document(f"<propfind {_NAMES}><prop>{''.join(properties)}</prop></propfind>")


def sync(token: str) -> bytes:
    """Return the request for what changed since a token; an empty one asks for everything."""
    return _document(
        f"<sync-collection {_NAMES}><sync-token>{escape(token)}</sync-token>"
        "<sync-level>1</sync-level><prop><getetag/></prop></sync-collection>"
    )


def multiget(paths: list[str]) -> bytes:
    named = "".join(f"<href>{escape(path)}</href>" for path in paths)
    asked = "<prop><getetag/><C:calendar-data/></prop>"
    return _document(f"<C:calendar-multiget {_NAMES}>{asked}{named}</C:calendar-multiget>")


def mkcalendar(name: str, kind: str) -> bytes:
    takes = f'<C:supported-calendar-component-set><C:comp name="{kind}"/>'
    return _document(
        f"<C:mkcalendar {_NAMES}><set><prop><displayname>{escape(name)}</displayname>"
        f"{takes}</C:supported-calendar-component-set></prop></set></C:mkcalendar>"
    )


def _document(body: str) -> bytes:
    return f'<?xml version="1.0" encoding="utf-8"?>{body}'.encode()


def _item(response: Answer) -> MultistatusItem | None:
    address = _text(response.find(f"{DAV}href"))
    if not address:
        return None
    kinds = response.iter(f"{CALDAV}comp")
    body = response.find(f".//{CALDAV}calendar-data")
    return MultistatusItem(
        path_of(address),
        _status(_text(response.find(f"{DAV}status"))),
        _text(response.find(f".//{DAV}getetag")),
        None if body is None or not body.text else body.text,
        _text(response.find(f".//{DAV}displayname")),
        response.find(f".//{DAV}resourcetype/{CALDAV}calendar") is not None,
        frozenset(each.get("name", "").upper() for each in kinds),
    )


def _status(line: str) -> int | None:
    """Return the number in `HTTP/1.1 404 Not Found`."""
    parts = line.split()
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else None


def _text(found: Answer | None) -> str:
    return (found.text or "").strip() if found is not None else ""


# Suffixes under which every name with one more label is a registered domain.
_FLAT: Final = frozenset({"com", "net", "org", "info", "de", "ch", "nl", "eu"})
# Under a country suffix such as co.uk or com.au a registered domain has three labels.
_SECOND: Final = frozenset({"ac", "co", "com", "gov", "ne", "net", "or", "org"})
_COUNTRY_LETTERS: Final = 2
# Names under the flat endings whose subdomains belong to different people.
_SHARED_NAMES: Final = (
    "afraid.org amazonaws.com appspot.com azurewebsites.net blogspot.com br.com "
    "chickenkiller.com cloudfront.net cn.com co.com co.nl com.de ddns.net ddnss.de de.com "
    "dedyn.org dnsalias.com dnsalias.net dnsalias.org duckdns.org dynalias.com dynalias.net "
    "dynalias.org dyndns.org dynu.net dynv6.net eu.com eu.org firebaseapp.com freeddns.org "
    "gb.net goip.de gr.com herokuapp.com homeip.net homelinux.com homelinux.net homelinux.org "
    "hopto.org hu.net in.net jp.net jpn.com kozow.com mooo.com myfritz.net myftp.org mywire.org "
    "no-ip.com no-ip.info no-ip.org now-dns.org ooguy.com redirectme.net ru.com sa.com se.net "
    "selfhost.de selfhost.eu servebeer.com servehttp.com spdns.de spdns.eu spdns.org "
    "strangled.net sytes.net theworkpc.com uk.com uk.net us.com us.org webhop.net webhop.org "
    "windows.net za.com za.net za.org zapto.org"
)
_SHARED: Final = frozenset(_SHARED_NAMES.split())
_LABEL: Final = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


def is_same_domain(ours: str, theirs: str) -> bool:
    """Whether a host may get what the owner entrusted to another host."""
    if ours == theirs:
        return True
    domain = _registered(ours)
    return domain is not None and _registered(theirs) == domain


def _registered(host: str) -> str | None:
    """Return the registered domain of a host; None if there is none or it is unclear."""
    labels = host.lower().split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        return None
    if labels[-1] in _FLAT:
        found = labels[-2:]
    elif len(labels[-1]) == _COUNTRY_LETTERS and labels[-2:-1] and labels[-2] in _SECOND:
        found = labels[-3:] if len(labels) > _COUNTRY_LETTERS else []
    else:
        found = []
    domain = ".".join(found)
    return domain if len(found) > 1 and domain not in _SHARED else None


def gather_changes(
    listed: Iterable[MultistatusItem], etags: dict[str, str], gone: set[str]
) -> bool:
    """Add a page of changes; return whether another one follows."""
    partial = False
    for each in listed:
        if each.status == HTTPStatus.NOT_FOUND:
            gone.add(each.path)
            etags.pop(each.path, None)
        elif each.status == _PARTIAL:
            partial = True
        elif each.etag and not each.path.endswith("/"):
            etags[each.path] = each.etag
            gone.discard(each.path)
    return partial


def is_sync_refusal(status: int, body: bytes) -> bool:
    """Whether a token is lost, or the server does not support the report."""
    if b"valid-sync-token" in body:
        return status in _TOKEN_LOST
    return status in _NO_SYNC
