"""Other sites in the same browser: they can send, and nothing of it counts."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, Final

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Visit
from tests.browser.site import Site

FORM: Final = """<form id=f method=post action="{url}/new">
<input name=text value="In 1 minute remind me to pay"></form>
<script>document.getElementById("f").submit()</script>"""


class _Evil(BaseHTTPRequestHandler):
    """A page on another port of this machine, as any program could open one."""

    page = ""
    cookies: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.cookies.extend(self.headers.get_all("Cookie") or ())
        body = self.page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Evil)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join(100)


def _strange(page: Page, url: str, html: str) -> Page:
    """Another site in the same browser, with the same cookies at hand."""
    _Evil.page = f"<!doctype html><title>evil</title>{html}"
    other = page.context.new_page()
    other.goto(url)
    return other


def test_a_form_of_another_site_hands_over_nothing(
    site: Site, visit: Visit, elsewhere: str
) -> None:
    page = visit("/inbox")
    other = page.context.new_page()
    _Evil.page = f"<!doctype html><title>evil</title>{FORM.format(url=site.url)}"
    with other.expect_response(lambda answer: answer.url.endswith("/new")) as sent:
        other.goto(elsewhere)
    assert sent.value.status in (401, 403)
    assert site.get("/api/tasks")["tasks"] == []


def test_a_script_of_another_site_hands_over_nothing_and_reads_nothing(
    site: Site, visit: Visit, elsewhere: str
) -> None:
    other = _strange(visit("/inbox"), elsewhere, "")
    told = other.evaluate(
        """async (url) => {
          const tries = [
            fetch(url + "/api/messages", {method: "POST", credentials: "include", mode: "no-cors",
              headers: {"Content-Type": "text/plain"}, body: '{"text": "In 1 minute remind me"}'}),
            fetch(url + "/api/tasks", {credentials: "include"}),
          ];
          return (await Promise.allSettled(tries)).map((each) => each.value?.type ?? "refused");
        }""",
        site.url,
    )
    assert told[1] == "refused"  # and the first one's answer is opaque at best
    assert site.get("/api/tasks")["tasks"] == []


def test_another_site_gets_no_socket(site: Site, visit: Visit, elsewhere: str) -> None:
    other = _strange(visit("/inbox"), elsewhere, "")
    opened = other.evaluate(
        """(url) => new Promise((done) => {
          const socket = new WebSocket(url);
          socket.onopen = () => done("open");
          socket.onerror = () => done("refused");
        })""",
        site.url.replace("http", "ws", 1) + "/ws",
    )
    assert opened == "refused"


def test_a_name_that_was_bent_to_this_machine_is_told_that_it_is_not_meant(site: Site) -> None:
    status, told = site.raw("GET", "/api/tasks", Host=f"evil.test:{site.port}")
    assert (status, told["type"]) == (421, "urn:remit:problem:misdirected")


def test_no_page_of_ours_may_stand_in_a_frame(
    site: Site, visit: Visit, browser: Browser, elsewhere: str
) -> None:
    frame = f'<iframe src="{site.url}/inbox"></iframe>'
    other = _strange(visit("/inbox"), elsewhere, frame)
    other.wait_for_load_state("networkidle")
    inside = [each for each in other.frames if each is not other.main_frame]
    assert all("Inbox" not in each.content() for each in inside)


def test_no_other_program_of_this_machine_is_sent_the_cookie(
    visit: Visit, browser: Browser, elsewhere: str
) -> None:
    page = visit("/inbox")
    _Evil.cookies.clear()
    for host in ("127.0.0.1", "localhost", "other.localhost"):
        page.context.new_page().goto(elsewhere.replace("127.0.0.1", host))

    assert page.context.cookies(page.url) != []
    assert _Evil.cookies == []
