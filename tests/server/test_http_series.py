"""Series over HTTP: how often is said with a task, rules, the ledger, and the ends of time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.intake import admit
from remit.model.codec import Json, JsonMap, stamp
from remit.model.recurrence import Repeats
from remit.model.task import Task
from remit.store import audit, tasks
from remit.store.database import Tx
from remit.triggers import cue_admission
from tests.server.served import TOKEN, Served
from tests.soak import each_value


def hourly(busy: Served, **more: Json) -> JsonMap:
    first = stamp(busy.clock.now() + timedelta(hours=1))
    return {"rule": "FREQ=HOURLY", "zone": "Europe/Berlin", "first": first, **more}


def begun(busy: Served) -> str:
    send: JsonMap = {"channel": "dashboard", "content": "Look."}
    body: JsonMap = {"text": "Oven", "repeats": hourly(busy), "delivery": [send]}
    return str(busy.post("/api/tasks", body)["recurrenceId"])


def test_a_task_comes_back_as_its_repeats_say_and_the_ledger_tells_each_slot(
    tmp_path: Path,
) -> None:
    with Served(tmp_path, works=True) as served:
        path = f"/api/series/{begun(served)}"
        for hours in (0, 1, 1):
            served.clock.advance(timedelta(hours=hours))
            served.do(served.app.repeater.catch_up())
            served.settle()
    again = Served(tmp_path, works=True)
    again.clock.jump(served.clock.now() + timedelta(hours=3))  # Remit was off meanwhile
    with again:
        again.settle()
        told = again.get(path)
    slots = told["slots"]

    # Newest first; Remit was off at 12 and 13, and started again in time for the last one.
    assert [slot["fate"] for slot in slots] == ["ran", "missed", "missed", "ran", "ran"]
    assert [str(slot["slot"])[11:13] for slot in slots] == ["14", "13", "12", "11", "10"]
    assert [slot["late"] for slot in slots] == [0, None, None, 0, 0]
    assert told["rhythm"] == "every hour (Europe/Berlin)"


def test_a_time_is_said_once(busy: Served) -> None:
    at = stamp(busy.clock.now() + timedelta(hours=2))
    both: JsonMap = {"text": "Oven", "repeats": hourly(busy), "scheduledFor": at}

    assert busy.ask("POST", "/api/tasks", both).status_code == 422
    words: JsonMap = {"text": "Water the plants", "repeats": hourly(busy)}
    (task,) = busy.post("/api/messages", words)["tasks"]
    assert str(task["recurrenceId"]).startswith("ser-")


def test_to_run_one_now_gives_another_task_and_the_slot_stays(busy: Served) -> None:
    series = begun(busy)
    busy.settle()
    (slot,) = busy.get(f"/api/series/{series}?coming=1")["coming"]
    beside = busy.patch(str(slot["taskId"]), "run")
    busy.settle()

    assert beside["id"] != slot["taskId"]
    assert busy.get(f"/api/series/{series}?coming=1")["coming"] == [slot]


@pytest.mark.parametrize("coming", [0, 3, 50])
def test_a_tag_fits_however_many_slots_were_asked_for(busy: Served, coming: int) -> None:
    path = f"/api/series/{begun(busy)}"
    seen = busy.ask("GET", f"{path}?coming={coming}")
    tag = str(seen.headers["etag"])
    asked = {"Authorization": f"Bearer {TOKEN}", "If-None-Match": tag}
    unchanged = busy.client.get(f"{busy.url}{path}?coming={coming}", headers=asked)
    paused = busy.ask("POST", f"{path}/pause", {}, headers={"If-Match": tag})
    again = busy.ask("POST", f"{path}/resume", {}, headers={"If-Match": tag})

    assert (seen.status_code, unchanged.status_code) == (200, 304)
    assert (paused.status_code, again.status_code) == (200, 412)


# Times that nobody can mean -----------------------------------------------------------------------


FAR = "9999-12-31T23:59:00Z"
OLD = "0001-01-01T00:01:00Z"


@pytest.mark.parametrize("when", [FAR, OLD, "2200-01-01T00:00:00Z", "1969-12-31T23:59:59Z"])
def test_a_time_that_nobody_can_mean_is_refused_at_every_door(fresh: Served, when: str) -> None:
    near = stamp(fresh.clock.now() + timedelta(hours=1))
    repeats: JsonMap = {"rule": "FREQ=HOURLY", "zone": "Pacific/Kiritimati", "first": when}
    begun = fresh.post("/api/tasks", {"text": "Oven", "repeats": {**repeats, "first": near}})
    series, task = begun["recurrenceId"], begun["id"]
    asked = {
        "task": fresh.ask("POST", "/api/tasks", {"text": "Oven", "scheduledFor": when}),
        "series": fresh.ask("POST", "/api/tasks", {"text": "Oven", "repeats": repeats}),
        "message": fresh.ask("POST", "/api/messages", {"text": "Oven", "repeats": repeats}),
        "edit": fresh.ask("PATCH", f"/api/tasks/{task}", {"action": "edit", "scheduledFor": when}),
        "move": fresh.ask("POST", f"/api/series/{series}/move", {"to": when}),
    }

    assert {name: answer.status_code for name, answer in asked.items()} == dict.fromkeys(
        asked, 409
    ) | {"edit": 422}
    assert "1970 to 2199" in asked["series"].text
    assert len(fresh.get("/api/series")["series"]) == 1


@each_value
@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "UTC"])
@pytest.mark.parametrize("rule", ["FREQ=MINUTELY", "FREQ=YEARLY;BYHOUR=3"])
def test_a_stored_series_at_the_end_of_time_takes_no_page_down(
    fresh: Served, year: int, zone: str, rule: str
) -> None:
    far = datetime(year, 1, 1, 0, 1, tzinfo=UTC) if year == 1 else datetime.fromisoformat(FAR)
    task = _stored(fresh, Repeats(rule, zone, far))
    series = task.series_id
    assert series is not None
    paths = [
        *("/", "/tasks", "/schedule", "/schedule?span=month", "/inbox", "/tasks?q=is:planned"),
        *(f"/schedule?span={span}&on={on}" for span in ("week", "month") for on in _DAYS),
        *(f"/tasks/{task.id}", f"/tasks/{task.id}/edit", f"/schedule/{series}?at={stamp(far)}"),
        *("/api/series", f"/api/series/{series}", f"/api/series/{series}?coming=50"),
        *("/api/tasks", f"/api/tasks/{task.id}", "/healthz", "/api/stats", f"/tasks?q=due:{FAR}"),
    ]
    answers = {path: fresh.look(path) for path in paths}

    assert [each.url for each in answers.values() if each.status_code >= 500] == []
    for path in ("/tasks", "/schedule", "/api/series", f"/api/series/{series}", "/api/tasks"):
        assert answers[path].status_code == 200
    assert "An oven of old" in answers["/tasks"].text
    assert "An oven of old" in answers["/api/series"].text

    assert fresh.read(_complaints) == []


_DAYS = ("9999-12-31", "0001-01-01", "9999-01-01", "2026-03-02")


def _stored(fresh: Served, repeats: Repeats) -> Task:
    """As an older version kept it, which refused no year."""
    app = fresh.app
    cue = cue_admission.cue("An oven of old", ref="old", channel="dashboard", content="Look.")
    near = replace(cue, repeats=replace(repeats, first=app.clock.now()))
    task = admit.make(near, app.ids, app.clock.now())
    first = repeats.first
    return fresh.write(tasks.admit, replace(task, repeats=repeats, scheduled_for=first, slot=first))


def _complaints(tx: Tx) -> list[str]:
    return list(audit.complaints(tx))
