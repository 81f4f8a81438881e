"""Times at the ends of the calendar: refused at every door, and shown where one is stored."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.intake import admit
from remit.model.codec import JsonMap, stamp
from remit.model.series import Repeats
from remit.model.task import Task
from remit.store import audit, tasks
from remit.triggers import cue_admission
from tests.server.served import TOKEN, Served

FAR = "9999-12-31T23:59:00Z"
OLD = "0001-01-01T00:01:00Z"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path) as made:
        yield made


@pytest.mark.parametrize("when", [FAR, OLD, "2200-01-01T00:00:00Z", "1969-12-31T23:59:59Z"])
def test_a_time_that_nobody_can_mean_is_refused_at_every_door(served: Served, when: str) -> None:
    near = stamp(served.clock.now() + timedelta(hours=1))
    repeats: JsonMap = {"rule": "FREQ=HOURLY", "zone": "Pacific/Kiritimati", "first": when}
    begun = served.post("/api/tasks", {"text": "Oven", "repeats": {**repeats, "first": near}})
    series, task = begun["recurrenceId"], begun["id"]
    asked = {
        "task": served.ask("POST", "/api/tasks", {"text": "Oven", "scheduledFor": when}),
        "series": served.ask("POST", "/api/tasks", {"text": "Oven", "repeats": repeats}),
        "message": served.ask("POST", "/api/messages", {"text": "Oven", "repeats": repeats}),
        "edit": served.ask("PATCH", f"/api/tasks/{task}", {"action": "edit", "scheduledFor": when}),
        "move": served.ask("POST", f"/api/series/{series}/move", {"to": when}),
    }

    assert {name: answer.status_code for name, answer in asked.items()} == dict.fromkeys(
        asked, 409
    ) | {"edit": 422}
    assert "1970 to 2199" in asked["series"].text
    assert len(served.get("/api/series")["series"]) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "UTC"])
@pytest.mark.parametrize("rule", ["FREQ=MINUTELY", "FREQ=YEARLY;BYHOUR=3"])
def test_a_stored_series_at_the_end_of_time_takes_no_page_down(
    served: Served, year: int, zone: str, rule: str
) -> None:
    far = datetime(year, 1, 1, 0, 1, tzinfo=UTC) if year == 1 else datetime.fromisoformat(FAR)
    task = served.do(_stored(served, Repeats(rule, zone, far)))
    series = task.series_id
    assert series is not None
    paths = [
        *("/", "/tasks", "/schedule", "/schedule?span=month", "/inbox", "/tasks?q=is:planned"),
        *(f"/schedule?span={span}&on={on}" for span in ("week", "month") for on in _DAYS),
        *(f"/tasks/{task.id}", f"/tasks/{task.id}/edit", f"/schedule/{series}?at={stamp(far)}"),
        *("/api/series", f"/api/series/{series}", f"/api/series/{series}?coming=50"),
        *("/api/tasks", f"/api/tasks/{task.id}", "/healthz", "/api/stats", f"/tasks?q=due:{FAR}"),
    ]
    answers = {path: _get(served, path) for path in paths}

    assert {path: code for path, (code, _) in answers.items() if code >= 500} == {}
    for path in ("/tasks", "/schedule", "/api/series", f"/api/series/{series}", "/api/tasks"):
        assert answers[path][0] == 200
    assert "An oven of old" in answers["/tasks"][1]
    assert "An oven of old" in answers["/api/series"][1]

    async def complaints() -> list[str]:
        return await served.house.db.read(_complaints)

    assert served.do(complaints()) == []


_DAYS = ("9999-12-31", "0001-01-01", "9999-01-01", "2026-03-02")


async def _stored(served: Served, repeats: Repeats) -> Task:
    """As an older version kept it, which refused no year."""
    house = served.house
    cue = cue_admission.cue("An oven of old", ref="old", channel="dashboard", content="Look.")
    near = replace(cue, repeats=replace(repeats, first=house.clock.now()))
    task = admit.make(near, house.ids, house.clock.now())
    first = repeats.first
    return await house.db.write(
        tasks.admit, replace(task, repeats=repeats, scheduled_for=first, slot=first)
    )


def _complaints(tx: object) -> list[str]:
    return list(audit.complaints(tx))  # type: ignore[arg-type]


def _get(served: Served, path: str) -> tuple[int, str]:
    answer = served.client.get(served.url + path, headers={"Authorization": f"Bearer {TOKEN}"})
    return answer.status_code, answer.text
