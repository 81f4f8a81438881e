"""Work on projects in a terminal: what was agreed, what was found, who tried, what is unproven."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import remit.model
from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.store import tasks
from remit.store.read_only import open_read_only
from tests.cli.terminal import Terminal
from tests.server import workshop
from tests.specialist.repository import git

SCHEMA = Path(remit.model.__file__).parent / "schema" / "builder-state.json"


@pytest.fixture
def seat(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    settings = terminal.home / "settings.toml"
    settings.write_text(settings.read_text() + workshop.settings(tmp_path))
    return terminal


def order(seat: Terminal, text: str, project: str, *more: str) -> str:
    """Have it worked on until it rests; its id."""
    seat.run("add", text, "--project", project, *more, "--wait")
    return seat.only()


def test_the_contract_its_findings_and_who_tried_are_shown(seat: Terminal) -> None:
    task = order(seat, workshop.ADD, "shop", "--files", "shop/price.py")
    shown, why = seat.run("show", task).out, seat.run("why", task).out
    facts = seat.run("show", task, "--json").json["task"]

    assert "Project   shop\n" in shown
    assert "  verifiable: checks decide; made by rules\n" in shown
    assert re.search(r"\[passed\] unit-test: Tests for price.py \(price\), 3 times, ", shown)
    assert "used as they were before: tests/test_price.py" in shown  # a note of what passed
    assert "  Verified: every criterion of its contract was met.\n" in shown
    assert re.search(r"claude did not pass the checks, .* s: unit-test: sh ended with", shown)
    assert re.search(r"codex did it, ", shown)
    assert "claude tried, and did not pass the checks: unit-test: " in why
    assert "claude says that it is done: Nearly there." in why
    assert isinstance(facts, dict)
    assert facts["proof"] == "verified"
    ended = [each["outcome"] for each in _maps(facts["attempts"])]
    assert ended == ["verification_failed", "verification_failed", "success"]


def test_a_merge_is_asked_for_with_its_diff_and_in_its_own_words(
    seat: Terminal, tmp_path: Path
) -> None:
    task = order(seat, workshop.ADD, "shop", "--files", "shop/price.py")
    shown = seat.run("show", task).out
    typed = seat.type(["inbox"], ["o"])

    assert "(merge it)" in shown
    assert "(leave it on its branch)" in shown
    assert '+def written(cents: int, currency: str = "EUR") -> str:' in typed.out
    assert "[a] merge it" in typed.out
    assert "[o] leave it on its branch" in typed.out
    seat.run("run", task)
    assert seat.status(task) == "completed"
    assert "currency" not in (tmp_path / "shop" / "shop" / "price.py").read_text()
    assert f"remit/{task}" in git(tmp_path / "shop", "branch", "--list", "remit/*")


def test_what_nobody_could_prove_is_taken_with_a_reason_and_stays_marked(seat: Terminal) -> None:
    task = order(seat, workshop.STUCK, "shed", "--files", "shop/price.py")
    shown, bare = seat.run("show", task).out, seat.run("drop", task)
    seat.run("drop", task, "-m", "Good enough for a fair")
    merge = seat.run("show", task).out if seat.status(task) == "needs_review" else ""
    seat.run("run", task)
    seat.run("approve", task, "--wait")
    listed, after = seat.run("ls").out, seat.run("show", task).out
    why, (told,) = seat.run("ls", "--advisory").out, seat.run("ls", "--json").maps("tasks")

    assert "unit-test failed; you said: Good enough for a fair" in why
    assert told["notVerified"] == "unit-test failed; you said: Good enough for a fair"
    assert "You said: Good enough for a fair" in after
    assert "(try again)" in shown
    assert "(I did it myself)" in shown
    assert '-m "…"  (take it unproven)' in shown
    assert bare.code == 2
    assert "not verified" in merge or merge == ""
    assert seat.status(task) == "completed"
    assert "completed, not verified" in listed
    assert "Not verified: you took it although its checks did not pass." in after
    assert "[failed] unit-test: Tests for price.py (price)" in after


def test_the_inbox_asks_why_before_it_takes_work_unproven(seat: Terminal) -> None:
    task = order(seat, workshop.STUCK, "shed", "--files", "shop/price.py")
    typed = seat.type(["inbox"], ["o", "Good enough"])

    assert "[r] try again" in typed.out
    assert "[y] I did it myself" in typed.out
    assert "[o] take it unproven" in typed.out
    assert "Why is it taken unproven?" in typed.out
    assert seat.status(task) == "running"


def test_the_state_is_exported_as_other_programs_read_it(seat: Terminal) -> None:
    task = order(seat, workshop.ADD, "shop", "--files", "shop/price.py")
    of_task = seat.run("export", "builder-state", task)
    of_project = seat.run("export", "builder-state", "--project", "shop").json
    wrong = seat.run("export", "builder-state", "--project", "shed")
    both = seat.run("export", "builder-state")

    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(of_task.json)
    (told,) = of_task.maps("tasks")
    results = told["verificationResults"]
    assert isinstance(results, dict)
    assert (told["attempts"], results["overall"]) == (3, "pass")
    assert told["assignedAgent"] == "codex"
    tried = _maps(told["attemptHistory"])
    ended = [(each["agent"], each["outcome"]) for each in tried]
    assert ended == [*[("claude", "verification_failed")] * 2, ("codex", "success")]
    assert "unit-test: sh ended with" in str(tried[0]["error"])
    assert all(str(each["startedAt"]) <= str(each["endedAt"]) for each in tried)
    patterns = {each["activity"]: each.get("pattern") for each in _maps(results["criteria"])}
    assert (patterns["unit-test"], patterns["lint"]) == ("price", None)
    assert re.fullmatch(r"20.*Z", str(results["completedAt"]))
    assert of_project["project"] == "shop"
    assert of_project["tasks"] == of_task.json["tasks"]
    assert (wrong.code, both.code) == (2, 2)
    assert "No task is work on a project 'shed'." in wrong.err
    assert "Name tasks, or a project with --project." in both.err


def test_advice_is_marked_wherever_it_is_listed(seat: Terminal) -> None:
    told = "Not verified: it is advice, which no check can prove."
    said = seat.run("add", workshop.ADVICE, "--project", "notes", "--wait")
    task = seat.only()
    seat.run("add", "Find two parks", "--as-is", "--wait")
    listed, advice = seat.run("ls").out, seat.run("ls", "--advisory", "--ids").out
    shown, why = seat.run("show", task).out, seat.run("why", task, "--json").json

    assert (said.code, workshop.FOUND in said.out) == (0, True)
    assert said.out.rstrip().endswith(f"{told} Read it and judge.")
    assert len(re.findall("completed, not verified", listed)) == 1
    assert advice == f"{task}\n"
    assert told in shown
    assert workshop.FOUND in shown
    assert isinstance(why["proof"], dict)
    assert why["proof"]["proof"] == "advisory"
    with open_read_only(seat.home / "agent.db") as tx:
        assert tasks.get(tx, TaskId(task)).verdict is None

    exported = seat.run("export", "builder-state", task).json
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(exported)
    for each in (*_maps(exported["advisoryTasks"]), *_maps(exported["tasks"])):
        assert (each["assignedAgent"], each["attempts"]) == ("aider", 1)


def test_the_doctor_looks_at_projects_specialists_and_the_sandbox(
    seat: Terminal, tmp_path: Path
) -> None:
    well = seat.run("doctor")
    (tmp_path / "shop" / ".git").rename(tmp_path / "elsewhere")
    settings = seat.home / "settings.toml"
    text = settings.read_text().replace('specialists = ["gemini"]', 'specialists = ["nobody"]')
    settings.write_text(
        f'{text}\n[specialists.gone]\nkind = "acp"\nargv = ["no-such-program"]\n'
        '[projects.lost]\npath = "/nowhere/at/all"\n'
    )
    ill = seat.run("doctor")

    assert (well.code, ill.code) == (0, 1)
    assert "sandbox    checks run in it, shut off" in well.out
    assert f"shop: {tmp_path / 'shop'}, worked on by claude, codex" in well.out
    assert re.search(r"specialist claude: .*python\S*, a command, 1800 s", well.out)
    assert f"shop: {tmp_path / 'shop'}, the folder is no git repository" in ill.out
    assert "nobody is called nobody" in ill.out
    assert "gone: no-such-program is not on PATH" in ill.out
    assert "lost: /nowhere/at/all, the folder is not there" in ill.out


def _maps(value: Json) -> list[JsonMap]:
    assert isinstance(value, list)
    return [each for each in value if isinstance(each, dict)]


@pytest.mark.parametrize("brain", ['kind = "none"', 'kind = "auto"'])
def test_who_has_neither_model_nor_agent_is_told_both_ways(tmp_path: Path, brain: str) -> None:
    seat = Terminal(tmp_path)
    told = workshop.settings(tmp_path) + f'[projects.barn]\npath = "{tmp_path / "shop"}"\n'
    (seat.home / "settings.toml").write_text(f"[brain]\n{brain}\n{told}")

    doctor = seat.run("doctor").out
    said = seat.run("add", workshop.STUCK, "--project", "barn", "--wait").out

    barn = next(line for line in doctor.splitlines() if "barn: " in line)
    assert "nobody can work on it" in barn
    assert "worked on by gemini" in next(line for line in doctor.splitlines() if "shed: " in line)
    for way in ("[specialists.NAME]", "language model"):
        assert way in said
        assert way in doctor
    assert "gemini" not in said
