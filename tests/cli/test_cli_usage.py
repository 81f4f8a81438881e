"""A command line that cannot be read is answered by a sentence, and by one that can."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from remit.cli.full_parser import build
from remit.cli.main import run
from remit.cli.usage_error import example

# Each is wrong in one way; what follows is its sentence.
WRONG = {
    "contacts add Anna email anna@example.org": (
        "`remit contacts add` takes NAME and options; email anna@example.org is too much."
        " For example: `remit contacts add Anna --channel email=anna@example.org`."
    ),
    "add": "`remit add` needs TEXT. For example: `remit add 'Water the plants'`.",
    "add --at": "--at needs a value. For example: `remit add 'Water the plants' --at …`.",
    "ls --limit many": (
        "--limit is 'many'; it must be a whole number. For example: `remit ls --limit 5`."
    ),
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


def test_every_command_refuses_what_it_does_not_know_with_an_example_that_it_accepts(
    capfd: pytest.CaptureFixture[str],
) -> None:
    root = build()
    for path, app in commands(root):
        typed = example(app, path)
        root.parse_args(shlex.split(typed)[1:], exit_on_error=False, print_error=False)
        arguments = app.assemble_argument_collection()
        if any(each.parameter.allow_leading_hyphen for each in arguments):
            continue  # it takes any words
        takes_many = any(each.token_count()[1] for each in arguments)
        wrong = [["--no-such-option"], *([] if takes_many else [["a", "b", "c", "d", "e"]])]
        for words in wrong:
            assert run([*path, *words]) == 2, path
            told = " ".join(capfd.readouterr().err.split())
            shown = re.search(r"For example: `(.+)`\.$|`remit.* --help` lists all\.$", told)
            assert shown, (path, told)
            assert shown[1] in (None, typed), (path, told)
            assert "remit " + " ".join(path) in told
