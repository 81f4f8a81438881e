"""What is published is what is answered: the description, the schemas, the pages of a list."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Route

import remit.model
from remit.intake.admit import make
from remit.model.codec import Json, JsonMap
from remit.server import app as pages_app
from remit.server.problem import KINDS
from remit.store import tasks
from remit.triggers import cue_admission
from tests.server.served import Page, Served
from tests.tables import for_each

SCHEMAS = Path(remit.model.__file__).parent / "schema"
ADDED = ("log", "reviews", "runs", "usage")
BY_TASK = ("/tasks/{id}", "/tasks/{id}/log", "/debug/tasks/{id}", "/debug/tasks/{id}/log")


@pytest.fixture(scope="module")
def debugged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("debugged"), debug=True) as served:
        yield served


def _ways(page: Page) -> set[tuple[str, str]]:
    return {(method.upper(), path) for path, ways in page.paths.items() for method in ways}


@pytest.mark.parametrize("debug", [False, True])
def test_every_route_is_documented_and_every_documented_route_is_there(
    debugged: Served, debug: bool
) -> None:
    built = pages_app.build(debugged.app, "token", debug=debug, port=1)
    fixed = next(each for each in built.routes if isinstance(each, pages_app.FixedPaths))
    others = [each for each in built.routes if each is not fixed]
    routes = [*fixed.routes, *(each for each in others if isinstance(each, Route))]
    # No rows of the table: files, the live line, and what other agents speak.
    beside = {"/static/{path:path}", "/ws", "/mcp", "/a2a"}
    there = {
        (method, route.path)
        for route in routes
        for method in (route.methods or set()) - {"HEAD"}
        if route.path not in beside
    }
    table = [(route.method, route.path) for route in pages_app.table(1, debug=debug)]

    assert len(fixed.routes) + len(others) == len({path for _, path in there}) + len(beside)
    assert sorted(there) == sorted(table)
    assert any("debug" in path for _, path in there) is debug


def test_the_page_of_a_running_remit_is_the_table_it_runs_on(
    debugged: Served, still: Served
) -> None:
    for served, debug in ((debugged, True), (still, False)):
        rows = pages_app.table(1, debug=debug)
        table = {(route.method, route.path) for route in rows if not route.page}
        assert _ways(served.page) == table
        assert ("GET", "/openapi.json") in table


def test_every_documented_route_answers(debugged: Served) -> None:
    task = debugged.add("Be there")
    for method, path in sorted(_ways(debugged.page)):
        answer = debugged.ask(method, path.replace("{id}", task), None)
        known = answer.json().get("type") if answer.status_code == 404 else None
        assert answer.status_code != 405
        # Only what is asked for by a task's id where another's is wanted may be missing.
        assert known is None or path.removeprefix("/api") not in BY_TASK, (method, path)


def test_the_description_holds_together(debugged: Served) -> None:
    page = debugged.get("/openapi.json")
    names = [way["operationId"] for ways in debugged.page.paths.values() for way in ways.values()]
    schemas = page["components"]["schemas"]
    refs = set(re.findall(r'"\$ref": "#/components/schemas/([^"]+)"', json.dumps(page)))

    assert page["openapi"] == "3.1.0"
    assert page["servers"] == [{"url": debugged.url}]
    assert len(names) == len(set(names))
    assert refs <= set(schemas)
    assert '"#/$defs' not in json.dumps(page)
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    for path, ways in debugged.page.paths.items():
        for way in ways.values():
            placed = [p["name"] for p in way["parameters"] if p["in"] == "path"]
            assert placed == re.findall(r"\{(\w+)\}", path)


def test_every_kind_of_problem_is_documented_somewhere_but_the_router_s(still: Served) -> None:
    told = json.dumps(still.page.told)
    missing = {name for name in KINDS if not re.search(rf"\b{name}\b", told)}

    assert missing == {"method-not-allowed"}


def test_what_the_page_promises_about_a_body_is_what_the_door_takes(still: Served) -> None:
    """The published schema of a body and the reader of bodies agree, on right and wrong ones."""
    schema: JsonMap = {"$ref": "#/components/schemas/NewTask"}
    bodies: list[tuple[Json, bool]] = [
        ({"text": "Go"}, True),
        ({"title": "Go", "work": ["a", {"description": "b"}], "delivery": None}, True),
        ({"text": "Go", "priority": "high", "context": {"a": [1, {"b": None}]}}, True),
        ({"text": "Go", "scheduledFor": "2030-01-01T00:00:00Z"}, True),
        ({"text": "Go", "work": [7]}, False),
        ({"text": "Go", "colour": "red"}, False),
        ({"text": "Go", "priority": "urgent"}, False),
        ({"text": "Go", "delivery": [{"content": "x"}]}, False),
        ({"text": 7}, False),
    ]
    components = still.page.told["components"]
    validator = Draft202012Validator({**schema, "components": components})
    for body, right in bodies:
        assert validator.is_valid(body) is right, body
        assert still.ask("POST", "/api/tasks", body).is_success is right, body


@for_each("view", ["s3", "s4"])
def test_both_views_are_what_their_published_schemas_say(working: Served, view: str) -> None:
    schema = json.loads((SCHEMAS / f"task.{view}.json").read_text())
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    for text in ("Find a park", "A hopeless thing", "Renew my passport"):
        working.add(text, work=["Look"], context={"person": "Mia"})
    working.settle()
    shown = working.get(f"/api/tasks?view={view}&limit=20")["tasks"]
    name = "id" if view == "s3" else "task_id"
    one = working.get(f"/api/tasks/{shown[0][name]}?view={view}")
    made = working.post(f"/api/tasks?view={view}", {"text": "Go"})

    assert len(shown) >= 3
    for task in [*shown, made, {key: one[key] for key in one if key not in ADDED}]:
        validator.validate(task)


def test_a_thousand_tasks_are_paged_through_each_once(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        app = served.app
        made = [
            make(cue_admission.cue(f"Task {n}", ref=str(n)), app.ids, app.clock.now())
            for n in range(1000)
        ]

        served.write(lambda tx: [tasks.admit(tx, task) for task in made])
        served.clock.advance(timedelta(seconds=1))
        seen: list[Json] = []
        cursor = ""
        while True:
            page = served.get(f"/api/tasks?limit=70{cursor}")
            seen += [task["id"] for task in page["tasks"]]
            served.add("Something new meanwhile")
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"

    assert seen == [task.id for task in reversed(made)]
