"""A command line that cannot be read is answered by a sentence, and by one that can."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Final

import pytest
from cyclopts import App

from remit.cli.command_line import BoundCommand, example
from remit.cli.commands import CommandGroup, load
from remit.cli.help import build
from remit.cli.main import run

# Each is wrong in one way; what follows is its sentence.
WRONG = {
    "contacts add Anna email anna@example.org": (
        "`remit contacts add` takes NAME and options; email anna@example.org is too much."
        " For example: `remit contacts add Anna --channel email=anna@example.org`."
    ),
    "add": "`remit add` needs TEXT. For example: `remit add 'Water the plants'`.",
    "add --at": (
        "--at needs a value. For example: `remit add 'Water the plants' --at 2026-03-01T08:30:00Z`."
    ),
    "ls --limit many": (
        "--limit is 'many'; it must be a whole number. For example: `remit ls --limit 5`."
    ),
    "ls --limit 0": (
        "--limit is 0; it must be a whole number from 1 to 500. For example: `remit ls --limit 5`."
    ),
    "schedule next -3": (
        "COUNT is -3; it must be a whole number from 1 to 500."
        " For example: `remit schedule next 5`."
    ),
    "up --port 70000": (
        "--port is 70000; it must be a whole number from 0 to 65535."
        " For example: `remit up --port 8080`."
    ),
    "run 01JZ --timeout -1": (
        "--timeout is -1; it must be a number of 0 or more."
        " For example: `remit run task-01JZ --timeout 10`."
    ),
    "ls --json=maybe": (
        "--json takes no value; it is on if it stands there. For example: `remit ls --json`."
    ),
    "move": (
        "`remit move` needs --to."
        " For example: `remit move --to postgresql://remit@db.example.org/remit`."
    ),
    "tokens add me --scope fly": (
        "--scope is 'fly'; it must be one of read, write, approve, admin."
        " For example: `remit tokens add reader --scope read`."
    ),
    "decline 01JZ --text x": "--text is no option of this command; --help lists them.",
    "add x --to=": ("The recipient is empty; name a person, or leave it out: it is for you then."),
    "add x --work=": "A work item is empty; say what is to be done, or leave it out.",
    "schedule show !": (
        "'!' is not the beginning of an id; one looks like ser-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA."
        " `remit schedule` shows them."
    ),
    "--nope": "`remit` has no option --nope; it has --help and --version. Commands come first.",
    "ls --priority x": (
        "--priority is 'x'; it must be one of low, med, high, critical."
        " For example: `remit ls --priority low`."
    ),
    "ls --ids --ids": "--ids is given more than once; give it once. For example: `remit ls`.",
    "contacts call Anna": (
        "There is no command `remit contacts call`; there is allow."
        " `remit contacts --help` lists all."
    ),
    "shwo": "There is no command `remit shwo`; there is show. `remit --help` lists all.",
    "qqq": "There is no command `remit qqq`; and none like it. `remit --help` lists all.",
}

# What is refused before anything is done: the exit code, the line, and what is said of it.
REFUSED: Final = (
    (2, "add ''", "text is empty"),
    (2, "add x --at 2020-01-01T00:00:00Z", "has passed"),
    (2, "add x --at tomorrow", "is not a time"),
    (2, "add x --in 3x", "is not a span of time"),
    (2, "add x --in 1h --at 2099-01-01T00:00:00Z", "either --at or --in"),
    (2, "add x --text ' '", "content is empty"),
    (2, "add x --channel pigeon", "There is no channel 'pigeon'"),
    (2, "add x --priority huge", "must be one of low, med, high"),
    (2, "add", "needs TEXT"),
    (2, "pause", "Which one?"),
    (2, "pause '!'", "is not the beginning of an id"),
    (2, "approve 01ZZ 01YY --text x", "one review at a time"),
    (2, "ls --limit 0", "--limit is 0"),
    (2, "ls -q '?'", "at least one word"),
    (2, "ls --colour", "has no option --colour"),
    (2, "lst", "there is ls"),
    (2, "audit log-rebuild", "Name the tasks, or say --all"),
    (2, "restore nowhere.db", "There is no backup"),
    (2, "backup", "nothing to save yet"),
    (2, "completion tcsh", "must be one of bash, zsh, fish"),
    (2, "contacts add Bob --channel dashboard", "it must look like email="),
    (2, "contacts add Bob --id email=x", "gives no address on it"),
    (2, "contacts add ' '", "text on one line"),
    (2, "contacts add Bob --channel 'email=not an address'", "Write it like anna@example.org"),
    (2, "contacts add Bob --channel telegram=bob", "'bob' is no address for telegram."),
    (2, "contacts allow Zoe dashboard", "Who is 'Zoe'?"),
    (2, "contacts allow Zoe pigeon", "There is no channel 'pigeon'"),
    (2, "contacts allow you dashboard", "You are always written to"),
    (2, "schedule preview", "How often"),
    (2, "schedule preview 'now and then'", "does not say how often"),
    (2, "schedule preview 'every day'", "At what time"),
    (2, "schedule preview 2h --cron '* * * * *'", "not both"),
    (2, "schedule preview 2h --tz Atlantis", "no time zone"),
    (2, "schedule preview 2h --count 0", "--count is 0; it must be"),
    (2, "schedule preview 30s", "a minute is the least"),
    (2, "schedule preview --cron '0 8 13 * 5'", "cron means either"),
    (2, "schedule repeat 0000", "How often"),
    (2, "schedule repeat 0000 'now and then'", "does not say how often"),
    (2, "schedule set 0000", "--missed or --overlap"),
    (2, "schedule unskip 0000 --slot soon", "soon"),
    (2, "schedule move 0000 --to 2020-01-01T00:00:00Z", "has passed"),
    (2, "add x --every sometimes", "does not say how often"),
    (2, "add x --tz UTC", "--tz is the zone of"),
    (2, "add 'Tell me tomorrow at 9' --every 2h", "say it once"),
    (2, "setup", "nobody is at this terminal"),
    (3, "setup nonsense --test", "There is no section 'nonsense'"),
    (2, "setup channels.none --remove", "kind is ''"),
    (3, "setup budget --remove", "There is no section 'budget'"),
    (2, "add 'Remind me tomorrow at 5pm to stretch' --in 2h", "say it once"),
    (2, "tokens add bot --agent --scope approve", "An agent never decides"),
    (2, "tokens add bot --days 0", "--days is 0; it must be"),
    (2, "rehearse extract x --tz Mars/Base", "There is no zone"),
    (2, "rehearse gate --channel fax", "channel may be"),
    (3, "channels test carrier", "There is no channel 'carrier'; there are: none but"),
    (2, "channels test dashboard", "nothing to test"),
)


@pytest.mark.parametrize("typed", ["contacts ls", "hooks list", "secrets ls", "calendar list"])
def test_a_list_may_be_called_ls_or_list(typed: str) -> None:
    assert run(typed.split()) == 0


def commands(app: App, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    for name in app:
        if name.startswith("-"):
            continue
        if app[name].default_command is not None:
            yield (*path, name), app[name]
        yield from commands(app[name], (*path, name))


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))


@pytest.mark.parametrize("typed", WRONG)
def test_a_wrong_command_line_says_what_is_wrong_and_what_is_right(
    typed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(typed.split()) == 2
    assert " ".join(capfd.readouterr().err.split()) == WRONG[typed]


@pytest.mark.parametrize(("code", "typed", "sentence"), REFUSED)
def test_what_cannot_be_done_gets_a_sentence_and_its_code(
    capfd: pytest.CaptureFixture[str], code: int, typed: str, sentence: str
) -> None:
    assert run(shlex.split(typed)) == code
    said = capfd.readouterr()
    assert (sentence in said.err, said.out) == (True, "")


def test_every_command_refuses_what_it_does_not_know_with_an_example_that_it_accepts(
    capfd: pytest.CaptureFixture[str],
) -> None:
    root = build()
    for n, (path, app) in enumerate(commands(root)):
        typed = example(_command(path))
        root.parse_args(shlex.split(typed)[1:], exit_on_error=False, print_error=False)
        arguments = app.assemble_argument_collection()
        if any(each.parameter.allow_leading_hyphen for each in arguments):
            continue  # it takes any words
        takes_many = any(each.token_count()[1] for each in arguments)
        # Of the two mistakes now this, now that.
        words = ["--no-such-option"] if takes_many or n % 2 else ["a", "b", "c", "d", "e"]
        assert run([*path, *words]) == 2, path
        told = " ".join(capfd.readouterr().err.split())
        shown = re.search(r"For example: `(.+)`\.$|`remit.* --help` lists all\.$", told)
        assert shown, (path, told)
        assert shown[1] in (None, typed), (path, told)
        assert "remit " + " ".join(path) in told


def _command(path: tuple[str, ...]) -> BoundCommand:
    found = load(path[0])
    if isinstance(found, CommandGroup):
        found = found.load(path[1]) if path[1:] else found.default_command or found
    assert isinstance(found, FunctionType)
    return BoundCommand(path, found)
