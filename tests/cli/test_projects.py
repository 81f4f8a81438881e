"""Work on a project, through every door: asked for by its owner alone, and kept when repeated."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.settings import Settings
from remit.settings.projects import ProjectSettings
from remit.store import moves
from tests.cli.terminal import Terminal
from tests.server.served import Served
from tests.soak import one_of
from tests.specialist.repository import repository
from tests.tables import for_each

pytestmark = one_of("seat")

PROJECTS = """
[projects.shop]
path = "{path}"
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("projects")
    projects = {"shop": ProjectSettings(path=str(repository(folder / "shop")))}
    with Served(folder / "home", settings=Settings(home=folder / "home", projects=projects)) as it:
        yield it


def furnish(terminal: Terminal) -> None:
    settings = terminal.home / "settings.toml"
    shop = repository(terminal.home.with_name("shop"))
    settings.write_text(settings.read_text() + PROJECTS.format(path=shop))


# Over HTTP ----------------------------------------------------------------------------------------


@for_each(
    ("more", "context"),
    [
        ({"files": ["src/app.py", " src/app.py", ""]}, {"files": ["src/app.py"]}),
        ({"prd": True, "context": {"epic": 3}}, {"epic": 3, "prd": True}),
        ({"prd": "docs/prd.md#US-1"}, {"prd": "docs/prd.md#US-1"}),
    ],
)
def test_the_owner_asks_for_work_on_a_project(
    served: Served, more: JsonMap, context: JsonMap
) -> None:
    task = served.stored(served.add("Fix it", project="shop", **more))

    assert (task.assigned_agent, task.context) == ("project:shop", context)


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"project": "shed"}, "project", "There is no project 'shed'; there is shop."),
        ({"files": ["a.py"]}, "files", "files is about a project; say which one as project."),
        ({"prd": True}, "prd", "prd is about a project; say which one as project."),
        ({"prd": "a.md"}, "prd", "prd is about a project; say which one as project."),
        ({"project": "shop", "prd": "#US-1"}, "prd", "names no requirements document; say one as"),
        ({"project": "shop", "prd": " "}, "prd", "names no requirements document; say one as"),
        ({"project": "shop", "files": ["/etc/passwd"]}, "files", "is no path inside a project"),
        ({"project": "shop", "files": ["a/../../b"]}, "files", "is no path inside a project"),
        (
            {"project": "shop", "delivery": [{"channel": "dashboard", "content": "Hi"}]},
            "project",
            "is no work on a project",
        ),
    ],
)
def test_what_is_no_work_on_a_project_is_refused(
    served: Served, body: JsonMap, field: str, sentence: str
) -> None:
    answer = served.ask("POST", "/api/tasks", {"text": "Fix it", **body})

    assert answer.status_code == (404 if "There is no" in sentence else 422)
    assert answer.json()["field"] == field
    assert sentence in answer.json()["detail"]


def test_an_agent_may_not_have_the_owner_s_code_worked_on(served: Served) -> None:
    token: JsonMap = {"name": "nina", "scopes": ["read", "write"], "agent": True}
    secret = served.post("/api/tokens", token)["secret"]
    bearer = {"Authorization": f"Bearer {secret}"}
    mine = served.add("Fix it", project="shop")
    served.do(_cancelled(served, mine))
    asked: list[tuple[str, JsonMap]] = [
        ("/api/tasks", {"text": "Fix it", "project": "shop"}),
        ("/api/tasks", {"text": "Fix it", "project": "anything"}),
        (f"/api/tasks/{mine}/retry", {}),
    ]

    for path, body in asked:
        answer = served.ask("POST", path, body, headers=bearer)
        assert answer.status_code == 403, answer.text
        assert "only a person has work done on a project" in answer.json()["detail"]
        assert "shop" not in answer.text
    bulk: JsonMap = {"action": "retry", "ids": [mine]}
    many = served.ask("POST", "/api/tasks/bulk", bulk, headers=bearer).json()
    assert (many["done"], many["refused"]) == (0, 1)


def test_what_is_tried_again_or_comes_back_is_work_on_the_same_project(served: Served) -> None:
    task = served.add("Fix it", project="shop", files=["a.py"])
    served.do(_cancelled(served, task))
    again = served.stored(str(served.post(f"/api/tasks/{task}/retry", {})["id"]))
    daily: JsonMap = {"rule": "FREQ=DAILY", "zone": "UTC", "first": "2030-01-01T08:00:00Z"}
    first = served.add("Fix it", project="shop", files=["a.py"], repeats=daily)
    beside = served.stored(str(served.patch(first, "run")["id"]))

    for each in (again, beside):
        assert (each.assigned_agent, each.context["files"]) == ("project:shop", ["a.py"])
    assert beside.id != first


async def _cancelled(served: Served, task: str) -> None:
    await served.app.db.write(moves.cancel, TaskId(task), served.clock.now())


# Not verified -------------------------------------------------------------------------------------


def test_what_no_check_has_proven_is_one_list(served: Served) -> None:
    advice = served.add("Why is it slow?", contract={"type": "advisory", "criteria": []})
    served.add("Say hello")
    by_name = served.get("/api/tasks?contract=advisory&count=true")
    by_line = served.get("/api/tasks?q=contract:advisory")
    wrong = served.ask("GET", "/api/tasks?contract=sure")
    both = [served.get(f"/api/tasks?{each}") for each in ("unverified=true", "q=is:unverified")]

    assert [each["id"] for each in _maps(by_name["tasks"])] == [advice]
    assert [each["id"] for each in _maps(by_line["tasks"])] == [advice]
    assert isinstance(by_name["count"], dict)
    assert by_name["count"]["total"] == 1
    assert wrong.status_code == 422
    assert [[each["id"] for each in _maps(found["tasks"])] for found in both] == [[advice]] * 2


def _maps(value: Json) -> list[JsonMap]:
    assert isinstance(value, list)
    return [each for each in value if isinstance(each, dict)]


# In a terminal ------------------------------------------------------------------------------------


def test_a_terminal_asks_for_work_on_a_project(seat: Terminal) -> None:
    words = ("add", "Fix it", "--project", "shop", "--files", "a.py, b.py")
    (task,) = seat.run(*words, "--prd", "docs/prd.md#US-1", "--json").maps("tasks")

    assert task["assignedAgent"] == "project:shop"
    assert task["context"] == {"files": ["a.py", "b.py"], "prd": "docs/prd.md#US-1"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--project", "shed"), "There is no project 'shed'; there is shop."),
        (("--files", "a.py"), "--files is about a project; say which one with --project."),
        (("--prd", "a.md"), "--prd is about a project; say which one with --project."),
        (("--project", "shop", "--text", "Hi"), "is no work on a project"),
        (("--project", "shop", "--dry-run"), "`remit rehearse contract` says"),
    ],
)
def test_a_terminal_is_told_what_is_no_work_on_a_project(
    seat: Terminal, words: tuple[str, ...], sentence: str
) -> None:
    said = seat.run("add", "Fix it", *words)

    assert said.code == 2
    assert sentence in said.err


# On the page --------------------------------------------------------------------------------------


def test_the_page_for_a_new_task_offers_the_projects(served: Served) -> None:
    page = served.look("/new").text
    made = served.submit("/new", "text=Fix+it.+And+say+hello.&project=shop").text
    wrong = served.submit("/new", "text=Fix+it&project=shed").text
    found = served.get("/api/tasks?q=hello&limit=1")

    assert '<select class="field" name="project">' in page
    assert "One task" in made
    (task,) = _maps(found["tasks"])
    assert (task["assignedAgent"], task["title"]) == ("project:shop", "Fix it. And say hello.")
    assert "There is no project &#39;shed&#39;; there is shop." in wrong
    assert re.search(r"<textarea[^>]*>Fix it</textarea>", wrong)


def test_the_list_has_a_tab_for_what_is_not_verified_once_there_is_something(
    tmp_path: Path,
) -> None:
    with Served(tmp_path) as served:
        without = served.look("/new").text
        served.add("Say hello")
        before = served.look("/tasks").text
        served.add("Why is it slow?", contract={"type": "advisory", "criteria": []})
        after = served.look("/tasks").text
        tab = served.look("/tasks?q=is%3Aunverified").text

    assert 'name="project"' not in without  # there are none
    assert "Not verified" not in before
    for page in (after, tab):
        assert (_tab(page, "All"), _tab(page, "Not verified")) == ("2", "1")
    assert re.findall(r'<span class="ti clip">(.*?)</span>', tab) == ["Why is it slow?"]
    assert 'aria-current="true">Not verified' in tab


def _tab(page: str, label: str) -> str:
    found = re.search(rf'>{label} <span class="n">(.*?)</span>', page)
    return found[1] if found else ""
