"""What people and programs see is what it was: every command, route, page, message and tool.

A change that is meant is written down with `REMIT_WRITE_GOLDEN=1 make test ARGS=tests/golden`, and
the difference of the files is looked at like any other.
"""

import difflib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import pytest
from starlette.routing import compile_path

from remit.cli.help import build
from remit.model.codec import JsonMap
from remit.server import app as pages_app
from remit.server.web.settings import SECTIONS
from remit.system.files import locked
from tests import forks
from tests.golden import files, typed
from tests.golden.recording import Recording

REWRITE: Final = os.environ.get("REMIT_WRITE_GOLDEN") == "1"
LIMIT: Final = 800  # seconds, against a hang
MOST_BYTES: Final = 1_000_000
FILES: Final = (
    *("agents", "cli_alone", "cli_help", "cli_reads", "cli_writes", "http_reads", "http_writes"),
    *("live", "openapi", "page_forms", *files.PAGES),
)
pytestmark = pytest.mark.timeout(900)  # whoever is first plays the day, on a busy machine too
HOW: Final = "If this is meant: REMIT_WRITE_GOLDEN=1 make test ARGS=tests/golden"


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """The day, played once for all processes that run tests."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    made = shared / "golden.json"
    with locked(shared):
        if not made.exists():
            _play(made, tmp_path_factory.mktemp("golden"))
    recorded = cast("Recording", json.loads(made.read_text("utf-8")))
    if REWRITE:
        for name, sections in recorded.items():
            (files.PLACE / name).write_text(files.write(sections), encoding="utf-8")
    return recorded


def _play(made: Path, folder: Path) -> None:
    kept = (*forks.PLAIN, "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
    environ = {name: os.environ[name] for name in kept if name in os.environ}
    draft = made.with_suffix(".draft")
    command = [sys.executable, "-m", "tests.golden.recording", str(draft), str(folder)]
    subprocess.run(command, cwd=forks.ROOT, env=environ, check=True, timeout=LIMIT)
    draft.rename(made)


@pytest.mark.parametrize("name", FILES)
def test_what_is_shown_is_to_the_byte_what_the_golden_file_has(
    recording: Recording, name: str
) -> None:
    shown = files.write(recording[f"{name}.txt"])
    golden = files.PLACE / f"{name}.txt"
    expected = golden.read_text("utf-8") if golden.exists() else ""
    if shown != expected:
        pytest.fail("\n".join([*_differences(expected, shown), HOW]))


def _differences(expected: str, shown: str) -> list[str]:
    """The first lines that differ, each with the section it stands in."""
    lines = difflib.unified_diff(expected.splitlines(), shown.splitlines(), "golden", "now", n=3)
    return [line[:400] for line in lines][:60]


def test_there_is_a_golden_file_for_all_that_is_recorded_and_none_besides(
    recording: Recording,
) -> None:
    kept = {path.stem for path in files.PLACE.iterdir()}

    assert kept == set(FILES) == {Path(each).stem for each in recording}
    assert sum(path.stat().st_size for path in files.PLACE.iterdir()) < MOST_BYTES


# What exists has a golden -------------------------------------------------------------------------


def test_every_route_and_page_is_asked() -> None:
    routes = [(each.method, each.path) for each in pages_app.table(1, debug=True)]
    patterns = [(method, path, compile_path(path)[0]) for method, path in routes]
    asked = {
        next(
            (
                (known, path)
                for known, path, found in patterns
                if known == method and found.match(at)
            ),
            None,
        )
        for method, at in _asked()
    }

    assert [route for route in routes if route not in asked] == [("GET", "/openapi.json")]


def _asked() -> Iterator[tuple[str, str]]:
    """Method and path of every request."""
    for name in ("http_reads", *files.PAGES, "http_writes", "page_forms"):
        for method, path, _ in files.http_requests(name):
            yield method, path.partition("?")[0]


def test_every_part_of_the_settings_is_shown() -> None:
    assert {("GET", f"/settings/{name}") for name in SECTIONS} <= set(_asked())


def test_every_command_is_typed() -> None:
    typed_lines = [f"{line} " for name in typed.FILES for line, _ in files.typed_lines(name)]
    commands = [*typed.commands(build())]
    untyped = [
        command
        for command in commands
        if not any(line.startswith(f"{command} ") for line in typed_lines)
    ]
    helped = [line.removesuffix("--help").strip() for line, _ in files.typed_lines("cli_help")]

    assert untyped == [], "Write `=== remit ` and a line for each into expected/cli_reads.txt."
    assert helped == ["", *commands], "Write a title for the help of each into cli_help.txt."


def test_what_a_command_prints_for_a_program_is_json_with_its_version(recording: Recording) -> None:
    shown = [
        (title, text)
        for name in typed.FILES
        for title, text in recording[f"{name}.txt"].items()
        if "--json" in title
    ]
    for title, text in shown:
        printed, *ends = re.split("^--- ", text.replace('"seq": N', '"seq": 0'), flags=re.MULTILINE)
        found = [*_objects(printed)]
        assert found, title
        assert all(each["schema_version"] == 1 for each in found), title
        if "exit" in found[-1]:
            assert ends[-1] == f"exit {found[-1]['exit']}\n", title
            assert str(found[-1]["detail"]) in ends[0], title

    assert len(shown) > 30


def _objects(text: str) -> Iterator[JsonMap]:
    """The objects that stand one after the other."""
    while text := text.strip():
        found, end = json.JSONDecoder().raw_decode(text)
        yield found
        text = text[end:]


def test_every_tool_of_other_agents_is_called(recording: Recording) -> None:
    listed = recording["agents.txt"]["mcp tools/list {}"]
    told = json.loads(listed[listed.index("{") :])
    called = {
        json.loads(params).get("name")
        for protocol, method, params in files.http_requests("agents")
        if (protocol, method) == ("mcp", "tools/call")
    }

    assert {tool["name"] for tool in told["result"]["tools"]} <= called
