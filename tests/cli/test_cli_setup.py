"""`remit setup` asks, writes and tests; the file keeps its comments, secrets go to their store."""

import json
import re
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from remit.settings import DEFAULT_FILE
from remit.store.secrets import Secrets
from tests.cli.terminal import Terminal

KEY = "sk-of-the-test-0123456789"


class _Model(BaseHTTPRequestHandler):
    """Speaks OpenAI's chat protocol, and knows one key."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        fits = self.headers.get("authorization") == f"Bearer {KEY}"
        told = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "tiny",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "ready"},
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        body = json.dumps(told if fits else {"error": {"message": "bad key"}}).encode()
        self.send_response(200 if fits else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def model() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Model) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join(100)


def _remarks(text: str) -> set[str]:
    """The comments that are no settings."""
    return {line for line in text.splitlines() if re.match(r"#(?! \w+ = )", line)}


def _kept(terminal: Terminal) -> str:
    return (terminal.home / "settings.toml").read_text()


def test_the_walk_asks_three_things_and_writes_what_was_said(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, script=None)
    keys = ["Hanan", "", "Mars/Olympus", "", "none", "none"]
    refused = terminal.type(["setup"], keys)
    assert "Mars/Olympus" in refused.out
    assert "one looks like Europe/Berlin" in refused.out

    left = terminal.type(["setup"], ["Hanan", "", "Europe/Berlin", "", "\x04"])  # the input ends
    assert (left.code, "What was saved until then stays." in left.out) == (130, True), left.out
    assert 'owner = "Hanan"' in _kept(terminal)
    said = terminal.type(["setup"], ["Hanan", "", "Europe/Berlin", "", "none", "none"])

    assert said.code == 0, said.out
    assert "No language model is used" in said.out
    assert "remit up" in said.out
    told = tomllib.loads(_kept(terminal))
    assert (told["owner"], told["zone"], told["brain"]["kind"]) == (
        "Hanan",
        "Europe/Berlin",
        "none",
    )
    before, after = DEFAULT_FILE.splitlines(), _kept(terminal).splitlines()
    assert len(before) == len(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 3


def test_a_model_is_asked_for_with_its_key_and_tried(tmp_path: Path, model: str) -> None:
    terminal = Terminal(tmp_path, script=None)

    wrong = terminal.type(["setup", "brain"], ["auto", "openai:tiny", "sk-wrong", model, "20", ""])
    assert wrong.code == 1, wrong.out
    right = terminal.type(["setup", "brain"], ["auto", "", KEY, "", "", "openai:second"])

    assert right.code == 0, right.out
    assert "answered: ready" in right.out
    assert KEY not in right.out
    assert KEY not in _kept(terminal)
    assert Secrets(terminal.home).get("MODEL_API_KEY") == KEY
    shown = terminal.run("brain").out
    assert "openai-chat:tiny" in shown
    assert "fallback: openai-responses:second needs a key" in shown

    assert terminal.run("setup", "brain", "--remove").code == 0
    assert "MODEL_API_KEY" not in Secrets(terminal.home).names()
    told = tomllib.loads(_kept(terminal))["brain"]
    assert (told["kind"], told["model"], told["base_url"]) == ("none", "", "")
    assert _remarks(DEFAULT_FILE) <= _remarks(_kept(terminal)), "comments stay"


def test_a_running_remit_takes_a_new_key_up(tmp_path: Path, model: str) -> None:
    terminal = Terminal(tmp_path, script=None)
    with terminal.up() as up:
        said = terminal.type(["setup", "brain"], ["auto", "openai:tiny", KEY, model, "", ""])
        assert up.process.stdout is not None
        assert json.loads(up.process.stdout.readline())["event"] == "restarted"
    assert said.code == 0, said.out


@pytest.mark.parametrize("named", [False, True])
def test_a_channel_is_asked_for_sent_on_and_removed_with_its_secret(
    tmp_path: Path, *, named: bool
) -> None:
    terminal = Terminal(tmp_path, script=None)
    secret = "whsec_Y2FuYXJ5LW9mLXRoZS1ob29rLTRmN2Q5MQ=="
    name = [] if named else ["alarm"]
    keys = ["webhook", *name, "http://127.0.0.1:9/in", secret, "yes", "", ""]

    said = terminal.type(["setup", "channels.alarm" if named else "channels"], keys)

    assert "Which channel" in said.out
    assert "refused" in said.out or "not sent" in said.out  # nobody listens there
    assert secret not in _kept(terminal)
    assert tomllib.loads(_kept(terminal))["channels"]["alarm"]["kind"] == "webhook"
    assert "alarm" in terminal.run("channels").out
    assert tomllib.loads(_kept(terminal))["notices"]["question"][-1] == "alarm"
    assert terminal.run("setup", "channels.alarm", "--test").code == 0
    assert terminal.run("setup", "channels.alarm", "--remove").code == 0
    assert "alarm" not in _kept(terminal)
    assert Secrets(terminal.home).names() == ()


def test_a_hook_gets_a_secret_that_is_shown_once(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, script=None)
    said = terminal.type(["setup", "hooks"], ["shop", "Say what was ordered.", "", "", "", "5"])
    value = Secrets(terminal.home).get("hook_shop")
    assert said.code == 0, said.out
    assert value in said.out
    assert tomllib.loads(_kept(terminal))["hooks"]["shop"] == {
        "text": "Say what was ordered.",
        "hourly": 5,
        "secret": "hook_shop",
    }


def test_a_contact_and_a_project_are_asked_for_changed_and_removed(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, script=None)
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    assert terminal.type(["setup", "contacts"], ["Anna Weber", "mum"]).code == 0
    shown = terminal.run("contacts", "show", "mum").out
    assert "Anna Weber" in shown
    assert terminal.run("setup", "contacts.Anna Weber", "--remove").code == 0
    assert "Anna" not in terminal.run("contacts").out

    said = terminal.type(["setup", "projects"], ["shop", str(tmp_path / "shop"), "", "60"])
    assert "is there, under git" in said.out
    changed = terminal.type(["setup", "projects.shop"], ["", "", "90"])
    assert changed.code == 0, changed.out
    assert tomllib.loads(_kept(terminal))["projects"]["shop"]["time_limit"] == 90
    assert terminal.run("setup", "projects.shop", "--remove").code == 0
    assert "projects.shop" not in _kept(terminal)


def test_limits_quiet_hours_and_search_are_asked_for(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, script=None)
    wrong = terminal.type(["setup", "deliver"], ["late", "", "", ""])
    assert "22:00-07:00" in wrong.out
    assert terminal.type(["setup", "deliver"], ["22:00-07:00", "", "", ""]).code == 0
    assert terminal.type(["setup", "budget"], ["250", *[""] * 6]).code == 0
    searched = terminal.type(["setup", "web"], ["searxng", "", "http://127.0.0.1:9"])
    assert "The search at 127.0.0.1 failed" in searched.out
    told = tomllib.loads(_kept(terminal))
    assert told["deliver"]["quiet"] == "22:00-07:00"
    assert told["budget"]["day_cents"] == 250
    assert told["web"] == {"search": "searxng", "url": "http://127.0.0.1:9"}
