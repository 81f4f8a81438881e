"""A small CalDAV client with only what the calendar trigger needs.

The server never expands or searches, because servers differ there. The password goes to the host
the owner named, and to another host only over TLS within the same registered domain, as iCloud
needs it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import urljoin, urlsplit

import httpx2
from msgspec import Struct

from remit.calendar import xml
from remit.calendar.xml import CALDAV, DAV
from remit.errors import Permanent, Transient
from remit.system import address_rules, safe_http
from remit.system.address_rules import BlockedAddress
from remit.system.http_client import read_body, trusted_authorities
from remit.system.safe_http import Resolve, ResolvedAddress

Password: TypeAlias = Callable[[], str]  # called at each use, so a renewed one needs no restart

Renewal: TypeAlias = Callable[[str], str]  # another access token than one that was refused

ANSWER_SECONDS: Final = 60.0  # for one whole answer
_MAX_REDIRECTS: Final = 3
_MAX_PAGES: Final = 1_000  # pages of one list of changes
_PATHS_PER_REQUEST: Final = 50
_LOCAL: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_XML: Final = "application/xml; charset=utf-8"
_ICS: Final = "text/calendar; charset=utf-8"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_BUSY: Final = frozenset({408, 423, 425, 429})


class ResourceGone(Permanent):
    """There is nothing at this address any more."""


class CalendarLocked(Permanent):
    """The server does not accept the password."""


class CalendarDeclined(Permanent):
    """The server understood and refused."""

    def __init__(self, sentence: str, status: int, body: bytes = b"") -> None:
        super().__init__(sentence)
        self.status = status
        self.body = body


class WriteConflict(CalendarDeclined):
    """Somebody else has written there since we looked, or before us."""


class CalendarTooLarge(Permanent):
    """An answer is larger than the limit."""


class TokenLost(Exception):
    """The server no longer knows the sync token; everything must be read again."""


@dataclass(frozen=True, slots=True)
class CalendarLocation:
    """A server as the owner named it. The password is looked up at each use."""

    name: str
    url: str
    user: str = ""
    password: Password = field(default=lambda: "", repr=False)
    renew: Renewal | None = field(default=None, repr=False)  # then it is an access token
    todo: str = ""  # how to get in again


class RemoteCalendar(Struct, frozen=True):
    """A calendar found on a server."""

    path: str
    name: str
    kinds: frozenset[str] = frozenset()


class CalendarChanges(Struct, frozen=True):
    """Changes since a token. `whole`: it lists everything."""

    token: str
    etags: Mapping[str, str]
    gone: frozenset[str] = frozenset()
    whole: bool = False


class CalendarResource(Struct, frozen=True):
    path: str
    etag: str
    body: str


class CalDavClient:
    """Talks to one server. Every failure is a `Transient` or a `Permanent` with a sentence."""

    def __init__(
        self,
        place: CalendarLocation,
        *,
        seconds: float = ANSWER_SECONDS,
        resolve: Resolve = safe_http.resolve_host,
    ) -> None:
        self._place = place
        self._resolve = resolve
        self._seconds = seconds
        self._root = place.url  # base of paths: the host that holds the calendars
        self._digest: set[str] = set()  # hosts that want digest authentication
        near = urlsplit(place.url).hostname in _LOCAL
        tls = trusted_authorities()
        self._http = httpx2.AsyncClient(
            transport=httpx2.AsyncHTTPTransport(verify=tls, retries=0) if near else None,
            verify=tls,
            follow_redirects=False,
            timeout=httpx2.Timeout(seconds, connect=min(10.0, seconds)),
            # A compressed answer could expand without limit.
            headers={"accept-encoding": "identity", "user-agent": "remit"},
        )
        self._who = f"The calendar server {place.name}"

    async def close(self) -> None:
        await self._http.aclose()

    async def calendars(self) -> list[RemoteCalendar]:
        """Return every calendar of the account, found from the owner's address."""
        home = await self._home()
        asked = xml.propfind(
            "<resourcetype/>", "<displayname/>", "<C:supported-calendar-component-set/>"
        )
        body, _ = await self._ask("PROPFIND", home, asked, depth="1")
        found = xml.responses(xml.parse(body, self._who), self._who)
        self._root = home
        return [
            RemoteCalendar(
                each.path, each.name or each.path.rstrip("/").rpartition("/")[2], each.kinds
            )
            for each in found
            if each.calendar
        ]

    async def changes(self, calendar: str, token: str) -> CalendarChanges:
        """Return what has changed since a token; without one, or if it is lost, everything."""
        try:
            return await self._sync_changes(calendar, token)
        except TokenLost:
            if token:
                return await self.changes(calendar, "")
        return await self._list_all(calendar)

    async def fetch(self, calendar: str, paths: Sequence[str]) -> list[CalendarResource]:
        """Return the resources at some paths; missing or too large ones are left out."""
        found: list[CalendarResource] = []
        for start in range(0, len(paths), _PATHS_PER_REQUEST):
            some = list(paths[start : start + _PATHS_PER_REQUEST])
            found += await self._fetch_some(calendar, some)
        return found

    async def get(self, path: str) -> CalendarResource:
        body, answer = await self._ask("GET", path)
        return CalendarResource(
            path, answer.headers.get("etag", ""), body.decode("utf-8", "replace")
        )

    async def put(self, path: str, body: str, etag: str | None) -> str:
        """Write a resource, new without an etag, and return its etag.

        Raises `WriteConflict` if it exists already, or does not match the etag.
        """
        guard = {"if-match": etag} if etag else {"if-none-match": "*"}
        _, answer = await self._ask("PUT", path, body.encode(), headers=guard, kind=_ICS)
        return answer.headers.get("etag") or (await self.get(path)).etag

    async def delete(self, path: str, etag: str) -> None:
        await self._ask("DELETE", path, headers={"if-match": etag} if etag else {})

    async def make(self, path: str, name: str, kind: str) -> None:
        """Create a calendar, if it does not exist."""
        try:
            body, _ = await self._ask("PROPFIND", path, xml.propfind("<resourcetype/>"))
            found = xml.responses(xml.parse(body, self._who), self._who)
        except ResourceGone:
            found = []
        # Some servers answer even for missing resources, with an empty result.
        if not any(each.calendar for each in found):
            await self._ask("MKCALENDAR", path, xml.mkcalendar(name, kind))

    # Finding ------------------------------------------------------------------------------------

    async def _home(self) -> str:
        """Return where the calendars are; the address itself, if the server names no other."""
        principal = None
        for start in (self._place.url, urljoin(self._place.url, "/.well-known/caldav")):
            try:
                principal = await self._property_address(start, "<current-user-principal/>", DAV)
            except (ResourceGone, CalendarDeclined):
                continue  # it may be found elsewhere
            if principal is not None:
                break
        asked = "<C:calendar-home-set/>"
        return (
            await self._property_address(principal or self._place.url, asked, CALDAV)
            or self._place.url
        )

    async def _property_address(self, url: str, asked: str, space: str) -> str | None:
        body, answer = await self._ask("PROPFIND", url, xml.propfind(asked))
        tag = asked.strip("</>").removeprefix("C:")
        address = xml.href_in(xml.parse(body, self._who), space + tag)
        return None if address is None else self._within(urljoin(str(answer.url), address))

    # Changes ------------------------------------------------------------------------------------

    async def _sync_changes(self, calendar: str, token: str) -> CalendarChanges:
        whole, etags, gone = not token, dict[str, str](), set[str]()
        for _ in range(_MAX_PAGES):
            root = await self._report(calendar, token)
            partial = xml.gather_changes(xml.responses(root, self._who), etags, gone)
            token = xml.token(root)
            if not partial:
                return CalendarChanges(token, etags, frozenset(gone), whole=whole)
        raise Permanent(f"{self._who} never comes to the end of its changes.")

    async def _report(self, calendar: str, token: str) -> xml.Answer:
        try:
            body, _ = await self._ask("REPORT", calendar, xml.sync(token))
        except CalendarDeclined as no:
            if xml.is_sync_refusal(no.status, no.body):
                raise TokenLost from None
            raise
        return xml.parse(body, self._who)

    async def _list_all(self, calendar: str) -> CalendarChanges:
        """List everything with its etag, for a server without sync tokens."""
        asked = xml.propfind("<getetag/>")
        body, _ = await self._ask("PROPFIND", calendar, asked, depth="1")
        found = xml.responses(xml.parse(body, self._who), self._who)
        etags = {each.path: each.etag for each in found if each.etag and each.path[-1] != "/"}
        return CalendarChanges("", etags, whole=True)

    async def _fetch_some(self, calendar: str, paths: list[str]) -> list[CalendarResource]:
        try:
            body, _ = await self._ask("REPORT", calendar, xml.multiget(paths), depth="1")
        except CalendarTooLarge:
            if len(paths) == 1:
                return []
            halves = (paths[: len(paths) // 2], paths[len(paths) // 2 :])
            return [each for half in halves for each in await self._fetch_some(calendar, half)]
        found = xml.responses(xml.parse(body, self._who), self._who)
        return [CalendarResource(each.path, each.etag, each.body) for each in found if each.body]

    # The wire -----------------------------------------------------------------------------------

    def _within(self, url: str) -> str:
        """Return an address that may get the password; any other is refused."""
        root = urlsplit(self._root)
        whole = (
            f"{root.scheme}://{root.netloc}{url}" if url[:1] == "/" else urljoin(self._root, url)
        )
        ours, theirs = httpx2.URL(self._place.url), httpx2.URL(whole)
        same = (ours.scheme, ours.host, ours.port) == (theirs.scheme, theirs.host, theirs.port)
        safe = ours.scheme == theirs.scheme == "https" and theirs.port in (None, ours.port)
        if not same and not (safe and address_rules.is_same_domain(ours.host, theirs.host)):
            raise Permanent(
                f"{self._who} ({ours.host}) leads to another host, {theirs.host!r:.80}, "
                "which is not sent your password; if that is right, put its address as `url` "
                f"under [calendars.{self._place.name}] in settings.toml."
            )
        return str(theirs)

    async def _safe(self, url: str) -> str:
        """The address, unless a server on the public net leads with it into a private one."""
        named, there = httpx2.URL(self._place.url), httpx2.URL(url)
        if there.host == named.host:
            return url
        root = f"{there.scheme}://{there.host}/"
        found = await safe_http.resolve_address(root, resolve=self._resolve)
        if isinstance(found, BlockedAddress):
            own = await safe_http.resolve_address(
                f"{named.scheme}://{named.host}/", resolve=self._resolve
            )
            near = await safe_http.resolve_address(root, private=True, resolve=self._resolve)
            if not (isinstance(own, BlockedAddress) and isinstance(near, ResolvedAddress)):
                raise Permanent(
                    f"{self._who} ({named.host}) leads to {there.host!r:.80}, which lies in a "
                    "private network, so nothing was sent there; if that is right, put its address "
                    f"as `url` under [calendars.{self._place.name}] in settings.toml."
                )
        return url

    async def _auth(self, url: str, refused: str | None) -> tuple[httpx2.Auth | None, str]:
        """Return the credentials for one request: a password, or an access token."""
        place = self._place
        if not place.user:
            return None, ""
        if place.renew is None:
            kind = httpx2.DigestAuth if httpx2.URL(url).host in self._digest else httpx2.BasicAuth
            return kind(place.user, await asyncio.to_thread(place.password)), ""
        get = partial(place.renew, refused) if refused is not None else place.password
        return None, await asyncio.to_thread(get)

    async def _ask(
        self,
        method: str,
        url: str,
        content: bytes = b"",
        *,
        depth: str = "0",
        headers: Mapping[str, str] | None = None,
        kind: str = _XML,
    ) -> tuple[bytes, httpx2.Response]:
        """One exchange: redirects to where we may go are followed, a wish for digest is met."""
        target = await self._safe(self._within(url))
        all_headers = {"depth": depth, "content-type": kind, **(headers or {})}
        refused: str | None = None
        for _ in range(_MAX_REDIRECTS + 1):
            auth, token = await self._auth(target, refused)
            shown = {"authorization": f"Bearer {token}"} if token else {}
            body, answer = await self._exchange(method, target, content, all_headers | shown, auth)
            if answer.status_code in _REDIRECTS and method in ("PROPFIND", "GET", "REPORT"):
                onward = self._within(urljoin(target, answer.headers.get("location", "")))
                target = await self._safe(onward)
            elif self._wants_digest(answer):
                self._digest.add(answer.url.host)
            elif answer.status_code == HTTPStatus.UNAUTHORIZED and token and refused is None:
                refused = token  # it is renewed, once
            else:
                self._judge(method, answer, body)
                return body, answer
        raise Permanent(f"{self._who} sends us from one address to the next.")

    async def _exchange(
        self,
        method: str,
        url: str,
        content: bytes,
        headers: Mapping[str, str],
        auth: httpx2.Auth | None,
    ) -> tuple[bytes, httpx2.Response]:
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._http.stream(
                    method, url, content=content, headers=headers, auth=auth
                ) as answer,
            ):
                body = await read_body(answer, xml.MAX_BYTES)
        except TimeoutError:
            raise Transient(f"{self._who} gave no whole answer in {self._seconds:g} s.") from None
        except httpx2.HTTPError as error:
            error_name = type(error).__name__
            raise Transient(f"{self._who} cannot be reached ({error_name}).") from None
        if body is None:
            raise CalendarTooLarge(f"{self._who} sent more than {xml.MAX_BYTES:,} bytes at once.")
        return body, answer

    def _wants_digest(self, answer: httpx2.Response) -> bool:
        asked = answer.headers.get("www-authenticate", "").lower()
        return answer.status_code == HTTPStatus.UNAUTHORIZED and (
            bool(self._place.user)
            and self._place.renew is None
            and answer.url.host not in self._digest
            and asked.startswith("digest")
        )

    def _judge(self, method: str, answer: httpx2.Response, body: bytes) -> None:
        """Raise the error an answer means, unless it is a success."""
        status = answer.status_code
        if HTTPStatus(200) <= status < HTTPStatus(300):
            return
        text = f"{self._who} answered {status} to {method}"
        match status:
            case HTTPStatus.UNAUTHORIZED:
                what = "sign-in" if self._place.renew else "user and password"
                raise CalendarLocked(
                    f"{self._who} does not take the {what} (401). {self._place.todo}".rstrip()
                )
            case HTTPStatus.NOT_FOUND | HTTPStatus.GONE:
                raise ResourceGone(f"{text}: there is nothing at {answer.url.path:.100}.")
            case HTTPStatus.PRECONDITION_FAILED:
                raise WriteConflict(f"{text}: it is not as we saw it.", status, body)
            case _ if status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise Transient(f"{text}.")
            case _:
                raise CalendarDeclined(f"{text}.", status, body)
