"""How a command starts: what it may not import, and that plain words are bound as by cyclopts."""

import shlex
import subprocess
import sys
from typing import Final

import pytest
from cyclopts.exceptions import CycloptsError

from remit.cli.command_line import CommandLineError, UnknownCommand, bind
from remit.cli.help import build
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


# Words that are easily bound otherwise, or that are refused.
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
    "ls -n5",
    "ls -n=5",
    "ls -q=",
    "ls --json=false",
    "ls --json=1",
    "ls --json=maybe",
    "ls --no-json",
    "ls -lj",
    "inbox -lz",
    "ls --lim 5",
    "schedule next -3",
    "schedule next -- 3",
    "add -- --x",
    "add --text -- x",
    "add x --text --at",
    "add x --text -5",
    "add x --text -a",
    "add x --text=--at",
    "show --json -- a",
    "show -x",
    "answer a '-b c'",
    "answer a --wait",
    "decline a --text x",
    "approve --always a b",
    "run a --timeout -1",
    "run a --timeout nan",
    "ls --status NEEDS-REVIEW",
    "tokens add a --scope READ",
    "verify --files a --files b",
    "verify --files a b",
    "add x --file a --file b",
    "brain use LOCAL",
    "up -p -5",
    "chat -",
    "add x --in -2h",
    "add x --as-is=false",
    "restore -y f",
    "restore f -y=true",
    "service --json",
    "rehearse",
    "rehearse contract a --files=",
    "hooks nonsense",
    "ls -h",
    "hooks --help add",
    "hooks add --version",
)


TYPED: Final = [line for name in typed.FILES for line, _ in files.typed_lines(name)]


@for_each("line", [*ODD, *dict.fromkeys(TYPED)])
def test_words_are_bound_as_cyclopts_would_bind_them(line: str) -> None:
    words = shlex.split(line)
    try:
        mine = bind(words)
    except (CommandLineError, UnknownCommand):
        with pytest.raises(CycloptsError):
            build().parse_args(words, exit_on_error=False, print_error=False)
        return
    command, theirs, _ = build().parse_args(words, exit_on_error=False, print_error=False)
    if mine is None:
        assert command.__name__ in ("help_print", "version_print")
        return

    assert (command.__module__, command.__name__) == (
        mine.command.__module__,
        mine.command.__name__,
    )
    assert (tuple(mine.positional), mine.named) == (theirs.args, theirs.kwargs)
