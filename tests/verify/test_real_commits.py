"""Sixty commits of httpx, click and express: the right kind of contract, which can be carried out.

Kept are facts: the subject, the names of the files, and which of them were removed.
"""

import json
from pathlib import Path
from typing import NotRequired, TypedDict

import pytest

from remit.model.contract import Criterion, Timing
from remit.plan import activities, contract
from remit.testing import START
from remit.verify import project
from remit.verify.command import files_named_by
from remit.verify.project import ACTIVITIES
from remit.verify.runners import CheckCommand
from remit.verify.suite_runs import CaseSelection, command_arguments
from tests.soak import one_in
from tests.verify import workshop

COMMITS = json.loads((Path(__file__).parents[1] / "data" / "real_commits.json").read_text("utf-8"))
PYTHON = {
    "pyproject.toml": "[tool.mypy]\n[tool.ruff]\n[tool.pytest.ini_options]\n",
    "tests/test_all.py": "",
}
EXPRESS = {
    "package.json": json.dumps(
        {
            "scripts": {
                "lint": "eslint .",
                "test": "mocha --require test/support/env --reporter spec --check-leaks test/",
            },
            "devDependencies": {"mocha": "10"},
        }
    )
}
SHAPES = {"httpx": PYTHON, "click": PYTHON, "express": EXPRESS}
TOOLS = ("pytest", "python", "mypy", "ruff", "npm", "node", "mocha", "eslint")


class Commit(TypedDict):
    project: str
    commit: str
    subject: str
    kind: str
    files: list[str]
    removed: NotRequired[list[str]]


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, project.ProjectCommands]:
    """How each project is checked, where its tools are installed."""
    tools = tmp_path_factory.mktemp("tools")
    for name in TOOLS:
        workshop.write(tools, {name: "#!/bin/sh\n"})
        (tools / name).chmod(0o755)
    found = {}
    for name, files in SHAPES.items():
        place = workshop.write(tmp_path_factory.mktemp("shapes") / name, files)
        found[name] = project.read_commands(place, environ={"PATH": str(tools), "HOME": str(tools)})
    return found


def can_be_carried_out(
    criterion: Criterion, ways: project.ProjectCommands, changed: list[str]
) -> bool:
    """Whether a tool is there for it, and its tests are chosen by a file or by a name."""
    if criterion.activity not in ACTIVITIES:
        return criterion.activity == "critic"
    way = ways.command_for(criterion.activity)
    if not isinstance(way, CheckCommand):
        return ways.is_idle(criterion.activity) or criterion.timing is Timing.DEFERRED
    if criterion.pattern is None or files_named_by(criterion.pattern, changed):
        return bool(command_arguments(way))
    return bool(command_arguments(way, CaseSelection(name=criterion.pattern)))


@one_in(4)
@pytest.mark.parametrize("commit", COMMITS, ids=lambda each: f"{each['project']} {each['commit']}")
def test_a_real_commit_gets_the_right_contract_and_it_can_be_carried_out(
    commit: Commit, ways: dict[str, project.ProjectCommands]
) -> None:
    removed = commit.get("removed", [])
    diff = "".join(
        f"diff --git a/{name} b/{name}\n{'deleted file mode 100644' * (name in removed)}\n"
        for name in commit["files"]
    )
    asked = contract.ContractRequest(commit["subject"], tuple(commit["files"]), diff)

    drafted = contract.draft_contract(asked, activities.default_activities(), START)

    assert drafted.contract.type.value == str(commit["kind"])
    assert drafted.unsure is None
    there = ways[commit["project"]]
    assert all(can_be_carried_out(c, there, commit["files"]) for c in drafted.contract.criteria)


def test_there_are_sixty_of_three_projects() -> None:
    assert len(COMMITS) == 60
    assert {each["project"] for each in COMMITS} == set(SHAPES)
