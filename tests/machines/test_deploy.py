"""What `deploy/` says, checked without a container: processes, their rights and settings."""

import re
from pathlib import Path

import yaml

from remit.cli.commands import COMMANDS
from remit.settings import load

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_containers_have_few_rights_and_settings_that_remit_takes(tmp_path: Path) -> None:
    services = yaml.safe_load((DEPLOY / "compose.yml").read_text())["services"]
    ours = {name: each for name, each in services.items() if each.get("image") == "remit"}

    assert sorted(name.partition("-")[0] for name in ours) == ["serve"] * 2 + ["worker"] * 3
    for each in ours.values():
        assert each["command"][0] in {name for _, name, *_ in COMMANDS}
        assert (each["read_only"], each["cap_drop"]) == (True, ["ALL"])
        told = {name: str(value) for name, value in each["environment"].items()}
        settings = load({**told, "REMIT_HOME": str(tmp_path)})
        assert (settings.engine.is_shared, bool(settings.store.url)) == (True, True)
    opened = [port for each in services.values() for port in each.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in opened)


def test_the_image_runs_as_a_plain_user_and_installs_what_exists() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    extras = re.findall(r"'\.\[([\w,-]+)\]'", "\n".join(lines))
    project = (DEPLOY.parent / "pyproject.toml").read_text()

    assert "USER 10001" in lines
    assert all(line.split()[1].endswith("-slim") for line in lines if line.startswith("FROM"))
    assert extras
    assert all(f"\n{name} = [" in project for each in extras for name in each.split(","))
    copied = [line.split()[1:-1] for line in lines if re.match(r"COPY (?!--from)", line)]
    assert all((DEPLOY.parent / name).exists() for names in copied for name in names)
