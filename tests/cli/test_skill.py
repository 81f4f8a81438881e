"""The skill for coding agents: every command in it runs, and it sends nobody to decide."""

import re
import shlex
from pathlib import Path
from typing import Final

import pytest
import yaml

from remit.cli import codes
from tests.cli.terminal import Terminal

SKILL: Final = Path(__file__).parents[2] / "skills/remit/SKILL.md"
TEXT: Final = SKILL.read_text(encoding="utf-8")
COMMANDS: Final = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]
DECIDES: Final = "approve back answer decline arrived resend drop undo".split()  # noqa: SIM905
_PLANNED: Final = ("pause", "run", "cancel")


@pytest.fixture(scope="module")
def seat(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    return Terminal(tmp_path_factory.mktemp("skill"))


def _task(seat: Terminal, verb: str) -> str:
    """One that the verb can be said of."""
    if verb in _PLANNED:
        return seat.add("Find two parks", "--in", "3d")
    if verb == "resume":
        paused = seat.add("Find two parks", "--in", "3d")
        seat.run("pause", paused)
        return paused
    done = seat.run("add", "Find two parks", "--as-is", "--wait", "--key", "done", "--json")
    return str(done.maps("tasks")[0]["id"])


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_skill_does_what_it_says(seat: Terminal, line: str) -> None:
    program, *words = shlex.split(line)
    if "ID" in words:
        words[words.index("ID")] = _task(seat, words[0])
    said = seat.run(*words)

    assert program == "remit"
    assert "--json" in words
    if words[0] == "doctor":  # what it finds is about the machine
        assert said.code in (codes.DONE, codes.FAILED)
    else:
        assert said.code == codes.DONE, said.err + said.out
    assert said.lines[0]["schema_version"] == 1


def test_the_skill_names_many_commands_and_none_that_decides() -> None:
    verbs = [shlex.split(line)[1] for line in COMMANDS]

    assert len(verbs) > 15
    assert not set(verbs) & set(DECIDES)
    assert all(f"`{verb}`" in TEXT for verb in DECIDES)  # named, as not for it


def test_a_question_ends_with_the_code_that_the_skill_tells(seat: Terminal) -> None:
    said = seat.run("add", "Renew my passport", "--as-is", "--wait", "--json")
    told = dict(re.findall(r"^\| (\d+) \| (.*?) \|$", TEXT, re.MULTILINE))

    assert said.code == codes.WAITS
    assert "waits for the person" in told[str(codes.WAITS)]
    known = {str(code) for name, code in vars(codes).items() if name.isupper() and name[0] != "_"}
    assert set(told) <= known


def test_the_skill_has_a_head_that_agents_can_read() -> None:
    _, head, body = TEXT.split("---\n", 2)
    told = yaml.safe_load(head)

    assert set(told) == {"name", "description"}
    assert told["name"] == SKILL.parent.name
    assert len(told["description"]) <= 1024
    assert len(body.splitlines()) <= 500
