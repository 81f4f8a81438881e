"""The usual changes of CONTRIBUTING.md, made in a copy of the package: each has its effect."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from tests.cli.terminal import LIMIT
from tests.tables import for_each

ROOT: Final = Path(__file__).parents[1]
MAX_FILES: Final = 5
PAGE: Final = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK: Final = re.compile(r"^```(py|toml|diff)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Scratch:
    """A copy of the package with every block of the page in it, and a home for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(mode=0o700)
        shutil.copytree(ROOT / "src", folder / "src")  # compiled files too: they stay valid
        shutil.copytree(ROOT / "docs/reference", folder / "docs/reference")
        for language, name, text in BLOCK.findall(PAGE):
            self._write(language, name, text)
        self.environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(folder / "src"),
            "REMIT_HOME": str(self.home),
            "TZ": "UTC",
        }

    def _write(self, language: str, name: str, text: str) -> None:
        path = self.home / name if name == "settings.toml" else self.folder / name
        if language == "diff":
            lines = text.splitlines(keepends=True)
            before = "".join(line[1:] for line in lines if line[0] != "+")
            after = "".join(line[1:] for line in lines if line[0] != "-")
            whole = path.read_text(encoding="utf-8")
            assert whole.count(before) == 1, f"{name} no longer has the lines that the page shows"
            text = whole.replace(before, after)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def remit(self, *words: str, **environ: str) -> str:
        done = subprocess.run(
            (sys.executable, "-m", "remit.cli.main", *words),
            cwd=self.home,
            env=self.environ | environ,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def up(self) -> Iterator[str]:
        """Run it, and yield its address."""
        with subprocess.Popen(
            (sys.executable, "-m", "remit.cli.main", "up", "--port", "0", "--json"),
            env=self.environ,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                yield str(json.loads(process.stdout.readline())["url"])
            finally:
                process.terminate()
                process.wait(LIMIT)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return Scratch(tmp_path_factory.mktemp("contributing"))


def test_a_channel_is_a_folder_that_sends_and_gives_a_receipt(scratch: Scratch) -> None:
    listed = json.loads(scratch.remit("channels", "--json"))["channels"]
    sent = json.loads(scratch.remit("channels", "test", "notes", "--json"))

    assert [(each["name"], each["kind"], each["verdict"]) for each in listed[1:]] == [
        ("notes", "notebook", "ok")
    ]
    assert sent["status"] == "sent"
    lines = (scratch.home / "notes.txt").read_text()
    assert lines[int(sent["receipt"].removeprefix("line-at-")) :].startswith("me: Test message ")


def test_a_setting_takes_effect(scratch: Scratch) -> None:
    scratch.remit("channels", "test", "notes", REMIT_DELIVER_TEST_TEXT="Have a good day.")

    assert (scratch.home / "notes.txt").read_text().endswith("on notes. Have a good day.\n")


def test_a_word_of_a_language_is_understood(scratch: Scratch) -> None:
    said = ("Remind me of the tea tomorrow at elevenses", "--now", "2026-11-16T08:00:00Z")
    (task,) = json.loads(scratch.remit("rehearse", "extract", *said, "--json"))["tasks"]

    assert task["scheduled_for"] == "2026-11-17T11:00:00.000Z"


def test_an_operation_sets_a_field_and_an_event_tells_of_it(scratch: Scratch) -> None:
    (task,) = json.loads(scratch.remit("add", "Water the plants tomorrow at 9", "--json"))["tasks"]
    with scratch.up() as url:
        token = (scratch.home / "token").read_text().strip()
        line = HTTPConnection(urlsplit(url).netloc, timeout=LIMIT)
        line.request(
            "POST",
            f"/api/tasks/{task['id']}/remark",
            json.dumps({"text": "The ferns, too"}),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        remarked = json.load(line.getresponse())
        line.close()

    assert remarked["remark"] == "The ferns, too"
    assert (
        json.loads(scratch.remit("show", task["id"], "--json"))["task"]["remark"]
        == "The ferns, too"
    )
    assert "You wrote beside it: The ferns, too." in scratch.remit("log", task["id"])


@for_each("change", re.findall(r"^### (.+)$", PAGE, re.MULTILINE))
def test_a_usual_change_touches_few_files(change: str) -> None:
    part = PAGE.partition(f"### {change}\n")[2].partition("\n##")[0]
    files = {name for _, name, _ in BLOCK.findall(part) if name != "settings.toml"}

    assert 1 <= len(files) <= MAX_FILES
