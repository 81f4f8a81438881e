"""What comes in by a door: kept once, begun within its limits, counted where there is too much."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.reply import Usage
from remit.model.task import Source, SourceKind
from remit.store import cues, spending
from remit.store.cues import Arrival, CueFate, InboundCaps, InboundMessage, StoredCue
from remit.store.messages import references
from tests.store.scene import AT, Scene

FREE = InboundCaps()


def came(
    scene: Scene, ref: str = "hook:shop 1", caps: InboundCaps = FREE, **more: object
) -> StoredCue:
    arrival = Arrival(ref=ref, door="hook:shop", body={"text": ref})
    arrival = replace(arrival, **more)
    return scene.do(cues.come, arrival, caps, scene.now, scene.now - timedelta(hours=9))


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
        cues.take_inbound,
        [InboundMessage("phone message 1", "phone", {"user_id": "u"}, "49", AT)],
        AT,
    )
    assert scene.do(cues.latest) == []
    kept = came(scene, "phone message 1", door="phone", body={"text": "x"}, sender="49")

    assert (kept.fate, kept.body) == (CueFate.WAITING, {"user_id": "u"})
    assert scene.do(cues.last_at, "phone", "u") == AT


def test_the_files_fetched_since_are_added_to_what_a_channel_kept_before(scene: Scene) -> None:
    said: JsonMap = {"user_id": "u", "text": "see this"}
    scene.do(cues.take_inbound, [InboundMessage("phone message 1", "phone", said, "49", AT)], AT)
    files: JsonMap = {"attachments": [{"name": "a.pdf", "sha256": "0" * 64}]}
    kept = came(scene, "phone message 1", door="phone", body={"text": "x"} | files, sender="49")
    again = came(scene, "phone message 1", door="phone", body={"text": "y"}, sender="49")

    assert kept.body == again.body == said | files


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


def test_whose_a_task_is_can_be_asked_by_its_source(scene: Scene) -> None:
    task = scene.admit()
    assert scene.do(cues.sender_of, task.source) == ""
    assert scene.do(cues.sender_of, Source(SourceKind.EMAIL, "nobody")) is None


# Files --------------------------------------------------------------------------------------------

HASH = "0f" * 32


def test_the_file_of_a_message_is_referred_to_and_other_hashes_are_not(scene: Scene) -> None:
    listed: JsonMap = {"attachments": [{"name": "a.pdf", "sha256": HASH}]}
    said: JsonMap = {"text": f"the sha256 is {'1' * 64}"}
    came = [InboundMessage("m 1", "phone", listed), InboundMessage("m 2", "phone", said)]
    scene.do(cues.take_inbound, came, AT)

    found = scene.do(references, AT + timedelta(days=1))
    assert found == (frozenset({HASH}), frozenset())
