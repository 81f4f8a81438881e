"""How a command starts: what it may not import, and that plain words are bound as by cyclopts."""

import shlex
import subprocess
import sys
from typing import Final

import pytest

from remit.cli.commands import NotPlain, bind
from remit.cli.full_parser import build
from tests.cli.terminal import Terminal
from tests.golden import files, typed
from tests.tables import for_each

# Nothing but help and mistakes needs these, or they belong to a running Remit alone.
ALWAYS: Final = """cyclopts rich pydantic starlette uvicorn jinja2 httpx2 markdown_it nh3 keyring
    cryptography numpy importlib.resources tempfile urllib.request remit.server.call remit.engine
    remit.run remit.gate remit.verify remit.reflect remit.converse remit.calendar
    remit.wiring.app"""
# One write into the file needs an event loop, the reader and the recall index, but no web client.
WRITE: Final = f"{ALWAYS} dataclasses email http.client yaml re2 remit.plan"
# To read the settings and the file takes neither.
LIST: Final = f"{WRITE} asyncio ssl subprocess logging inspect typing_extensions remit.wiring"
READ: Final = f"{LIST} tomllib zoneinfo hashlib remit.contacts remit.language remit.intake"
PAGE: Final = f"{READ} pathlib sqlite3 remit.settings remit.store"
# What each may load is said once; those that may load the same are run in one process.
COMMANDS: Final = {
    PAGE: ("--version", "--help"),
    READ: ("ls", "ls --json --limit 1", "show {id}", "why {id}", "log {id}"),
    f"{LIST} remit.intake remit.contacts remit.language": ("inbox", "calendar"),
    LIST: ("hooks", "notices", "tokens", "schedule"),
    WRITE: (
        *("contacts", "doors", "edit {id} --title Sea", "pause {id}"),
        "add 'Write a poem about the sea'",
    ),
    ALWAYS: ("channels", "doctor"),
}


@pytest.fixture(scope="module")
def seat(tmp_path_factory: pytest.TempPathFactory) -> tuple[Terminal, str]:
    terminal = Terminal(tmp_path_factory.mktemp("start"), script=None)
    return terminal, terminal.add("Write a poem", "--in", "1d")


@pytest.mark.parametrize(("heavy", "lines"), COMMANDS.items(), ids=map(" ".join, COMMANDS.values()))
def test_a_command_imports_nothing_heavy_that_it_does_not_need(
    seat: tuple[Terminal, str], heavy: str, lines: tuple[str, ...]
) -> None:
    terminal, task = seat
    words = [shlex.split(line.format(id=task)) for line in lines]

    program = (
        "import sys; from remit.cli.main import run;"
        f" failed = any([run(each) for each in {words!r}]); {_loaded(heavy.split())};"
        " sys.exit(failed)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=terminal._environ({}),
        stdin=subprocess.DEVNULL,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "loaded:"


def test_the_reader_without_a_model_imports_little() -> None:
    heavy = "asyncio dataclasses inspect typing_extensions tomllib hashlib pathlib sqlite3 calendar"
    program = f"import sys, remit.intake.plain_reader; {_loaded([*heavy.split(), 'remit.store'])}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stderr.splitlines()[-1] == "loaded:"


def _loaded(names: list[str]) -> str:
    return f"print('loaded:', *[x for x in {names!r} if x in sys.modules], file=sys.stderr)"


# Words that look alike to both, or that only the full parser may judge.
ODD: Final = (
    "ls -n 3 -s needs-review --status=failed --all",
    "ls --limit 007",
    "ls --limit -1",
    "ls --limit=",
    "ls --ids --ids",
    "ls --limit 1 --limit 2",
    "ls extra",
    "ls --status Done",
    "ls --status NEW",
    "ls -- --ids",
    "ls --limit",
    "ls --json=true",
    "ls -q -5",
    "ls -nq",
    "show",
    "show - a b --json",
    "add -",
    "add '- milk'",
    "add ''",
    "add a b",
    "add x -w one -w two --in 2h --text='-5' --as-is",
    "add x --timeout 1.5 --wait",
    "add x --timeout 1e3",
    "add x --priority high --to none",
    "schedule next 4",
    "schedule next x",
    "schedule 4",
    "hooks add",
    "hooks --json ls",
    "tokens add me --scope read --scope write --days 3",
    "completion bash",
    "completion tcsh",
    "recall find 'two parks' -n 2",
    "rules history --json",
    "rehearse contract 'Mend it'",
    "backup --to /tmp/x",
    "hitl -l",
)


TYPED: Final = [line for name in typed.FILES for line, _ in files.typed_lines(name)]


@for_each("line", [*ODD, *dict.fromkeys(TYPED)])
def test_plain_words_are_bound_as_the_full_parser_binds_them(line: str) -> None:
    words = shlex.split(line)
    try:
        mine = bind(words)
    except NotPlain:
        return  # the full parser judges
    command, theirs, _ = build().parse_args(words, exit_on_error=False, print_error=False)

    assert (command.__module__, command.__name__) == (
        mine.command.__module__,
        mine.command.__name__,
    )
    assert (tuple(mine.positional), mine.named) == (theirs.args, theirs.kwargs)
