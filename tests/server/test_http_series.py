"""Series over HTTP: how often is said with a task, rules are set, and the ledger is read."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from remit.model.codec import Json, JsonMap, stamp
from tests.server.served import TOKEN, Served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path, works=True) as made:
        yield made


def hourly(served: Served, **more: Json) -> JsonMap:
    first = stamp(served.clock.now() + timedelta(hours=1))
    return {"rule": "FREQ=HOURLY", "zone": "Europe/Berlin", "first": first, **more}


def begun(served: Served) -> str:
    send: JsonMap = {"channel": "dashboard", "content": "Look."}
    body: JsonMap = {"text": "Oven", "repeats": hourly(served), "delivery": [send]}
    return str(served.post("/api/tasks", body)["recurrenceId"])


def test_a_task_comes_back_as_its_repeats_say_and_the_ledger_tells_each_slot(
    tmp_path: Path,
) -> None:
    with Served(tmp_path, works=True) as served:
        path = f"/api/series/{begun(served)}"
        for hours in (0, 1, 1):
            served.clock.advance(timedelta(hours=hours))
            served.do(served.house.repeater.catch_up())
            served.settle()
    again = Served(tmp_path, works=True)
    again.clock.jump(served.clock.now() + timedelta(hours=3))  # Remit was off meanwhile
    with again:
        again.settle()
        told = again.get(path)
    slots = cast("list[JsonMap]", told["slots"])

    # Newest first; Remit was off at 12 and 13, and started again in time for the last one.
    assert [slot["fate"] for slot in slots] == ["ran", "missed", "missed", "ran", "ran"]
    assert [str(slot["slot"])[11:13] for slot in slots] == ["14", "13", "12", "11", "10"]
    assert [slot["late"] for slot in slots] == [0, None, None, 0, 0]
    assert told["rhythm"] == "every hour (Europe/Berlin)"


def test_the_rules_of_a_series_are_set_and_wrong_ones_refused(served: Served) -> None:
    path = f"/api/series/{begun(served)}"

    assert (served.get(path)["missed"], served.get(path)["overlap"]) == (None, None)
    assert served.post(f"{path}/rules", {"missed": "run_all"})["missed"] == "run_all"
    told = served.post(f"{path}/rules", {"overlap": "skip"})
    assert (told["missed"], told["overlap"]) == ("run_all", "skip")
    assert served.ask("POST", f"{path}/rules", {"missed": "never"}).status_code == 422
    served.post(f"{path}/end")
    assert served.ask("POST", f"{path}/rules", {"missed": "skip"}).status_code == 409


@pytest.mark.parametrize(
    "wrong",
    [{"rule": "FREQ=SECONDLY"}, {"zone": "Atlantis"}, {"first": "soon"}, {"more": 1}],
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_stored(
    served: Served, wrong: dict[str, Json]
) -> None:
    body: JsonMap = {"text": "Oven", "repeats": hourly(served, **wrong)}

    assert served.ask("POST", "/api/tasks", body).status_code in (404, 422)
    assert served.ask("POST", "/api/messages", body).status_code in (404, 422)
    assert served.get("/api/series")["series"] == []


def test_a_time_is_said_once(served: Served) -> None:
    at = stamp(served.clock.now() + timedelta(hours=2))
    both: JsonMap = {"text": "Oven", "repeats": hourly(served), "scheduledFor": at}

    assert served.ask("POST", "/api/tasks", both).status_code == 422
    words: JsonMap = {"text": "Water the plants", "repeats": hourly(served)}
    (task,) = cast("list[JsonMap]", served.post("/api/messages", words)["tasks"])
    assert str(task["recurrenceId"]).startswith("ser-")


def test_to_run_one_now_gives_another_task_and_the_slot_stays(served: Served) -> None:
    series = begun(served)
    served.settle()
    (slot,) = cast("list[JsonMap]", served.get(f"/api/series/{series}?coming=1")["coming"])
    beside = served.patch(str(slot["taskId"]), "run")
    served.settle()

    assert beside["id"] != slot["taskId"]
    assert served.get(f"/api/series/{series}?coming=1")["coming"] == [slot]


@pytest.mark.parametrize("coming", [0, 3, 50])
def test_a_tag_fits_however_many_slots_were_asked_for(served: Served, coming: int) -> None:
    path = f"/api/series/{begun(served)}"
    seen = served.ask("GET", f"{path}?coming={coming}")
    tag = str(seen.headers["etag"])
    asked = {"Authorization": f"Bearer {TOKEN}", "If-None-Match": tag}
    unchanged = served.client.get(f"{served.url}{path}?coming={coming}", headers=asked)
    paused = served.ask("POST", f"{path}/pause", {}, headers={"If-Match": tag})
    again = served.ask("POST", f"{path}/resume", {}, headers={"If-Match": tag})

    assert (seen.status_code, unchanged.status_code) == (200, 304)
    assert (paused.status_code, again.status_code) == (200, 412)
