"""What the owner is told over channels: claimed before it goes, told once, never about itself."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from remit.delivery import notice_delivery
from remit.delivery.notice_sender import STALE, NoticeSender
from remit.model.conversation import NoticeState, Role
from remit.model.delivery import (
    Accepted,
    Answer,
    DeliveryReport,
    Locked,
    Parcel,
    ProviderReport,
    Refused,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.model.delivery import Found as Cleared
from remit.model.permit import UnclearRecipient
from remit.model.review import ReviewAnswer
from remit.settings import NoticeSettings
from remit.store import conversations, cues, events, meta, notices
from remit.store.cues import InboundMessage
from remit.system import first_byte
from remit.testing import Outbox, World
from tests.notify.town import BY_OUTBOX, OUT, herald, kept, planned, states, told, town

LINK, ELSEWHERE = "https://remit.example.test", "https://elsewhere.example.test"


async def asked(world: World, text: str = "Renew my passport") -> None:
    await world.add(text, channel="dashboard")
    await world.run()


# What is told -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("public_url", "link"), [("", ""), (LINK, ""), (ELSEWHERE, LINK)])
async def test_a_question_is_one_line_and_links_only_where_a_phone_can_open_it(
    tmp_path: Path, public_url: str, link: str
) -> None:
    async with town(tmp_path, replace(BY_OUTBOX, link=link), public_url=public_url) as world:
        await asked(world)
        (review,) = await world.waiting()

        line = "“Renew my passport” needs you: Which passport do you hold?"
        assert await told(world) == [f"{line} {LINK}/inbox/{review.id}" if public_url else line]
        (notice,) = await kept(world)
        assert (notice.state, notice.receipt, notice.body) == (NoticeState.SENT, "out-1", None)
        assert world.outbox.sent[0].key == notice.id


async def test_it_is_told_once_however_often_and_whoever_starts_again(tmp_path: Path) -> None:
    async with town(tmp_path) as world:
        await asked(world)
        for _ in range(3):
            await told(world)
            await world.restart()
            herald(world).start()
            await world.run(timedelta(minutes=5))

        assert len(await told(world)) == 1


async def test_a_notice_is_no_task_no_delivery_and_no_event(tmp_path: Path) -> None:
    async with town(tmp_path) as world:
        await asked(world, "Something hopeless")
        before = await world.app.db.read(events.last)
        world.outbox.answers = [Refused("no such person")]
        await told(world)
        await world.run(timedelta(days=3))
        await told(world)

        assert await world.app.db.read(events.last) == before
        assert await states(world) == [(OUT, "failed")]
        assert len(world.outbox.tried) == 1


async def test_a_result_that_went_to_the_owner_that_way_is_not_told_beside_it(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, public_url=LINK) as world:
        await world.add("Find a park")
        await world.add("Find another", channel="dashboard")
        await world.run()

        assert await told(world) == [
            "Lumphini Park.",
            f"“Find another” is done. {LINK}/tasks/{(await kept(world))[0].telling.task_id}",
        ]


async def test_many_of_one_sort_in_a_minute_become_one_line(tmp_path: Path) -> None:
    async with town(tmp_path, public_url=LINK) as world:
        for n in range(12):
            await world.add(f"Find park {n}", channel="dashboard")
        await world.run()

        assert await told(world) == [f"12 tasks are done. {LINK}/tasks"]
        assert {each.state for each in await kept(world)} == {NoticeState.SENT}


async def test_what_comes_after_a_few_waits_for_the_minute_to_end(tmp_path: Path) -> None:
    async with town(tmp_path) as world:
        for n in range(8):
            await world.add(f"Find park {n}", channel="dashboard")
            await world.run()
            await told(world)
        assert len(await told(world)) == 5
        await world.run(timedelta(minutes=1))

        last = (await told(world))[5:]
        assert len(last) == 1
        assert "3 tasks are done" in last[0]


# What he knows by then ----------------------------------------------------------------------------


@pytest.mark.parametrize(("quiet", "hours"), [("", 0), ("09:00-17:00", 8)])
async def test_what_was_decided_before_it_went_is_not_told(
    tmp_path: Path, quiet: str, hours: int
) -> None:
    async with town(tmp_path, quiet=quiet) as world:
        await asked(world)
        (review,) = await world.waiting()
        await world.decide(review, ReviewAnswer.DECLINE)
        await world.run(timedelta(hours=hours))

        assert await told(world) == []
        (notice,) = await kept(world)
        assert (notice.state, notice.why) == (NoticeState.DROPPED, "You have decided it.")


async def test_what_was_seen_or_put_off_before_it_went_is_not_told(tmp_path: Path) -> None:
    async with town(tmp_path) as world:
        await asked(world, "Something hopeless")
        (failed,) = await kept(world)
        assert failed.telling.task_id is not None
        await world.app.owner.seen(failed.telling.task_id)
        await asked(world)
        (review,) = await world.waiting()
        assert review.id is not None
        await world.app.inbox.later(review.id, world.now + timedelta(hours=3))

        assert await told(world) == []
        assert [each.why for each in await kept(world)] == [
            "You have seen it.",
            "You have put it off.",
        ]


async def test_what_is_a_day_old_is_not_told_but_a_question_is(tmp_path: Path) -> None:
    async with town(tmp_path) as world:
        await asked(world)
        await asked(world, "Something hopeless")
        await world.run(STALE + timedelta(minutes=1))

        assert ["needs you" in body for body in await told(world)] == [True]


# What channels answer -----------------------------------------------------------------------------


async def test_what_never_left_goes_again_when_the_channel_says_and_not_for_ever(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as world:
        world.outbox.answers = [SendRetry("busy", 90.0)] * 99
        await asked(world)
        await told(world)
        await world.run(timedelta(seconds=89))
        await told(world)
        assert len(world.outbox.tried) == 1

        for _ in range(20):
            await world.run(timedelta(seconds=91))
            await told(world)
        assert len(world.outbox.tried) == notice_delivery.MOST_TRIES
        (notice,) = await kept(world)
        assert (notice.state, notice.why) == (NoticeState.FAILED, "busy")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (Unknown("the line broke"), NoticeState.UNKNOWN),
        (RuntimeError("a broken adapter"), NoticeState.UNKNOWN),
        (Refused("no such person"), NoticeState.FAILED),
        (Locked("no token"), NoticeState.NEW),
    ],
)
async def test_what_came_of_it_is_written_down_and_a_doubt_is_not_told_again(
    tmp_path: Path, answer: Answer | Exception, state: NoticeState
) -> None:
    async with town(tmp_path) as world:
        world.outbox.answers = [answer]
        await asked(world)
        await told(world)
        (notice,) = await kept(world)
        assert notice.state is state
        await world.run(timedelta(minutes=14))
        await world.restart()
        herald(world).start()
        await told(world)

        assert len(world.outbox.tried) == 1


class Looks(Outbox):
    """A channel that can be asked what became of a message."""

    grace = 600.0
    knows: Callable[[Parcel], Cleared | None] = staticmethod(lambda _: None)
    looked = 0

    async def find(self, parcel: Parcel) -> Cleared | None:
        self.looked += 1
        return self.knows(parcel)


@pytest.mark.parametrize(
    ("found", "state", "tried"),
    [
        (Accepted("ref-1"), NoticeState.SENT, 1),
        (Refused("it bounced"), NoticeState.FAILED, 1),
        (SendRetry("it never left"), NoticeState.SENT, 2),
        (None, NoticeState.UNKNOWN, 1),
    ],
)
@pytest.mark.parametrize("keeps", [SendGuarantee.KEY, SendGuarantee.LOOKUP])
async def test_a_doubt_is_cleared_by_a_channel_that_can(
    tmp_path: Path, keeps: SendGuarantee, found: Cleared | None, state: NoticeState, tried: int
) -> None:
    line = Looks(name=OUT, keeps=keeps)
    line.answers = [Unknown("the line broke")]
    line.knows = lambda parcel: found if parcel.body.startswith("“Renew") else None
    async with town(tmp_path, channels={OUT: line}) as world:
        await asked(world)
        await told(world)
        for _ in range(30):
            await world.run(timedelta(minutes=1))
            await told(world)

        (notice,) = await kept(world)
        assert (notice.state, len(line.tried)) == (state, tried)
        assert line.looked <= 11  # then nobody looks any more


async def test_a_channel_that_keeps_nothing_is_never_asked_and_its_doubt_stays(
    tmp_path: Path,
) -> None:
    line = Looks(name=OUT)
    line.answers = [Unknown("the line broke")]
    line.knows = lambda _: Accepted("ref-1")
    async with town(tmp_path, channels={OUT: line}) as world:
        await asked(world)
        await told(world)
        await world.run(timedelta(minutes=5))
        await told(world)

        assert line.looked == 0
        assert await states(world) == [(OUT, "unknown")]


@pytest.mark.parametrize(
    ("arrived", "state"), [(True, NoticeState.SENT), (False, NoticeState.FAILED)]
)
async def test_a_report_settles_a_doubt_and_wakes_nothing(
    tmp_path: Path, *, arrived: bool, state: NoticeState
) -> None:
    async with town(tmp_path) as world:
        world.outbox.answers = [Unknown("the line broke")]
        await asked(world)
        await told(world)
        (notice,) = await kept(world)
        last = await world.app.db.read(events.last)
        said = DeliveryReport(ProviderReport("wamid.1", arrived=arrived, why="no"), OUT, notice.id)
        came = InboundMessage(ref="report-1", channel=OUT, body={}, report=said)
        assert await world.app.db.write(cues.take_inbound, [came], world.now) == []
        await told(world)

        (notice,) = await kept(world)
        assert (notice.state, notice.receipt) == (state, "wamid.1")
        assert await world.app.db.read(events.last) == last


# The end of a process -----------------------------------------------------------------------------


class Silent(Outbox):
    """Takes what it is given, and never answers."""

    async def send(self, parcel: Parcel) -> Answer:
        self.tried.append(parcel)
        await asyncio.Event().wait()
        raise AssertionError


async def test_what_was_cut_in_the_middle_is_in_doubt_and_not_told_again(tmp_path: Path) -> None:
    line = Silent(name=OUT)
    async with town(tmp_path, channels={OUT: line}) as world:
        await asked(world)
        herald(world).start()
        async with asyncio.timeout(100):
            while not line.tried:
                herald(world).ring()
                await asyncio.sleep(0.005)
        await world.restart()
        assert await states(world) == [(OUT, "claimed")]
        herald(world).start()
        async with asyncio.timeout(100):
            while await states(world) != [(OUT, "unknown")]:  # noqa: ASYNC110 - no bell rings
                await asyncio.sleep(0.005)

        assert len(line.tried) == 1


# Where he is --------------------------------------------------------------------------------------


@pytest.mark.parametrize("talks", [True, False])
async def test_who_is_on_the_dashboard_is_told_there_and_a_quarter_of_an_hour_later_elsewhere(
    tmp_path: Path, *, talks: bool
) -> None:
    async with town(tmp_path) as world:
        talk = (await world.app.talk.begin()).id
        if talks:
            await world.app.talk.answered(await world.app.talk.say(talk, "Good morning"), 100)
        else:
            await world.app.db.write(meta.note, world.now)  # a click
        await asked(world, "Something hopeless")
        assert await told(world) == []
        assert {each.way for each in await kept(world)} == {"conversation"}
        # Not in a conversation about something else.
        said = await world.app.db.read(conversations.turns, talk)
        assert not any("hopeless" in turn.content for turn in said)
        assert (await planned(world))[-1].startswith("“Something hopeless” failed.")

        await world.run(timedelta(minutes=16))
        await asked(world, "Another hopeless thing")
        assert len(await told(world)) == 1


async def test_a_result_that_was_asked_for_elsewhere_is_not_brought_into_the_talk(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, NoticeSettings()) as world:
        talk = (await world.app.talk.begin()).id
        await world.app.talk.answered(await world.app.talk.say(talk, "Good morning"), 100)
        await world.add("Find a park", channel="dashboard")
        await asked(world)

        said = await world.app.db.read(conversations.turns, talk)
        told_here = [t.content for t in said if t.role is Role.ASSISTANT][1:]
        assert told_here == []


@pytest.mark.parametrize(
    ("clicks", "ways"), [(True, {"conversation"}), (False, {"conversation", OUT})]
)
async def test_who_writes_by_a_channel_is_told_there_unless_he_clicked_since(
    tmp_path: Path, *, clicks: bool, ways: set[str]
) -> None:
    async with town(tmp_path, NoticeSettings()) as world:
        talk = (await world.app.talk.begin(channel=OUT)).id
        await world.app.talk.say(talk, "Good morning", channel=OUT)
        if clicks:
            await world.run(timedelta(minutes=2))
            await world.app.db.write(meta.note, world.now)
        await asked(world, "Something hopeless")

        assert len(await told(world)) == len(ways) - 1
        assert {each.way for each in await kept(world)} == ways


# Quiet hours and the digest -----------------------------------------------------------------------


async def test_the_quiet_holds_everything_and_ends_with_one_message(tmp_path: Path) -> None:
    async with town(tmp_path, quiet="09:00-17:00", public_url=LINK) as world:  # ten in Berlin
        await asked(world)
        await asked(world, "Something hopeless")
        await world.run(timedelta(hours=6, minutes=59))
        assert await told(world) == []
        await world.run(timedelta(minutes=2))
        (body,) = await told(world)

        assert body.splitlines()[0] == "Remit: 1 task needs you, 1 task failed."
        assert body.splitlines()[-1] == f"{LINK}/inbox"


GATHERED = replace(BY_OUTBOX, failed=("digest",), done=("digest",), digest_over=(OUT,))


async def test_a_digest_comes_once_a_day_over_restarts_and_clocks_that_are_set(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, GATHERED) as world:
        await asked(world, "Something hopeless")
        await asked(world, "Another hopeless thing")
        await world.run(timedelta(hours=21))
        assert await told(world) == []
        await world.run(timedelta(hours=1, minutes=1))  # past eight in Berlin
        for _ in range(3):
            assert len(await told(world)) == 1
            await world.restart()
        world.clock.jump(world.now - timedelta(minutes=30))
        await asked(world, "A third hopeless thing")
        await world.run(timedelta(hours=1))
        assert len(await told(world)) == 1  # the clock was set back: not a second one that day
        await world.run(timedelta(days=1))

        bodies = await told(world)
        assert len(bodies) == 2
        assert bodies[0].splitlines()[0] == "Remit: 2 tasks failed."
        assert "A third hopeless thing" in bodies[1]


async def test_nothing_to_say_is_not_said(tmp_path: Path) -> None:
    async with town(tmp_path, GATHERED) as world:
        await world.run(timedelta(days=3))

        assert await told(world) == []
        assert await planned(world) == []


async def test_a_digest_in_the_conversation_is_one_turn(tmp_path: Path) -> None:
    wishes = replace(GATHERED, digest_over=("conversation",))
    async with town(tmp_path, wishes) as world:
        await asked(world, "Something hopeless")
        for _ in range(3):
            await world.run(timedelta(days=1))
            await told(world)

        assert [each.splitlines()[0] for each in await planned(world)] == ["Remit: 1 task failed."]
        assert await states(world) == [("digest", "sent")]


async def test_a_digest_that_was_refused_is_said_in_the_conversation(tmp_path: Path) -> None:
    async with town(tmp_path, GATHERED) as world:
        world.outbox.answers = [Refused("no such person")]
        await asked(world, "Something hopeless")
        await world.run(timedelta(days=1))
        await told(world)
        await world.run(timedelta(days=1))

        assert await told(world) == []
        assert len(await planned(world)) == 1


async def test_a_digest_that_could_not_leave_goes_later_on_the_same_day(tmp_path: Path) -> None:
    async with town(tmp_path, GATHERED) as world:
        world.outbox.answers = [SendRetry("busy", 60.0)]
        await asked(world, "Something hopeless")
        await world.run(timedelta(days=1))
        assert await told(world) == []
        await world.run(timedelta(minutes=2))

        assert len(await told(world)) == 1
        await world.run(timedelta(days=2))
        assert len(await told(world)) == 1


# A try --------------------------------------------------------------------------------------------


async def test_what_was_told_is_forgotten_after_a_season(tmp_path: Path) -> None:
    async with town(tmp_path) as world:
        await asked(world, "Something hopeless")
        await told(world)
        await world.run(timedelta(days=91))
        await told(world)

        assert await kept(world) == []


async def test_who_has_no_address_there_is_told_nothing_and_it_is_said_why(tmp_path: Path) -> None:
    async with town(tmp_path) as world:
        lost = replace(
            world.app.herald._around, reach=lambda _: UnclearRecipient("You have no address.")
        )
        await asked(world)
        await world.app.talk.settled()
        await NoticeSender(lost).catch_up()

        (notice,) = await kept(world)
        assert (notice.state, notice.why) == (NoticeState.FAILED, "You have no address.")
        assert world.outbox.tried == []
        assert await world.app.db.read(notices.soonest) is None


class _LateOutbox(Outbox):
    """Its connection stands before a notice is claimed; `meanwhile` something happens."""

    counts_every_try: Final = False
    world: World
    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def send(self, parcel: Parcel) -> Answer:
        before = await states(self.world)
        if self.meanwhile is not None:
            await self.meanwhile()
        await first_byte.before_sending()
        self.log = [before, await states(self.world)]
        return await super().send(parcel)


async def test_beside_other_processes_a_notice_is_claimed_when_the_connection_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = _LateOutbox()
    async with town(tmp_path, channels={OUT: late}) as world:
        late.world = world
        await asked(world)
        monkeypatch.setattr(type(world.app.db), "shared", True, raising=False)
        await told(world)

        assert late.log == [[(OUT, "new")], [(OUT, "claimed")]]
        assert (len(late.sent), await states(world)) == (1, [(OUT, "sent")])


async def test_a_notice_that_another_process_claimed_meanwhile_does_not_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = _LateOutbox()
    async with town(tmp_path, channels={OUT: late}) as world:
        late.world = world

        async def take() -> None:
            now, found = world.app.clock.now(), await kept(world)
            await world.app.db.write(notices.claim_notices, found, OUT, "", now)

        late.meanwhile = take
        await asked(world)
        monkeypatch.setattr(type(world.app.db), "shared", True, raising=False)
        await told(world)

        assert (late.tried, await states(world)) == ([], [(OUT, "claimed")])
