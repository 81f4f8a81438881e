"""Who does code work, as the settings say: read whole, or refused with what would be right."""

from pathlib import Path

import pytest

from remit.errors import BadInput
from remit.settings import load
from remit.settings.specialists import Kind, Specialist


def settings(home: Path, text: str) -> dict[str, Specialist]:
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
    assert found["claude"] == Specialist(
        kind=Kind.ACP,
        argv=("claude-agent-acp",),
        capabilities=("code", "web"),
        env=("ANTHROPIC_API_KEY",),
        time_limit=900,
    )
    assert found["brain"].time_limit == 1800


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('a = { argv = ["x"] }', "lacks the field 'kind'"),
        ('a = { kind = "robot" }', "it may be brain, command, acp"),
        ('a = { kind = "command" }', "argv must name a program"),
        ('a = { kind = "command", argv = [""] }', "argv must name a program"),
        ('a = { kind = "command", argv = "x -y" }', "argv must be a list"),
        ('a = { kind = "brain", argv = ["x"] }', "a brain has no argv"),
        ('a = { kind = "acp", argv = ["x", "{prompt_file}"] }', "is for commands"),
        ('a = { kind = "acp", argv = ["x"], env = ["KEY=value"] }', "variables, not values"),
        ('a = { kind = "brain", capabilities = [" "] }', "a capability is not empty"),
        ('a = { kind = "brain", time_limit = 0 }', "above 0"),
        ('a = { kind = "brain", speed = 3 }', "Known: kind, argv"),
        ('"A b" = { kind = "brain" }', "a name is of small letters"),
        ("a = 3", "must be a table with a kind"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        settings(tmp_path, f"[specialists]\n{line}\n")

    assert why in str(refused.value)
    assert "[specialists." in str(refused.value)


def test_a_list_of_specialists_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="must be a table of specialists"):
        settings(tmp_path, "specialists = []\n")
