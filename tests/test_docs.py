"""The docs are true: examples run, tables equal the code, links lead somewhere."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Final

import pytest
from cyclopts import App
from msgspec import Struct

from remit.cli import codes
from remit.cli.help import build
from remit.model.review import OPTIONS
from remit.model.status import MOVES, Actor, Reason, Status
from remit.model.view import JsonView, show
from remit.server.app import table
from remit.server.problem import KINDS
from remit.settings import DEFAULT_FILE, Settings
from remit.settings.parts import FallbackSettings
from tests.docs_picture import draw
from tests.docs_terminal import ROOT, Block, Terminal, blocks, differences
from tests.model.lifecycle_checks import task_in
from tests.model.test_words import WORDS
from tests.tables import for_each

DOCS: Final = ROOT / "docs"
README: Final = ROOT / "README.md"
QUICKSTART: Final = DOCS / "quickstart.md"
PICTURE: Final = DOCS / "img/held.svg"  # the README shows it
PAGES: Final = [
    README,
    *(ROOT / name for name in ("AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(DOCS.rglob("*.md")),
]
REWRITE: Final = os.environ.get("REMIT_WRITE_GOLDEN") == "1"
# What runs, and what is there to be read.
KNOWN: Final = {"python", "console"} | {"sh", "text", "json", "toml", "yaml", "diff", "py"}


def _text(page: str) -> str:
    return (DOCS / page).read_text()


def _with(language: str) -> list[Path]:
    return [page for page in PAGES if any(b.language == language for b in blocks(page))]


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# A flag of its own, not the refusal of one (--no-wait) and not a place (IDS).
FLAG: Final = re.compile(r"--?(?!no-|empty-)[a-z]")

every_page = pytest.mark.parametrize("page", PAGES, ids=_name)


# Examples -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", _with("python"), ids=_name)
def test_the_python_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REMIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for block in blocks(page):
        if block.language == "python":
            exec(_compiled(page, block), {"__name__": "__main__"})  # noqa: S102 - our own docs


@for_each("page", _with("python"))
def test_the_python_of_a_page_says_what_must_hold(page: Path) -> None:
    for block in blocks(page):
        if block.language == "python":
            walked = ast.walk(ast.parse(block.text))
            assert any(isinstance(node, ast.Assert) for node in walked), f"line {block.line}"


@pytest.mark.parametrize("page", _with("console"), ids=_name)
def test_the_commands_of_a_page_show_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    if REWRITE:
        _record(page, tmp_path / "recorded")
    (tmp_path / "played").mkdir()
    with Terminal(tmp_path / "played") as terminal:
        for block in blocks(page):
            if block.language == "console":
                terminal.play(block)


@for_each(
    ("wanted", "shown"),
    [
        (["Sent."], ["Refused."]),
        (["Sent.", "Done."], ["Sent."]),
        (["Sent."], ["Sent.", "And one more thing."]),
        (["…", "Done."], ["Sent."]),
        (["Task task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA is new."], ["Task one is new."]),
        (["Sent to…"], ["Given to Anna"]),
    ],
)
def test_a_page_that_shows_something_else_is_seen(wanted: list[str], shown: list[str]) -> None:
    assert differences(wanted, shown)


def test_ids_times_and_what_is_left_out_may_differ() -> None:
    wanted = [
        "01KA2B3C4D completed just now",
        "…",
        "Listens http://127.0.0.1:7316",
        "Saved in 0.1 s",
    ]
    shown = [
        "01KZ9Y8X7W completed 2 min ago",
        "a",
        "b",
        "Listens http://127.0.0.1:9",
        "Saved in 9.9 s",
    ]

    assert differences(wanted, shown) is None


@every_page
def test_a_block_says_whether_it_runs(page: Path) -> None:
    strange = [f"line {b.line}: {b.language!r}" for b in blocks(page) if b.language not in KNOWN]

    assert strange == []


@every_page
def test_a_block_that_looks_like_a_terminal_is_played(page: Path) -> None:
    idle = [b.line for b in blocks(page) if b.language != "console" and b.text.startswith("$ ")]

    assert idle == []


def _record(page: Path, folder: Path) -> None:
    """Write what the commands of a page really show into the page."""
    folder.mkdir()
    text, written, done = page.read_text(), "", 0
    with Terminal(folder, played=False) as terminal:
        for block in blocks(page):
            if block.language == "console":
                written += text[done : block.at] + terminal.record(block)
                done = block.at + len(block.text)
    page.write_text(written + text[done:])
    if page == QUICKSTART:
        PICTURE.write_text(draw(_pictured()))


def _compiled(page: Path, block: Block) -> CodeType:
    # Empty lines first, so that a traceback names the line of the page.
    return compile("\n" * (block.line - 1) + block.text, str(page), "exec")


# Links --------------------------------------------------------------------------------------------


@every_page
def test_a_link_leads_somewhere(page: Path) -> None:
    broken = [link for link in _links(page) if not _resolves(page, link)]

    assert broken == []


def test_a_broken_link_is_seen() -> None:
    assert not _resolves(DOCS / "index.md", "nowhere.md")
    assert not _resolves(DOCS / "index.md", "lifecycle.md#nowhere")
    assert _resolves(DOCS / "index.md", "lifecycle.md#the-moves")


def test_the_index_names_every_page() -> None:
    named = {(DOCS / link.partition("#")[0]).resolve() for link in _links(DOCS / "index.md")}

    assert set(DOCS.rglob("*.md")) - named == {DOCS / "index.md"}


def _links(page: Path) -> Iterator[str]:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not link.startswith(("http:", "https:", "mailto:")):
            yield link


def _resolves(page: Path, link: str) -> bool:
    path, _, place = link.partition("#")
    to = (page.parent / path).resolve() if path else page
    if not to.exists() or not to.is_relative_to(ROOT):
        return False
    return not place or place in _places(to)


def _places(page: Path) -> set[str]:
    titles = re.findall(r"^#+ +(.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


# Tables -------------------------------------------------------------------------------------------


def test_the_table_of_moves_is_the_table_in_the_code() -> None:
    rows = [f"| {was} | {to} | {who} | {when} |" for was, to, who, when in _joined_moves()]

    _same_table("moves", ["| from | to | who | when |", "|---|---|---|---|", *rows])


def test_the_table_of_views_is_what_the_views_show() -> None:
    rows = [
        f"| {status} | {show(task_in(status), JsonView.S3)['status']} |"
        f" {show(task_in(status), JsonView.S4)['status']} |"
        for status in Status
    ]

    _same_table("views", ["| ours | `s3` | `s4` |", "|---|---|---|", *rows])


def test_every_reason_to_ask_and_every_answer_is_told() -> None:
    told = {row[0]: row[2] for row in _table(DOCS / "lifecycle.md", "reason")}

    assert told == {f"`{reason}`": ", ".join(OPTIONS[reason]) for reason in Reason}


def test_every_status_is_told() -> None:
    told = [row[0] for row in _table(DOCS / "lifecycle.md", "status")]

    assert told == [f"`{status}`" for status in Status]


def test_every_word_of_the_app_has_one_line_in_the_glossary() -> None:
    told = re.findall(r"^- \*\*(\w+)\*\*: ", _text("concepts.md"), re.MULTILINE)

    assert sorted(told) == sorted(WORDS)


def test_every_setting_is_told_with_its_default() -> None:
    page = DOCS / "reference/settings.md"
    shown = tomllib.loads(next(b.text for b in blocks(page) if b.language == "toml"))
    empty = re.findall(r"`([\w.]+)`", " ".join(row[0] for row in _table(page, "table")))
    there = dict(_settings(Settings(home=Path())))

    assert dict(_flat(shown)) | {name: {} for name in empty} == there


def test_the_default_file_names_no_setting_that_is_not_there() -> None:
    there = {name.rpartition(".")[2] for name, _ in _settings(Settings(home=Path()))}
    named = set(re.findall(r"^# (\w+) = ", DEFAULT_FILE, re.MULTILINE)) - {"caldav", "files"}

    assert named <= there


def test_every_route_is_told() -> None:
    routes = _text("reference/api.md").partition("## Routes\n")[2].partition("\n## ")[0]
    told = re.findall(r"`((?:GET|POST|PATCH|DELETE) /[^`]*)`", routes)
    there = [f"{route.method} {route.path}" for route in table(7316, debug=True) if not route.page]

    assert sorted(told) == sorted(there)


def test_every_refusal_of_the_api_is_told() -> None:
    told = {(row[1], row[0]) for row in _table(DOCS / "reference/api.md", "status")}

    assert told == {(f"`{name}`", str(status)) for name, (status, _) in KINDS.items()}


def test_every_command_is_told_with_its_flags() -> None:
    command = r"^- `([a-z -]+?)(?: [A-Z[-][^`]*)?`: (.*\n(?:  .*\n)*)"
    sections = re.findall(command, _text("reference/cli.md"), re.MULTILINE)
    told = {name: set(re.findall(r"`(--?[a-z-]+)`", text)) for name, text in sections}
    there = dict(_commands(build()))

    assert all("--json" in flags for flags in there.values())
    assert told == {name: flags - {"--json"} for name, flags in there.items()}


def test_every_exit_code_is_told() -> None:
    there = {str(code) for name, code in vars(codes).items() if name.isupper() and name[0] != "_"}
    told = {row[0] for row in _table(DOCS / "reference/cli.md", "code")}

    assert told == there


def _commands(app: App, above: str = "") -> Iterator[tuple[str, set[str]]]:
    """Every command with its flags; `hitl` is only another name for `inbox`."""
    for name in app:
        if name.startswith("-") or name == "hitl":
            continue
        command, whole = app[name], f"{above} {name}".strip()
        if any(not inner.startswith("-") for inner in command):
            yield from _commands(command, whole)
        else:
            arguments = command.assemble_argument_collection()
            yield whole, {flag for each in arguments for flag in each.names if FLAG.match(flag)}


def _joined_moves() -> list[list[str]]:
    """The moves in order; those that differ in one end only are one row."""
    rows: list[list[str]] = []
    for move in MOVES:
        row = [str(move.was), str(move.to), _who(move.by), move.when]
        same = [each for each in rows if each[2:] == row[2:]]
        if found := next((each for each in same if each[1] == row[1]), None):
            found[0] += f", {row[0]}"
        elif found := next((each for each in same if each[0] == row[0]), None):
            found[1] += f", {row[1]}"
        else:
            rows.append(row)
    return rows


def _who(actors: frozenset[Actor]) -> str:
    return ", ".join(actor for actor in Actor if actor in actors)


def _settings(part: Struct, above: str = "") -> Iterator[tuple[str, object]]:
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if field == "home":
            continue
        if isinstance(value, FallbackSettings):
            value = value.model  # may be written as a text
        if isinstance(value, Struct):
            yield from _settings(value, f"{field}.")
            continue
        yield f"{above}{field}", json.loads(json.dumps(value))


def _flat(table: dict[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _table(page: Path, head: str) -> list[list[str]]:
    """The rows of every table of a page whose first column is headed so."""
    found = re.finditer(
        rf"^\| {head} \|.*\n\|[-:| ]+\|\n((?:\|.*\n?)+)", page.read_text(), re.MULTILINE
    )
    rows = [row for each in found for row in each[1].splitlines()]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def _same_table(name: str, wanted: list[str]) -> None:
    """Compare a table of the page with what it must be; REMIT_WRITE_GOLDEN=1 writes it."""
    page = DOCS / "lifecycle.md"
    marks = re.compile(rf"(<!-- {name}:[^\n]*-->\n)(.*?)(<!-- /{name} -->)", re.DOTALL)
    text = page.read_text()
    if REWRITE:
        body = "\n".join(wanted)
        text = marks.sub(lambda found: f"{found[1]}{body}\n{found[3]}", text)
        page.write_text(text)
    found = marks.search(text)

    assert found, f"{_name(page)} has no place for the table of {name}"
    assert found[2].splitlines() == wanted


# The front door -----------------------------------------------------------------------------------


def test_the_readme_starts_with_the_two_commands() -> None:
    first = next(iter(blocks(README)))
    commands = [line.split("#")[0].strip() for line in first.text.splitlines()]

    assert commands == ["make run", "make test"]
    assert first.line < 12


@pytest.mark.parametrize(
    ("target", "does"), [("run", ".venv/bin/remit up"), ("hitl", ".venv/bin/remit inbox")]
)
def test_make_does_what_the_played_make_does(target: str, does: str) -> None:
    plain = {name: value for name, value in os.environ.items() if name != "REMIT_HOME"}
    made = subprocess.run(
        ["make", "--dry-run", "--always-make", target],
        cwd=ROOT,
        env=plain,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert f'REMIT_HOME="{ROOT}/.remit" exec {does}' in made.stdout


def test_every_target_of_make_that_the_docs_name_is_there() -> None:
    targets = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        found
        for page in PAGES
        for found in re.findall(r"(?:`|^)make ([a-z]+)\b", page.read_text(), re.MULTILINE)
    }

    assert named - targets == set()
    assert {"run", "test"} <= named


def test_the_picture_shows_what_the_quickstart_tells() -> None:
    assert PICTURE.read_text() == draw(_pictured())


def _pictured() -> Block:
    return next(block for block in blocks(QUICKSTART) if "packing list" in block.text)
