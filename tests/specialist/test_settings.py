"""Who does code work, as the settings say: read whole or refused, and as the doctor tells it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.codec import Json
from remit.settings import Settings, load
from remit.settings.projects import ProjectSettings, SpecialistKind, SpecialistSettings
from remit.specialist import specialist_health
from remit.specialist.specialist_health import SpecialistHealth
from remit.wiring.proof import known_kinds
from tests.tables import for_each, table


def settings(home: Path, text: str) -> dict[str, SpecialistSettings]:
    (home / "settings.toml").write_text(text)
    return dict(load({"REMIT_HOME": str(home)}).specialists)


def test_three_kinds_can_be_set_up_in_a_sandbox_unless_the_owner_says_otherwise(
    tmp_path: Path,
) -> None:
    found = settings(
        tmp_path,
        """
        [specialists.claude]
        kind = "acp"
        argv = ["claude-agent-acp"]
        capabilities = ["code", "web"]
        env = ["ANTHROPIC_API_KEY"]
        time_limit = 900
        network = true
        writes = ["~/.claude", "~/.claude.json"]
        [specialists.aider]
        kind = "command"
        argv = ["aider", "--message-file", "{prompt_file}"]
        sandbox = false
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
        network=True,
        writes=("~/.claude", "~/.claude.json"),
    )
    plain = found["brain"]
    assert (plain.sandbox, plain.network, plain.reads, plain.writes) == (True, False, (), ())
    assert (plain.time_limit, found["aider"].sandbox) == (1800, False)


@for_each(("line", "why"), table(__file__, "wrong"))
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        settings(tmp_path, f"[specialists]\n{line}\n")

    assert why in str(refused.value)
    assert "[specialists." in str(refused.value)


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


# The doctor ---------------------------------------------------------------------------------------


SED = SpecialistSettings(kind=SpecialistKind.COMMAND, argv=("sed", "-i"))


def project(tmp_path: Path, **chains: Json) -> SpecialistHealth:
    (tmp_path / "shop/.git").mkdir(parents=True, exist_ok=True)
    shop = ProjectSettings(path=str(tmp_path / "shop"), specialists=("sed",), chains=chains)
    settings = Settings(home=tmp_path / "home", projects={"shop": shop}, specialists={"sed": SED})
    (found,) = specialist_health.projects(
        settings.projects, settings.specialists, known_kinds(settings), thinks=True
    )
    return found


def specialist(chosen: SpecialistSettings) -> SpecialistHealth:
    (found,) = specialist_health.specialists({"sed": chosen}, "/usr/bin:/bin")
    return found


def test_each_chain_is_told_with_who_is_in_it(tmp_path: Path) -> None:
    found = project(tmp_path, frontend=["brain", "sed"], advice=["brain"])

    assert found.verdict == "ok"
    assert found.said == "worked on by sed; frontend by brain, sed; advice by brain"


def test_a_chain_of_a_kind_or_somebody_that_nobody_knows_is_named(tmp_path: Path) -> None:
    found, nobody = project(tmp_path, fronted=["sed"]), project(tmp_path, frontend=["gemini"])

    assert (found.verdict, found.said) == ("fail", "no work is called fronted")
    assert "[projects.shop.chains]" in found.todo
    assert "advice, api, architecture, frontend" in found.todo
    assert (nobody.verdict, nobody.said) == ("fail", "nobody is called gemini")


def test_a_kind_of_the_projects_own_rules_is_known(tmp_path: Path) -> None:
    (tmp_path / "shop/.remit").mkdir(parents=True)
    rules = tmp_path / "shop/.remit/activities.yml"
    rules.write_text('version: 1\nfiles:\n  "engine/**": {critics: [motor], why: it drives}\n')

    assert project(tmp_path, motor=["sed"]).verdict == "ok"
    rules.write_text("nonsense: [")
    assert project(tmp_path, whatever=["sed"]).verdict == "ok"


def test_what_holds_a_program_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert specialist(SED).said.endswith("in a sandbox without network")
    assert (
        "every service that listens on its loopback" in specialist(replace(SED, network=True)).said
    )
    free = specialist(replace(SED, sandbox=False))
    assert free.verdict == "warn"
    assert free.said.endswith("without a sandbox: it can read and write what you can")
    monkeypatch.setattr(specialist_health, "find_program", lambda _: None)
    bare = specialist(SED)
    assert (bare.verdict, bare.said) == ("fail", "there is no sandbox to run it in")
    assert "sandbox = false under [specialists.sed]" in bare.todo
