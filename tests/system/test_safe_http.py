"""The guard around HTTP: whatever an address looks like, it leads outside or nowhere."""

import asyncio
import gzip
import ipaddress
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import httpx2
import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from remit.system import address_rules as places
from remit.system import http_client, safe_http
from remit.system.address_rules import AddressForm, BlockedAddress
from remit.system.http_client import HttpFailure, HttpReply
from remit.system.safe_http import ResolvedAddress, UnresolvedAddress, resolve_address
from tests.channels.webhook.hooks import Receiver
from tests.channels.whatsapp.whatsapp import Heard, Loopback, Order
from tests.live.loopback import FunctionListener
from tests.tables import for_each, text_table

PUBLIC: Final = "93.184.215.14"
PUBLIC_SIX: Final = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"

# One name, or one number, in ways that some program or other takes for an address inside.
FORMS: Final = text_table(__file__, "forms")


@dataclass
class Names:
    """A resolver that gives the next answer each time it is asked."""

    answers: list[Sequence[str]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, _port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@for_each("url", FORMS)
async def test_no_form_of_an_address_leads_inside(url: str) -> None:
    names = Names([[PUBLIC]])  # even if the name itself were fine

    barred = await resolve_address(url, resolve=names)

    assert isinstance(barred, BlockedAddress)
    assert names.asked == []
    assert not any(secret in barred.why for secret in ("pw", "ada"))


@for_each(
    ("url", "looked_up"),
    [
        ("https://hooks.example.com", True),
        ("https://HOOKS.example.com:8443/in?a=b&c=%20d", True),
        ("https://xn--bcher-kva.example/", True),
        ("https://a-b.example/~x/@y;z=1", True),
        ("https://3com.example/", True),
        (f"https://{PUBLIC}/", False),
        (f"https://[{PUBLIC_SIX}]/", False),
        ("https://1.1.1.1/", False),
        ("https://[2606:4700:4700::1111]/", False),
    ],
)
async def test_a_plain_public_address_is_let_through(url: str, looked_up: bool) -> None:
    names = Names([[PUBLIC, PUBLIC_SIX, PUBLIC]])

    found = await resolve_address(url, resolve=names)

    assert isinstance(found, ResolvedAddress)
    assert bool(names.asked) is looked_up
    if looked_up:
        assert [str(each) for each in found.addresses] == [PUBLIC, PUBLIC_SIX]
        assert found.spot.host == httpx2.URL(url).raw_host.decode()


@pytest.mark.parametrize("address", text_table(__file__, "inside"))
@pytest.mark.parametrize(
    "before", [(), (PUBLIC,), (PUBLIC_SIX, PUBLIC)], ids=["alone", "2nd", "3rd"]
)
async def test_one_address_inside_bars_the_name(before: Sequence[str], address: str) -> None:
    names = Names([[*before, address]])

    assert isinstance(
        await resolve_address("https://hooks.example.com/", resolve=names), BlockedAddress
    )


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_what_python_takes_for_private_is_never_let_through(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    odd = address.is_private or address.is_multicast or address.is_reserved
    odd = odd or address.is_link_local or address.is_loopback or not address.is_global

    assert places.reserved_kind(address) is not None or not odd


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_let_through_in_the_clothes_of_ipv6(four: ipaddress.IPv4Address) -> None:
    number = int(four)
    worn = [
        number,
        (0xFFFF << 32) + number,
        (0x64FF9B << 96) + number,
        (0x2002 << 112) + (number << 80),
    ]

    for each in worn:
        assert places.reserved_kind(ipaddress.IPv6Address(each)) is not None
        assert (
            places.reserved_kind(ipaddress.IPv6Address(each), private=True) is not None or each == 1
        )


@given(st.ip_addresses(v=4), st.sampled_from(["{}", "{:o}", "0{:o}", "0x{:x}", "{:#x}"]))
def test_one_number_for_four_is_never_an_address(four: ipaddress.IPv4Address, form: str) -> None:
    url = f"https://{form.format(int(four))}/"

    assert isinstance(places.read_address(url, private=True), BlockedAddress)


SIGNS: Final = st.sampled_from(
    ["a", "1", ".", "-", ":", "@", "/", "[", "]", "0x", "%", "?", "\\", "#"]
)


@given(st.text(max_size=40) | st.lists(SIGNS).map("".join), st.booleans())
def test_what_is_read_is_read_by_the_client_in_the_same_way(text: str, private: bool) -> None:
    url = f"https://{text}"
    spot = places.read_address(url, private=private)

    if isinstance(spot, AddressForm):
        read = httpx2.URL(url)
        host = read.raw_host.decode().strip("[]")
        assert spot.host == (host if spot.literal is None else str(ipaddress.ip_address(host)))
        assert (read.port or 443, read.scheme) == (spot.port, spot.scheme)
        assert not read.userinfo


@for_each(
    ("url", "own"),
    [
        *(
            (each, True)
            for each in ("http://127.0.0.1:7316/in", "http://[::1]/", "https://10.0.0.7/")
        ),
        # Not even the operator speaks to what is nobody's.
        *((f"http://{each}/", False) for each in ("169.254.169.254", "0.0.0.0", "[fe80::1]")),  # noqa: S104
        ("http://[::ffff:127.0.0.1]/", False),
    ],
)
async def test_the_operator_may_name_his_own_network(url: str, own: bool) -> None:
    assert isinstance(await resolve_address(url), BlockedAddress)
    assert isinstance(
        await resolve_address(url, private=True), ResolvedAddress if own else BlockedAddress
    )


async def test_a_name_that_is_not_found_in_time_or_has_no_address_is_lost() -> None:
    async def unknown(_host: str, _port: int) -> Sequence[str]:
        raise OSError("no such name")

    async def never(_host: str, _port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    for resolve in (unknown, never, Names([[]])):
        found = await resolve_address("https://hooks.example.com", resolve=resolve, seconds=0.01)
        assert isinstance(found, UnresolvedAddress)


async def test_the_machines_own_resolver_finds_this_machine() -> None:
    found = await resolve_address("http://localhost:7316/", private=True)

    assert isinstance(found, ResolvedAddress)
    assert all(address.is_loopback for address in found.addresses)
    assert isinstance(await resolve_address("https://localhost/"), BlockedAddress)


async def test_a_name_is_looked_up_once_and_its_second_answer_never_counts() -> None:
    async with Receiver() as inside:
        port = inside.root.rpartition(":")[2]
        # First an address where nobody is, then the server: as an attacker's name would do it.
        names = Names([["127.0.0.2"], ["127.0.0.1"]])
        url = f"http://rebind.example.com:{port}/in"
        place = await resolve_address(url, private=True, resolve=names)
        assert isinstance(place, ResolvedAddress)

        async with safe_http.open_client(place) as client:
            said = [await http_client.post_bytes(client, url, {}, b"{}", 5) for _ in range(2)]

        assert all(isinstance(each, HttpFailure) and not each.left for each in said)
        assert inside.heard == []
    assert names.asked == ["rebind.example.com"]


class Echo(Loopback):
    """Says yes to everything, with whatever body was ordered."""

    def answer(self, heard: Heard, order: Order) -> tuple[int, bytes]:
        return order.status, order.body or heard.body or b"yes"


@asynccontextmanager
async def client_of(
    url: str, *addresses: str, most: int | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client for an address, whose name stands for 127.0.0.1 if nothing else is said."""
    place = await resolve_address(url, private=True, resolve=Names([addresses or ["127.0.0.1"]]))
    assert isinstance(place, ResolvedAddress)
    limit = safe_http.MAX_ANSWER_BYTES if most is None else most
    async with safe_http.open_client(place, tls=tls, most=limit) as client:
        yield client


def port_of(server: Loopback) -> str:
    return server.root.rpartition(":")[2]


async def test_the_client_speaks_to_the_address_and_keeps_the_name() -> None:
    async with Echo() as echo:
        url = f"http://hooks.example.com:{port_of(echo)}/in?x=1"
        async with client_of(url) as client:
            said = await http_client.post_bytes(client, url, {"x-own": "1"}, b"{}", 5)

        assert said == HttpReply(200, "", b"{}")
        (heard,) = echo.heard
        assert heard.path == "/in?x=1"
        assert heard.headers["host"] == f"hooks.example.com:{port_of(echo)}"
        assert (heard.headers["connection"], heard.headers["x-own"]) == ("close", "1")


async def test_if_one_address_is_silent_the_next_is_tried_and_one_request_arrives() -> None:
    async with Echo() as echo:
        url = f"http://hooks.example.com:{port_of(echo)}/in"
        async with client_of(url, "127.0.0.9", "::1", "127.0.0.1") as client:
            said = await http_client.post_bytes(client, url, {}, b"{}", 5)

        assert isinstance(said, HttpReply)
        assert len(echo.heard) == 1


@for_each(
    "elsewhere",
    [
        "http://127.0.0.1:{port}/in",
        "http://other.example.com:{port}/in",
        "http://hooks.example.com/",
    ],
)
async def test_a_client_goes_nowhere_but_to_its_place(elsewhere: str) -> None:
    async with Echo() as echo:
        async with client_of(f"http://hooks.example.com:{port_of(echo)}/") as client:
            with pytest.raises(httpx2.UnsupportedProtocol):
                await client.get(elsewhere.format(port=port_of(echo)))

        assert echo.heard == []


@for_each("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_an_answer_and_is_not_followed(status: int) -> None:
    async with Echo() as inside, Echo() as echo:
        echo.orders = [Order(status=status, headers={"location": f"{inside.root}/admin"})]
        async with client_of(echo.root) as client:
            answer = await client.get(echo.root)

        assert answer.status_code == status
        assert inside.heard == []


async def test_an_answer_that_goes_on_is_broken_off_and_a_packed_one_is_not_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 10_000_000)
    async with Echo() as echo:
        echo.orders = [
            *(Order(body=b"x" * 5000) for _ in range(2)),
            Order(body=bomb, headers={"content-encoding": "gzip"}),
        ]
        async with client_of(echo.root, most=4999) as client:
            with pytest.raises(httpx2.ReadError, match="longer"):
                await client.get(echo.root)
        async with client_of(echo.root, most=5000) as client:
            assert len((await client.get(echo.root)).content) == 5000
        async with client_of(echo.root) as client:
            assert (await client.get(echo.root)).content == bomb


async def test_a_proxy_in_the_environment_is_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Echo() as proxy, Echo() as echo:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.root)
        async with client_of(echo.root) as client:
            await client.get(echo.root)

        assert (len(proxy.heard), len(echo.heard)) == (0, 1)


@asynccontextmanager
async def vaulted(name: str) -> AsyncIterator[tuple[int, ssl.SSLContext, list[str | None]]]:
    """A TLS server with a certificate for one name, and which names it was called by."""
    authority = trustme.CA()
    serve, trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert(name).configure_cert(serve)
    authority.configure_trust(trust)
    called: list[str | None] = []
    serve.sni_callback = lambda _socket, wanted, _context: called.append(wanted)

    async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    async with FunctionListener(welcome, serve) as server:
        yield server.port, trust, called


async def test_the_handshake_asks_for_the_name_and_the_certificate_must_be_for_it() -> None:
    async with vaulted("hooks.example.com") as (port, trust, called):
        for name, tls, good in (
            ("hooks.example.com", trust, True),
            ("evil.example.com", trust, False),
            ("hooks.example.com", None, False),  # an unknown authority is not trusted
        ):
            url = f"https://{name}:{port}/"
            async with client_of(url, tls=tls) as client:
                said = await http_client.post_bytes(client, url, {}, b"", 5)
            assert isinstance(said, HttpReply) is good
            assert isinstance(said, HttpReply) or not said.left

    assert called[:2] == ["hooks.example.com", "evil.example.com"]
