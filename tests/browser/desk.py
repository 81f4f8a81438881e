"""A new Remit that runs by itself, a browser that is signed in, and what lies outside of it."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, NamedTuple

from playwright.sync_api import Browser, Page

from tests.browser.conftest import PATIENCE, WIDE
from tests.cli.terminal import Terminal

KEY: Final = "sk-of-the-test-0123456789"


class Outside(BaseHTTPRequestHandler):
    """A model with OpenAI's chat protocol, and a program that takes events."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "ready"}
        told = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "tiny",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        fits = self.path == "/in" or self.headers.get("authorization") == f"Bearer {KEY}"
        body = json.dumps(told if fits else {"error": {"message": "bad key"}}).encode()
        self.send_response(200 if fits else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def outside_server() -> Iterator[str]:
    """Serve these on loopback; yield their address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Outside) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join(100)


class Desk(NamedTuple):
    """A running Remit, a browser that is signed in, and what its process has told."""

    terminal: Terminal
    page: Page
    url: str
    next_event: Callable[[], str]

    @property
    def file(self) -> str:
        return (self.terminal.home / "settings.toml").read_text()

    def go(self, path: str) -> Page:
        self.page.goto(f"{self.url}{path}")
        return self.page

    def fill(self, **values: str) -> None:
        for label, value in values.items():
            form = self.page.locator("form.addform")
            form.get_by_label(re.compile(rf"^\s*{label}(\s+needed)?\b")).first.fill(value)

    def save(self) -> None:
        """Press the button, and wait until the running Remit has taken the settings up."""
        self.page.get_by_role("button", name=re.compile("^Save")).first.click()
        assert self.next_event() == "restarted"


@contextmanager
def new_desk(folder: Path, browser: Browser) -> Iterator[Desk]:
    """Start `remit up` in an empty home, and open the link that it prints."""
    terminal = Terminal(folder, script=None)
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    with terminal.up() as up:
        out = up.process.stdout
        assert out is not None
        link = str(up.told["signIn"])
        page = context.new_page()
        page.goto(link)
        url = link.partition("/sign-in")[0]
        yield Desk(terminal, page, url, lambda: str(json.loads(out.readline())["event"]))
        context.close()
