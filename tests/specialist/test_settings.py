"""Who does code work, as the settings say: read whole, or refused with what would be right."""

from pathlib import Path

import pytest

from remit.errors import BadInput
from remit.settings import load
from remit.settings.projects import SpecialistKind, SpecialistSettings
from tests.tables import for_each, table


def settings(home: Path, text: str) -> dict[str, SpecialistSettings]:
    (home / "settings.toml").write_text(text)
    return dict(load({"REMIT_HOME": str(home)}).specialists)


def test_three_kinds_can_be_set_up(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        """
        [specialists.claude]
        kind = "acp"
        argv = ["claude-agent-acp"]
        capabilities = ["code", "web"]
        env = ["ANTHROPIC_API_KEY"]
        time_limit = 900
        [specialists.aider]
        kind = "command"
        argv = ["aider", "--message-file", "{prompt_file}"]
        [specialists.brain]
        kind = "brain"
        """,
    )

    assert list(found) == ["claude", "aider", "brain"]
    assert found["claude"] == SpecialistSettings(
        kind=SpecialistKind.ACP,
        argv=("claude-agent-acp",),
        capabilities=("code", "web"),
        env=("ANTHROPIC_API_KEY",),
        time_limit=900,
    )
    assert found["brain"].time_limit == 1800


@for_each(
    ("line", "why"),
    table(__file__, "wrong"),
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        settings(tmp_path, f"[specialists]\n{line}\n")

    assert why in str(refused.value)
    assert "[specialists." in str(refused.value)


def test_a_program_is_in_a_sandbox_without_network_unless_the_owner_says_otherwise(
    tmp_path: Path,
) -> None:
    found = settings(
        tmp_path,
        """
        [specialists.plain]
        kind = "command"
        argv = ["x"]
        [specialists.free]
        kind = "command"
        argv = ["x"]
        sandbox = false
        [specialists.claude]
        kind = "acp"
        argv = ["x"]
        network = true
        reads = ["/data/fonts"]
        writes = ["~/.claude", "~/.claude.json"]
        """,
    )

    plain, free, claude = found.values()
    assert (plain.sandbox, plain.network, plain.reads, plain.writes) == (True, False, (), ())
    assert not free.sandbox
    assert (claude.sandbox, claude.network) == (True, True)
    assert claude.writes == ("~/.claude", "~/.claude.json")


@for_each(
    ("line", "why"),
    [
        ("chains = 3", "chains must be"),
        ('chains = { "Front End" = ["a"] }', "a kind is a word such as frontend"),
        ("chains = { frontend = [] }", 'chains.frontend must be a list such as ["claude"]'),
        ('chains = { frontend = "a" }', 'chains.frontend must be a list such as ["claude"]'),
    ],
)
def test_a_chain_that_is_wrong_is_named_with_its_place(tmp_path: Path, line: str, why: str) -> None:
    text = f'[projects.shop]\npath = "/data/shop"\n{line}\n'
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(BadInput) as refused:
        load({"REMIT_HOME": str(tmp_path)})

    assert why in str(refused.value)
    assert "[projects.shop]" in str(refused.value)


def test_a_list_of_specialists_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="must be a table of specialists"):
        settings(tmp_path, "specialists = []\n")
