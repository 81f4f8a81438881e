"""Remit from a phone: a certificate, a password, and a limit that others cannot use against you."""

import json
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, expect

from remit.settings import ServerSettings, Settings
from tests.browser.conftest import PHONE
from tests.browser.site import Site, barriers
from tests.ports import free_port

PASSWORD = "correct horse battery staple"
WRONG = "wrong horse battery staple"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A Remit that listens for `public_url` with a certificate of its own."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    subject = ("-subj", "/CN=remit.localhost", "-keyout", str(key), "-out", str(cert))
    subprocess.run([*make, *subject], check=True, capture_output=True, timeout=100)
    server = ServerSettings(
        public_url=f"https://remit.localhost:{free_port()}", tls_cert=str(cert), tls_key=str(key)
    )
    home = tmp_path / "home"
    home.mkdir()
    with Site(home, settings=replace(Settings(home=home), server=server)) as site:
        _set_password(site)
        yield site


def _set_password(site: Site) -> None:
    headers = {"Authorization": "Bearer a-token-for-the-tests"}
    answer = site.client.post(
        f"{_loopback(site)}/api/password", headers=headers, json={"password": PASSWORD}
    )
    assert answer.json() == {"set": True}


@pytest.fixture
def phone(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=PHONE, ignore_https_errors=True, color_scheme="dark")
    yield context
    context.close()


def _loopback(site: Site) -> str:
    return f"http://127.0.0.1:{site.port}"


def _public(site: Site) -> str:
    return site.app.settings.server.public_url


def test_the_owner_signs_in_with_the_password_and_the_page_is_live(
    site: Site, phone: BrowserContext
) -> None:
    page = phone.new_page()
    page.goto(f"{_public(site)}/tasks")
    assert barriers(page) == []
    page.get_by_label("Password").fill(WRONG)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("neither your password nor the token")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    expect(page).to_have_url(f"{_public(site)}/tasks")
    page.goto(f"{_public(site)}/inbox")
    expect(page.get_by_text("Live")).to_be_visible()
    kept = {each["name"]: each for each in phone.cookies(_public(site))}
    assert set(kept) == {"__Host-remit", "__Host-remit-device"}
    assert all(each["secure"] and each["httpOnly"] for each in kept.values())
    assert all(each["sameSite"] == "Strict" for each in kept.values())


def test_the_page_can_be_installed(site: Site, phone: BrowserContext) -> None:
    page = phone.new_page()
    page.goto(f"{_public(site)}/sign-in")
    href = page.locator("link[rel=manifest]").get_attribute("href")
    fetch = """async (at) => {
        const came = await fetch(at);
        return [came.headers.get("content-type"), await came.text()];
    }"""
    manifest = json.loads(page.evaluate(fetch, href)[1])
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}
    for icon in manifest["icons"]:
        assert page.evaluate(fetch, icon["src"])[0] == icon["type"]
    problems = phone.new_cdp_session(page).send("Page.getInstallabilityErrors")
    found = {each["errorId"] for each in problems["installabilityErrors"]}
    assert found <= {"in-incognito"}  # as every window of a test is


def test_others_who_guess_do_not_lock_out_a_browser_that_has_signed_in(site: Site) -> None:
    public = _public(site)

    def client() -> httpx2.Client:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        at = public.replace("remit.localhost", "127.0.0.1")
        host = {"Host": public.removeprefix("https://"), "Origin": public}
        return httpx2.Client(
            base_url=at, headers=host, verify=context, timeout=100, trust_env=False
        )

    def try_it(who: httpx2.Client, password: str, **cookies: str) -> httpx2.Response:
        cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        form = {"token": password}
        return who.post("/sign-in", data=form, headers={"Cookie": cookie} if cookie else {})

    with client() as mine, client() as other:
        came = try_it(mine, PASSWORD)
        device = next(
            each.partition("=")[2].partition(";")[0]
            for each in came.headers.get_list("set-cookie")
            if each.startswith("__Host-remit-device=")
        )
        guesses = [try_it(other, f"{WRONG} {n}").status_code for n in range(7)]
        locked = try_it(other, PASSWORD)
        forged = try_it(other, PASSWORD, **{"__Host-remit-device": device[:-1] + "x"})
        known = try_it(mine, PASSWORD, **{"__Host-remit-device": device})

    assert came.status_code == 303
    assert guesses == [401] * 5 + [429] * 2
    assert locked.status_code == 429
    assert "remit open" in locked.text
    assert forged.status_code == 429
    assert known.status_code == 303


def test_behind_a_proxy_host_origin_and_sources_are_told_apart(tmp_path: Path) -> None:
    server = ServerSettings(public_url="https://remit.example.org")
    with Site(tmp_path, settings=replace(Settings(home=tmp_path), server=server)) as site:
        _set_password(site)  # only tries of a password are counted: a token is too long to guess

        def ask(method: str, path: str, **headers: str) -> httpx2.Response:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            form = {"token": WRONG} if method == "POST" else None
            return site.client.request(method, f"{_loopback(site)}{path}", headers=named, data=form)

        ours, origin = "remit.example.org", "https://remit.example.org"
        assert ask("GET", "/sign-in", Host=ours).status_code == 200
        assert ask("GET", "/sign-in", Host="evil.example.org").status_code == 421
        assert ask("POST", "/sign-in", Host=ours, Origin="https://evil.org").status_code == 403
        assert (
            ask("POST", "/sign-in", Host=ours, Origin="http://remit.example.org").status_code == 403
        )
        tries = [
            ask("POST", "/sign-in", Host=ours, Origin=origin, X_Forwarded_For=f"1.1.1.1, {who}")
            for who in ("203.0.113.9",) * 6 + ("198.51.100.7",)
        ]
    assert [each.status_code for each in tries] == [401] * 5 + [429, 401]


def _frame(opcode: int, payload: bytes) -> bytes:
    """A whole frame of a client, under a mask of zeros."""
    return bytes((0x80 | opcode, 0x80 | len(payload))) + bytes(4) + payload


@pytest.fixture
def lines() -> Iterator[list[socket.socket]]:
    """Connections that stay open until the server has ended."""
    opened: list[socket.socket] = []
    yield opened
    for each in opened:
        each.close()


def test_the_server_ends_in_order_while_a_phone_is_leaving(
    lines: list[socket.socket], site: Site
) -> None:
    """Over TLS a connection ends when both sides closed it; the server must not fail then."""
    port = int(_public(site).rpartition(":")[2])
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    head = (
        f"GET /ws HTTP/1.1\r\nHost: remit.localhost:{port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        "Authorization: Bearer a-token-for-the-tests\r\n\r\n"
    )
    line = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=20))
    lines.append(line)
    line.sendall(head.encode())
    assert line.recv(12) == b"HTTP/1.1 101"
    line.sendall(_frame(8, b"\x03\xe8"))
    for _ in range(3):  # the server has read the farewell before these
        assert site.client.get(f"{_loopback(site)}/healthz").status_code == 200
