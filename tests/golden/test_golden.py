"""What people and programs see is what it was: every command, route, page, message and tool.

A change that is meant is written down with `REMIT_WRITE_GOLDEN=1 make test ARGS=tests/golden`, and
the difference of the files is looked at like any other.
"""

import difflib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import pytest
from starlette.routing import compile_path

from remit.server import app
from remit.server.web.settings import SECTIONS
from remit.system.files import locked
from tests import forks
from tests.golden import agent_rows, cli_rows, files, http_rows, page_rows, typed
from tests.golden.recording import Recording

REWRITE: Final = os.environ.get("REMIT_WRITE_GOLDEN") == "1"
LIMIT: Final = 800  # seconds, against a hang
MOST_BYTES: Final = 1_000_000
FILES: Final = (
    *("agents", "cli_alone", "cli_help", "cli_reads", "cli_writes", "http_reads", "http_writes"),
    *("live", "openapi", "page_forms", "pages", "pages_inbox", "pages_settings", "pages_tasks"),
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
    routes = [(each.method, each.path) for each in app.table(1, debug=True)]
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
    """Method and path of every row."""
    for each in (*http_rows.READS, *page_rows.PAGES):
        yield "GET", each.partition("?")[0]
    for method, path, _ in http_rows.WRITES:
        yield method, path
    for path, _ in page_rows.FORMS:
        yield "POST", path


def test_every_part_of_the_settings_is_shown() -> None:
    assert {f"/settings/{name}" for name in SECTIONS} <= set(page_rows.PAGES)


def test_every_command_is_typed() -> None:
    rows = (*cli_rows.READS, *cli_rows.WRITES, *cli_rows.ALONE)
    typed_lines = [row if isinstance(row, str) else row[0] for row in rows]
    untyped = [
        verb
        for verb in typed.verbs()
        if not any(f"{line} ".startswith(f"{verb} ") for line in typed_lines)
    ]

    assert untyped == []


def test_every_tool_of_other_agents_is_called(recording: Recording) -> None:
    listed = recording["agents.txt"]["mcp tools/list {}"]
    told = json.loads(listed[listed.index("{") :])
    called = {params.get("name") for method, params in agent_rows.MCP if method == "tools/call"}

    assert {tool["name"] for tool in told["result"]["tools"]} <= called
