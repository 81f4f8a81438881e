"""How projects and specialists stand: chains that nobody would ever follow, and what holds whom."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.model.codec import Json
from remit.settings import Settings
from remit.settings.projects import ProjectSettings, SpecialistKind, SpecialistSettings
from remit.specialist import specialist_health
from remit.specialist.specialist_health import SpecialistHealth
from remit.wiring.proof import kinds

SED = SpecialistSettings(kind=SpecialistKind.COMMAND, argv=("sed", "-i"))


def project(tmp_path: Path, **chains: Json) -> SpecialistHealth:
    (tmp_path / "shop/.git").mkdir(parents=True, exist_ok=True)
    shop = ProjectSettings(path=str(tmp_path / "shop"), specialists=("sed",), chains=chains)
    settings = Settings(home=tmp_path / "home", projects={"shop": shop}, specialists={"sed": SED})
    (found,) = specialist_health.projects(
        settings.projects, settings.specialists, kinds(settings), thinks=True
    )
    return found


def specialist(chosen: SpecialistSettings) -> SpecialistHealth:
    (found,) = specialist_health.specialists({"sed": chosen}, "/usr/bin:/bin")
    return found


def test_each_chain_is_told_with_who_is_in_it(tmp_path: Path) -> None:
    found = project(tmp_path, frontend=["brain", "sed"], advice=["brain"])

    assert found.verdict == "ok"
    assert found.said == "worked on by sed; frontend by brain, sed; advice by brain"


def test_a_chain_for_a_kind_that_no_rule_knows_is_named_with_what_is_known(tmp_path: Path) -> None:
    found = project(tmp_path, fronted=["sed"])

    assert (found.verdict, found.said) == ("fail", "no work is called fronted")
    assert "[projects.shop.chains]" in found.todo
    assert "advice, api, architecture, frontend" in found.todo


def test_a_kind_of_the_projects_own_rules_is_known(tmp_path: Path) -> None:
    (tmp_path / "shop/.remit").mkdir(parents=True)
    rules = tmp_path / "shop/.remit/activities.yml"
    rules.write_text('version: 1\nfiles:\n  "engine/**": {critics: [motor], why: it drives}\n')

    assert project(tmp_path, motor=["sed"]).verdict == "ok"
    rules.write_text("nonsense: [")
    assert project(tmp_path, whatever=["sed"]).verdict == "ok"


def test_somebody_in_a_chain_who_is_nobody_is_named(tmp_path: Path) -> None:
    found = project(tmp_path, frontend=["gemini"])

    assert (found.verdict, found.said) == ("fail", "nobody is called gemini")


def test_what_holds_a_program_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert specialist(SED).said.endswith("in a sandbox without network")
    assert (
        "every service that listens on its loopback" in specialist(replace(SED, network=True)).said
    )
    free = specialist(replace(SED, sandbox=False))
    assert free.verdict == "warn"
    assert free.said.endswith("without a sandbox: it can read and write what you can")
    monkeypatch.setattr(specialist_health, "find", lambda _: None)
    bare = specialist(SED)
    assert (bare.verdict, bare.said) == ("fail", "there is no sandbox to run it in")
    assert "sandbox = false under [specialists.sed]" in bare.todo
