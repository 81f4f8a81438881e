"""Where the owner is told what, and from when on: presence, quiet hours, the digest's hour."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from remit.model.conversation import (
    CONVERSATION,
    DIGEST,
    KINDS,
    PUSH,
    WAYS,
    NoticeKind,
    PlannedNotice,
)
from remit.model.permit import QuietHours
from remit.notify import NoticeMoment, NoticeRules
from remit.settings import NoticeSettings
from tests.tables import for_each

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 3, 2, 11, 0, tzinfo=UTC)
NIGHT = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
QUIET = QuietHours("22:00", "07:00")
MORNING = datetime(2026, 3, 3, 6, 0, tzinfo=UTC)  # seven o'clock in Berlin
CHANNELS = ("phone", "post")


def rules(wishes: NoticeSettings, quiet: QuietHours | None = None) -> NoticeRules:
    return NoticeRules(lambda: wishes, quiet, BERLIN, CHANNELS)


def posts(
    wishes: NoticeSettings,
    here: str | None = None,
    now: datetime = NOON,
    quiet: QuietHours | None = None,
) -> tuple[PlannedNotice, ...]:
    return rules(wishes, quiet).posts(NoticeKind.QUESTION, None, NoticeMoment(now, here, None))


def ways(found: tuple[PlannedNotice, ...]) -> list[str]:
    return [post.way for post in found]


EVERYWHERE = NoticeSettings(question=(CONVERSATION, PUSH, "phone", "post"))
ALL_WAYS = [CONVERSATION, PUSH, "phone", "post"]


@for_each(
    ("wanted", "here", "told"),
    [
        (ALL_WAYS, None, ALL_WAYS),
        # Who talks in the app is told there, and nowhere beside it.
        (ALL_WAYS, "dashboard", [CONVERSATION]),
        (ALL_WAYS, "terminal", [CONVERSATION]),
        (["phone", PUSH], "terminal", [CONVERSATION]),
        # Who writes by a channel is told by it, and by no other.
        (ALL_WAYS, "phone", [CONVERSATION, "phone"]),
        (["post"], "phone", ["phone"]),
        ([], "phone", []),
    ],
)
def test_the_owner_is_told_where_he_is(
    wanted: list[str], here: str | None, told: list[str]
) -> None:
    assert ways(posts(NoticeSettings(question=tuple(wanted)), here)) == told


def test_what_would_have_gone_elsewhere_is_marked_so_that_it_is_told_somewhere() -> None:
    (told,) = posts(EVERYWHERE, "dashboard")
    (plain,) = posts(NoticeSettings(question=(CONVERSATION,)), "dashboard")

    assert (told.instead, plain.instead) == (True, False)


def test_where_no_browser_listens_none_is_told() -> None:
    stands = NoticeMoment(NOON, None, None, listens=False)
    found = rules(EVERYWHERE).posts(NoticeKind.QUESTION, None, stands)

    assert ways(found) == [CONVERSATION, "phone", "post"]


def test_a_digest_waits_for_its_hour_wherever_he_is() -> None:
    wanted = NoticeSettings(question=(DIGEST,), digest_at="07:30")
    due = datetime(2026, 3, 3, 6, 30, tzinfo=UTC)

    assert posts(wanted, "phone") == (PlannedNotice(DIGEST, due, held=True),)


def test_the_quiet_holds_all_but_a_conversation_what_is_urgent_and_where_he_writes() -> None:
    at_once, *held = posts(EVERYWHERE, None, NIGHT, QUIET)
    urgent = NoticeSettings(question=("phone",), urgent=("question",))

    assert at_once == PlannedNotice(CONVERSATION, NIGHT)
    assert held == [PlannedNotice(way, MORNING, held=True) for way in (PUSH, "phone", "post")]
    assert posts(urgent, None, NIGHT, QUIET) == (PlannedNotice("phone", NIGHT),)
    assert posts(EVERYWHERE, "phone", NIGHT, QUIET)[-1] == PlannedNotice("phone", NIGHT)


@given(
    wanted=st.sets(st.sampled_from([*WAYS, *CHANNELS])),
    here=st.sampled_from([None, "dashboard", "terminal", *CHANNELS]),
    hour=st.integers(0, 47),
)
def test_nobody_who_is_here_is_told_elsewhere(
    wanted: set[str], here: str | None, hour: int
) -> None:
    wishes = NoticeSettings(question=tuple(sorted(wanted)))
    found = posts(wishes, here, NOON + timedelta(hours=hour), QUIET)

    assert len(ways(found)) == len(set(ways(found)))
    assert bool(found) == bool(wanted)
    if here is not None:
        assert set(ways(found)) <= {CONVERSATION, DIGEST, here}
    assert all(post.due >= NOON for post in found)


@given(
    hours=st.integers(0, 24 * 700),
    at=st.times(),
    zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"]),
    ago=st.none() | st.integers(0, 3),
)
def test_there_is_one_digest_a_day_on_a_day_that_had_none(
    hours: int, at: time, zone: str, ago: int | None
) -> None:
    moment = NOON + timedelta(hours=hours)
    local = moment.astimezone(ZoneInfo(zone)).date()
    last = None if ago is None else local - timedelta(days=ago)
    wishes = NoticeSettings(digest_at=f"{at:%H:%M}")
    made = NoticeRules(lambda: wishes, None, ZoneInfo(zone), ())
    due = made.next_digest(moment, last)

    day = due.astimezone(ZoneInfo(zone)).date()
    assert due > moment
    assert last is None or day > last
    assert day <= local + timedelta(days=2)
    assert made.next_digest(due, day) > due  # and the next one is on a later day
    assert made.next_digest(due, day).astimezone(ZoneInfo(zone)).date() > day


def test_an_hour_that_is_left_out_does_not_lose_its_digest() -> None:
    wishes = NoticeSettings(digest_at="02:30")
    before = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)

    due = rules(wishes).next_digest(before, date(2026, 3, 28))

    assert due == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)  # 03:30 on the new clock


def test_every_kind_has_ways_of_its_own() -> None:
    for news in KINDS:
        assert NoticeSettings().ways(news)
