"""An HTTP client for addresses that somebody else may have chosen; never the own network.

    place = await resolve_address("https://hooks.example.com/in")      # or why not
    async with open_client(place) as client: ...

The name is resolved once, every address is checked, and the client connects only to these
addresses, with the name in the Host header and the TLS handshake. So a name that resolves
differently later (DNS rebinding) has no effect. No redirects, no proxies.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, TypeAlias

import httpx2
from msgspec import Struct

from remit.system import address_rules as places
from remit.system.address_rules import Address, AddressForm, BlockedAddress
from remit.system.http_client import trusted_authorities

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]  # the addresses of a name

SECONDS: Final = 10.0
MAX_ANSWER_BYTES: Final = 1_048_576
_MAX_ADDRESSES: Final = 16


class ResolvedAddress(Struct, frozen=True):
    """A resolved place that may be contacted, at these addresses only."""

    spot: AddressForm
    addresses: tuple[Address, ...]


class UnresolvedAddress(Struct, frozen=True):
    """The name does not resolve at the moment; nothing was sent."""

    why: str


async def resolve_host(host: str, port: int) -> Sequence[str]:
    """Ask the machine's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(where[0]) for *_, where in found]


async def resolve_address(
    url: str, *, private: bool = False, resolve: Resolve = resolve_host, seconds: float = SECONDS
) -> ResolvedAddress | BlockedAddress | UnresolvedAddress:
    """Resolve an address once and check the result; `private` allows the operator's network."""
    spot = places.read_address(url, private=private)
    if isinstance(spot, BlockedAddress):
        return spot
    if spot.literal is not None:
        return _check_addresses(spot, [str(spot.literal)], private=private)
    try:
        async with asyncio.timeout(seconds):
            found = await resolve(spot.host, spot.port)
    except (OSError, UnicodeError) as error:
        return UnresolvedAddress(f"the name was not found ({type(error).__name__})")
    return _check_addresses(spot, found, private=private)


def _check_addresses(
    spot: AddressForm, found: Sequence[str], *, private: bool
) -> ResolvedAddress | BlockedAddress | UnresolvedAddress:
    """Refuse all if one address is bad: an honest name does not mix such places."""
    addresses: list[Address] = []
    for each in dict.fromkeys(found[:_MAX_ADDRESSES]):
        try:
            address = ipaddress.ip_address(each)
        except ValueError:
            return BlockedAddress("The name leads to something that is not an address.")
        scoped = isinstance(address, ipaddress.IPv6Address) and address.scope_id
        kind = "link-local" if scoped else places.reserved_kind(address, private=private)
        if kind is not None:
            return BlockedAddress(
                f"This address leads into your own network ({kind}). Only public ones are allowed."
            )
        addresses.append(address)
    return (
        ResolvedAddress(spot, tuple(addresses))
        if addresses
        else UnresolvedAddress("the name has no address")
    )


def open_client(
    place: ResolvedAddress, *, tls: ssl.SSLContext | None = None, most: int = MAX_ANSWER_BYTES
) -> httpx2.AsyncClient:
    """Return a client for this place only, with a limit on bytes read."""
    return httpx2.AsyncClient(
        transport=_Pinned(place, tls or trusted_authorities(), most),
        follow_redirects=False,
        trust_env=False,
        timeout=SECONDS,
        headers={"accept-encoding": "identity"},
    )


class _Pinned(httpx2.AsyncBaseTransport):
    def __init__(self, place: ResolvedAddress, tls: ssl.SSLContext, most: int) -> None:
        self._place = place
        self._most = most
        # A kept connection would be reused by its address, whatever name it was opened for.
        limits = httpx2.Limits(max_keepalive_connections=0)
        self._net = httpx2.AsyncHTTPTransport(verify=tls, retries=0, limits=limits, trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._check(request.url)
        response = await self._first(request)
        # A compressed answer could expand without limit, so it stays compressed.
        response.headers.pop("content-encoding", None)
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - for the types
        response.stream = _Capped(response.stream, self._most)
        return response

    def _check(self, url: httpx2.URL) -> None:
        host = url.raw_host.decode("ascii").strip("[]")
        host = f"[{host}]" if ":" in host else host
        port = url.port or (443 if url.scheme == "https" else 80)
        if places.read_host(host, url.scheme, port) != self._place.spot:
            raise httpx2.UnsupportedProtocol("This client speaks to one place, and not to that.")

    async def _first(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response of the first address that connects; no byte leaves before."""
        *others, last = self._place.addresses
        for address in others:
            try:
                return await self._net.handle_async_request(self._addressed_to(address, request))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._net.handle_async_request(self._addressed_to(last, request))

    def _addressed_to(self, address: Address, request: httpx2.Request) -> httpx2.Request:
        """The same request, to an address; its Host line and its handshake keep the name."""
        spot = self._place.spot
        known_as = {} if spot.literal is not None else {"sni_hostname": spot.host}
        headers = httpx2.Headers(request.headers)
        headers["connection"] = "close"
        return httpx2.Request(
            request.method,
            request.url.copy_with(host=str(address)),
            headers=headers,
            stream=request.stream,
            extensions={**request.extensions, **known_as},
        )

    async def aclose(self) -> None:
        await self._net.aclose()


class _Capped(httpx2.AsyncByteStream):
    """Breaks off when an answer is too long."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise httpx2.ReadError("The answer is longer than it may be.")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
