"""Parses the XML of CalDAV servers as hostile input, and writes requests."""

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
MAX_BYTES: Final = 32 * 1024 * 1024
_MAX_MARKS: Final = 1_500_000  # `<` in one answer: an element costs a hundred times its bytes
_PATH_SAFE: Final = ":@!$&'()*+,;=-._~"
_TOKEN_LOST: Final = frozenset({403, 409, 410, 412})
_NO_SYNC: Final = frozenset({400, 403, 405, 409, 415, 422, 501})
_PARTIAL: Final = 507  # the list continues: ask again with the new token
_NAMES: Final = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"'


class MultistatusItem(Struct, frozen=True):
    """The part of a multistatus about one path."""

    path: str
    status: int | None  # None if it has only properties
    etag: str
    body: str | None  # the calendar itself, if requested
    name: str
    calendar: bool  # whether the path is a calendar
    kinds: frozenset[str]  # VEVENT, VTODO: what a calendar accepts; empty if unknown


def parse(body: bytes, who: str) -> Answer:
    """Parse an answer, or raise a sentence."""
    if body.count(b"<") > _MAX_MARKS:
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
