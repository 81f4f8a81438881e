"""What comes in by a door: kept once, begun within its limits, counted where there is too much."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from remit.errors import Conflict
from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.reply import Usage
from remit.model.task import Source, SourceKind
from remit.store import cues, inbound, spending
from remit.store.cues import Arrival, CueFate, InboundCaps, StoredCue
from remit.store.inbound import InboundMessage
from tests.store.scene import AT, Scene

FREE = InboundCaps()


def came(
    scene: Scene, ref: str = "hook:shop 1", caps: InboundCaps = FREE, **more: object
) -> StoredCue:
    arrival = Arrival(ref=ref, door="hook:shop", body={"text": ref})
    arrival = replace(arrival, **more)
    return scene.do(cues.come, arrival, caps, scene.now, scene.now - timedelta(hours=9))


def test_the_same_cue_again_is_the_same_whatever_it_says_then(scene: Scene) -> None:
    first = came(scene)
    scene.now += timedelta(minutes=5)
    again = came(scene, body={"text": "another"}, sender="eve")

    assert again == first
    assert (first.fate, first.heard_at, first.body) == (
        CueFate.WAITING,
        AT,
        {"text": "hook:shop 1"},
    )
    assert len(first.name) == 8


def test_what_was_begun_stays_begun_and_what_was_not_can_be(scene: Scene) -> None:
    kept = came(scene)
    assert scene.do(cues.waiting) == [kept]
    begun = scene.do(cues.settle, kept.ref, CueFate.STARTED, TaskId("task-1"))
    later = scene.do(cues.settle, kept.ref, CueFate.IGNORED, None, "no")

    assert (begun.fate, begun.task_id) == (CueFate.STARTED, "task-1")
    assert later == begun
    assert scene.do(cues.waiting) == []
    idle = came(scene, "hook:shop 2", fate=CueFate.IGNORED, why="a stranger")
    assert idle.why == "a stranger"
    assert (
        scene.do(cues.settle, idle.ref, CueFate.STARTED, TaskId("task-2")).fate is CueFate.STARTED
    )


def test_what_a_channel_kept_before_is_taken_up_where_it_stands(scene: Scene) -> None:
    scene.do(
        inbound.take, [InboundMessage("phone message 1", "phone", {"user_id": "u"}, "49", AT)], AT
    )
    assert scene.do(cues.latest) == []
    kept = came(scene, "phone message 1", door="phone", body={"text": "x"}, sender="49")

    assert (kept.fate, kept.body) == (CueFate.WAITING, {"user_id": "u"})
    assert scene.do(inbound.last_at, "phone", "u") == AT


def test_the_files_fetched_since_are_added_to_what_a_channel_kept_before(scene: Scene) -> None:
    said: JsonMap = {"user_id": "u", "text": "see this"}
    scene.do(inbound.take, [InboundMessage("phone message 1", "phone", said, "49", AT)], AT)
    files: JsonMap = {"attachments": [{"name": "a.pdf", "sha256": "0" * 64}]}
    kept = came(scene, "phone message 1", door="phone", body={"text": "x"} | files, sender="49")
    again = came(scene, "phone message 1", door="phone", body={"text": "y"}, sender="49")

    assert kept.body == again.body == said | files


def test_an_hour_has_its_limit_and_the_next_one_begins_anew(scene: Scene) -> None:
    caps = InboundCaps(hourly=3)
    fates = [came(scene, f"hook:shop {n}", caps).fate for n in range(5)]
    assert fates == [CueFate.WAITING] * 3 + [CueFate.OVER] * 2
    assert came(scene, "hook:shop 0", caps).fate is CueFate.WAITING  # known before
    assert came(scene, "hook:other", caps, door="hook:other").fate is CueFate.WAITING
    scene.now += timedelta(minutes=61)
    assert came(scene, "hook:shop 9", caps).fate is CueFate.WAITING


def test_where_each_counts_for_himself_one_cannot_use_up_the_other_s(scene: Scene) -> None:
    caps = InboundCaps(hourly=1, each=True)
    who = ["anna", "anna", "bert"]
    fates = [came(scene, f"m {n}", caps, sender=each).fate for n, each in enumerate(who)]
    assert fates == [CueFate.WAITING, CueFate.OVER, CueFate.WAITING]


@pytest.mark.parametrize(
    ("caps", "why"),
    [
        (InboundCaps(daily_tokens=1000), "1,000 tokens in a day is the limit"),
        (InboundCaps(daily_cents=250), "$2.50 in a day is the limit"),
    ],
)
def test_what_a_door_started_may_cost_so_much_in_a_day(
    scene: Scene, caps: InboundCaps, why: str
) -> None:
    task = scene.admit()
    kept = came(scene, "hook:shop 0", caps)
    scene.do(cues.settle, kept.ref, CueFate.STARTED, task.id)
    assert came(scene, "hook:shop 1", caps).fate is CueFate.WAITING
    scene.do(spending.reserve, "k", task, Usage(1000, 250, 1), (), scene.now)
    scene.do(spending.reserve, "other", scene.admit(), Usage(9, 9, 1), (), scene.now)

    over = came(scene, "hook:shop 2", caps)
    assert (over.fate, over.why) == (CueFate.OVER, why)
    assert came(scene, "hook:other", caps, door="hook:other").fate is CueFate.WAITING
    assert came(scene, "hook:shop 3", replace(caps, daily_tokens=0, daily_cents=9999)).fate is (
        CueFate.WAITING
    )


def test_who_is_turned_away_leaves_nothing_but_a_count_and_may_come_again(scene: Scene) -> None:
    caps = InboundCaps(hourly=1, turns_away=True)
    came(scene, "hook:shop 0", caps)
    over = came(scene, "hook:shop 1", caps)
    assert (over.fate, over.stored) == (CueFate.OVER, False)
    assert [each.ref for each in scene.do(cues.latest)] == ["hook:shop 0"]
    assert scene.do(cues.unkept) == {"hook:shop": 1}
    scene.now += timedelta(hours=2)
    assert came(scene, "hook:shop 1", caps).fate is CueFate.WAITING


def test_of_a_flood_a_few_are_kept_and_the_rest_is_counted(scene: Scene) -> None:
    """Ten thousand mails of strangers are as many rows as a hundred are."""
    for n in range(1_000):
        came(scene, f"post mail {n}", door="post", fate=CueFate.IGNORED, why="unknown")
    assert scene.do(cues.is_flooded, "post", scene.now)
    assert scene.do(cues.tally, AT) == {"post": {CueFate.IGNORED: cues.MOST_IDLE}}
    assert scene.do(cues.unkept) == {"post": 1_000 - cues.MOST_IDLE}
    assert came(scene, "post mail talk", door="post", fate=CueFate.TALKED).stored
    assert came(scene, "post mail own", door="post").fate is CueFate.WAITING


def test_a_mark_is_kept_for_each_door(scene: Scene) -> None:
    assert scene.do(cues.mark, "post") == {}
    scene.do(cues.keep_mark, "post", {"uid": 7})
    assert scene.do(cues.mark, "post") == {"uid": 7}
    assert scene.do(cues.mark, "other") == {}


def test_whose_a_task_is_can_be_asked_by_its_source(scene: Scene) -> None:
    task = scene.admit()
    assert scene.do(cues.whose, task.source) == ""
    assert scene.do(cues.whose, Source(SourceKind.EMAIL, "nobody")) is None


def test_a_fate_that_nobody_knows_is_refused_by_the_file(scene: Scene) -> None:
    came(scene)
    with pytest.raises(Conflict, match=r"(?i)check"):
        scene.sql("UPDATE inbound SET fate = 'lost'")
