"""Who may be written to unasked: the strictest word counts, and no yes goes further than it was."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.contacts import permits
from remit.errors import BadInput
from remit.model.permit import Permission, QuietHours, Reach, policy_of
from remit.model.reply import Policy
from remit.model.task import Taint
from tests.tables import for_each

ALLOW, ASK, DENY = Policy.ALLOW, Policy.ASK, Policy.DENY
ME = Reach("you", None, owner=True)
BERLIN = ZoneInfo("Europe/Berlin")

policies = st.sampled_from(Policy)
names = st.sampled_from(["Anna", "Bob"])
places = st.sampled_from(["+1", "+2"])
channels = st.sampled_from(["whatsapp", "email"])
standing = st.lists(st.builds(Permission, names, channels, places, policies), max_size=6)
reaches = st.builds(Reach, names, places, st.lists(policies, max_size=2).map(tuple))


def said(policy: Policy, contact: str = "Anna", address: str = "+1") -> Permission:
    return Permission(contact, "whatsapp", address, policy)


@for_each(
    ("book", "stored", "holds"),
    [
        ((), (), ASK),
        ((ALLOW,), (), ALLOW),
        ((), (said(ALLOW),), ALLOW),
        ((ALLOW,), (said(ASK),), ASK),
        ((ASK,), (said(ALLOW),), ASK),
        ((ALLOW,), (said(DENY),), DENY),
        ((DENY,), (said(ALLOW),), DENY),
        ((), (said(ALLOW, address="+2"),), ASK),
        ((), (said(ALLOW, contact="Bob"),), ASK),
        ((ALLOW,), (said(DENY, address="+2"),), DENY),
        ((ALLOW,), (said(DENY, contact="Bob"),), DENY),
        ((ALLOW,), (said(DENY, contact="Bob", address="+2"),), ALLOW),
    ],
)
def test_the_strictest_word_counts(
    book: tuple[Policy, ...], stored: tuple[Permission, ...], holds: Policy
) -> None:
    assert policy_of(Reach("Anna", "+1", book), "whatsapp", stored) is holds


@given(reach=reaches, channel=channels, stored=standing, taint=st.sampled_from(Taint))
def test_nobody_else_is_written_to_without_a_yes_to_this_very_place(
    reach: Reach, channel: str, stored: list[Permission], taint: Taint
) -> None:
    leave = permits.judge(reach, channel, stored, taint=taint)

    yes = ALLOW in reach.policies or Permission(reach.name, channel, reach.address or "") in stored
    if leave.policy is ALLOW:
        assert yes
        assert taint is Taint.OWNER
        assert DENY not in reach.policies
    assert permits.judge(reach, channel, stored, taint=taint, asks_first=True).policy is not ALLOW


@given(reach=reaches, channel=channels, stored=standing, more=standing)
def test_another_no_never_opens_a_way(
    reach: Reach, channel: str, stored: list[Permission], more: list[Permission]
) -> None:
    order = (DENY, ASK, ALLOW)
    noes = [each for each in more if each.policy is DENY]

    before, after = (policy_of(reach, channel, each) for each in (stored, [*stored, *noes]))

    assert order.index(after) <= order.index(before)


@for_each("taint", list(Taint))
def test_the_owner_is_always_written_to_unless_the_text_asks_first(taint: Taint) -> None:
    denied = (Permission("you", "whatsapp", "", DENY),)

    assert permits.judge(ME, "whatsapp", denied, taint=taint).policy is ALLOW
    assert permits.judge(ME, "whatsapp", (), asks_first=True).policy is ASK


# Quiet hours --------------------------------------------------------------------------------------


@for_each("text", ["22-7", "22:00", "24:00-07:00", "22:00-22:00", "a", "22:60-07:00"])
def test_what_is_no_span_of_hours_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput, match="22:00-07:00"):
        QuietHours.parse(text)


spans = st.tuples(*(st.tuples(st.integers(0, 23), st.integers(0, 59)) for _ in range(2))).filter(
    lambda pair: pair[0] != pair[1]
)
moments = st.integers(0, 366 * 86400).map(
    lambda seconds: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)


@given(span=spans, now=moments)
def test_a_quiet_ends_and_does_not_come_back_at_once(
    span: tuple[tuple[int, int], tuple[int, int]], now: datetime
) -> None:
    quiet = QuietHours.parse("{:02}:{:02}-{:02}:{:02}".format(*span[0], *span[1]))

    until = quiet.until(now, BERLIN)

    if until is not None:
        assert now < until <= now + timedelta(hours=25)
        assert quiet.until(until, BERLIN) is None
        assert quiet.until(until - timedelta(seconds=1), BERLIN) == until


@for_each(
    ("now", "until"),
    [
        ("2026-03-29T00:30:00+00:00", "2026-03-29T01:30:00+00:00"),  # 02:30 is left out
        ("2026-10-25T00:29:00+00:00", "2026-10-25T00:30:00+00:00"),  # the first 02:30
        ("2026-10-25T01:10:00+00:00", None),  # 02:10 once more, and quiet no more
        ("2026-06-01T10:00:00+00:00", None),
    ],
)
def test_the_hour_of_the_change_is_read_once(now: str, until: str | None) -> None:
    found = QuietHours.parse("22:00-02:30").until(datetime.fromisoformat(now), BERLIN)

    assert found == (datetime.fromisoformat(until) if until else None)
