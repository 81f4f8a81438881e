"""Notices in the store: put in once, claimed once, and one digest a day."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from remit.model.conversation import Notice, NoticeContent, NoticeKind, NoticeState
from remit.store import notices
from remit.store.notices import AlreadyClaimed, NoticeResult
from tests.notify.town import OUT
from tests.store.scene import AT, Scene


def notice(n: int = 1, way: str = OUT) -> Notice:
    telling = NoticeContent(
        news=NoticeKind.DONE, about=f"event:{n}", title=f"Task {n}", line="", href="/tasks/1", seq=n
    )
    return Notice(id=f"ntc-{n}-{way}", telling=telling, way=way, made=AT, due=AT)


def states(scene: Scene) -> list[str]:
    return [each.state.value for _, each in reversed(scene.do(notices.recent))]


def test_the_same_thing_is_put_in_once_for_each_way(scene: Scene) -> None:
    again = replace(notice(), id="ntc-other")

    assert scene.do(notices.put, notice())
    assert not scene.do(notices.put, again)
    assert scene.do(notices.put, notice(way="post"))
    assert len(scene.do(notices.recent)) == 2


def test_two_that_claim_the_same_get_one_claim_and_nothing_half_done(scene: Scene) -> None:
    for n in (1, 2, 3):
        scene.do(notices.put, notice(n))
    one, two, three = scene.do(notices.due, AT)
    assert scene.do(notices.claim_notices, [two], OUT, "text", AT)
    with pytest.raises(AlreadyClaimed):
        scene.do(notices.claim_notices, [one, two, three], OUT, "text", AT)

    assert states(scene) == ["new", "claimed", "new"]
    assert [each.id for each in scene.do(notices.due, AT)] == [one.id, three.id]


def test_what_is_in_one_message_is_settled_together_and_its_words_are_not_kept(
    scene: Scene,
) -> None:
    for n in (1, 2):
        scene.do(notices.put, notice(n))
    found = scene.do(notices.due, AT)
    scene.do(notices.claim_notices, found, OUT, "text", AT)
    scene.do(notices.settle_notices, found[0].id, NoticeResult(NoticeState.SENT, receipt="r"), AT)

    rows = scene.sql("SELECT state, body, sha256, receipt, told_at FROM notices")
    assert {row["state"] for row in rows} == {"sent"}
    assert {row["body"] for row in rows} == {None}
    assert all(row["sha256"] and row["receipt"] == "r" and row["told_at"] for row in rows)


def test_a_day_has_one_digest_and_a_clock_that_went_wrong_silences_none(scene: Scene) -> None:
    for n in (1, 2, 3):
        scene.do(notices.put, notice(n, "digest"))
    one, two, three = scene.do(notices.due, AT)
    today, far = AT.date(), AT.date() + timedelta(days=400)

    assert scene.do(notices.claim_notices, [one], OUT, "text", AT, far)
    assert scene.do(notices.claim_notices, [two], OUT, "text", AT, today)
    assert not scene.do(notices.claim_notices, [three], OUT, "text", AT, today)
    assert not scene.do(notices.claim_notices, [three], OUT, "text", AT, today - timedelta(days=1))
    assert states(scene) == ["claimed", "claimed", "new"]
