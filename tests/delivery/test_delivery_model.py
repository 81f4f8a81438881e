"""One delivery, explored to the end over the production code; and mistakes that must be seen.

Each slice allows some misfortune at a time; together, at length, they are walked in `make soak`.
"""

from dataclasses import dataclass, field

import pytest

from remit.delivery.courier import Courier
from remit.model.delivery import Answer, Delivery, DeliveryStatus, Parcel
from remit.ports import SendLedger
from remit.store.database import statement
from tests.delivery import delivery_checks as checks
from tests.delivery.delivery_app import Sort
from tests.delivery.delivery_checks import Walk, walk
from tests.delivery.delivery_words import Limits
from tests.soak import only_in_soak

NONE = Limits(kills=0, takeovers=0, rebuffs=0, resends=0, reports=0, cancels=0)
SLICES = {
    "a kill": NONE._replace(kills=1, resends=1, reports=1),
    "two kills": NONE._replace(kills=2, reports=1),
    "a process that was not dead": NONE._replace(takeovers=1, resends=1, reports=1),
    "a rebuff": NONE._replace(kills=1, rebuffs=1, reports=1),
    "a rebuff after a resend": NONE._replace(rebuffs=1, resends=1, reports=2),
    "an owner who cancels": NONE._replace(kills=1, reports=1, cancels=1),
}
AT_LENGTH = {
    "all at once": Limits(kills=1, takeovers=1, rebuffs=1, resends=1, reports=1),
    "a cancel in all of it": Limits(1, 1, 0, 1, 1, 1),
    "kills in a row": Limits(3, 1, 0, 0, 1, 0),
}
# A channel that is told again has a message more for each time, so it is walked in smaller slices.
# One that files all is not walked with a process that was taken for dead and lives: that may send
# after it was looked for. What keeps this from happening is the lock on the directory alone.
ALL_THAT_GIVE = {
    "a kill": NONE._replace(kills=1, resends=1),
    "two kills": NONE._replace(kills=2),
    "a process that was not dead": NONE._replace(takeovers=1),
    "a rebuff": NONE._replace(kills=1, rebuffs=1),
    "a rebuff after a resend": NONE._replace(rebuffs=1, resends=1),
}
ALL_THAT_FILE = {
    "a kill": NONE._replace(kills=1, reports=1),
    "a rebuff": NONE._replace(kills=1, rebuffs=1),
}
WALKS = {
    "that reports": (Sort(), SLICES),
    "that can be asked": (Sort(looks=True), SLICES),
    "that files all it takes": (Sort(files=True), ALL_THAT_FILE),
    "that is given it again": (Sort(gives=True), ALL_THAT_GIVE),
}
EVERY = [(channel, limits) for channel, (_, slices) in WALKS.items() for limits in slices]


# The longest of them are left to `make soak`: what they meet, the others meet as well.
LONG = [
    ("that reports", "a kill"),
    ("that reports", "a process that was not dead"),
    ("that reports", "a rebuff"),
    ("that reports", "a rebuff after a resend"),
    ("that can be asked", "a kill"),
    ("that can be asked", "two kills"),
    ("that can be asked", "a process that was not dead"),
    ("that can be asked", "a rebuff"),
    ("that can be asked", "a rebuff after a resend"),
    ("that files all it takes", "a rebuff"),
    ("that is given it again", "a kill"),
    ("that is given it again", "two kills"),
    ("that is given it again", "a rebuff"),
]


def walked(channel: str, limits: str) -> Walk:
    """Nothing is sent twice and nothing is lost, whatever happens on the way."""
    sort, slices = WALKS[channel]
    found = walk(sort, slices[limits])
    assert found.wrong is None, (channel, limits, found.way)
    assert found.states > 500, "a model that goes nowhere proves nothing"
    return found


@only_in_soak
@pytest.mark.parametrize(("channel", "limits"), LONG)
def test_whatever_happens_nothing_is_sent_twice_and_nothing_is_lost(
    limits: str, channel: str
) -> None:
    assert walked(channel, limits).ends


@only_in_soak
@pytest.mark.parametrize("limits", AT_LENGTH)
def test_the_same_with_everything_at_once(limits: str) -> None:
    found = walk(Sort(), AT_LENGTH[limits])

    assert found.wrong is None, found.way


def test_nothing_is_sent_twice_or_lost_and_everything_that_can_happen_happens() -> None:
    walks = [walked(*each) for each in EVERY if each not in LONG]

    assert set().union(*(found.met for found in walks)) == {
        "claims", "frees", "takes over", "is killed",
        "claim_send", "settle_send", "doubt", "clear", "finish", "reads sends",
        "sends", "looks", "gives it again", "finds no way there",
        "hears nothing of it", "hears that it is there", "hears a no to it",
        "hears yes", "hears nothing, or a 5xx", "hears SendRetry", "hears Refused", "hears Locked",
        "the provider accepts", "a request is lost", "a report: it arrived", "a report: failed",
        "time passes",
        "the owner says arrived", "the owner says resend", "the owner says drop",
        "the owner says decline", "the owner says approve", "the owner cancels",
    }  # fmt: skip
    assert set().union(*(found.ends for found in walks)) == {
        ("completed", "sent"), ("failed", "refused"),
        ("needs_review", "unknown"), ("needs_review", "pending"),
        ("cancelled", "pending"), ("cancelled", "unknown"), ("cancelled", "refused"),
    }  # fmt: skip


class RunsTheStepAgain(Courier):
    """As a durable step does it that was cut: from its beginning."""

    async def settle(
        self, delivery: Delivery, ledger: SendLedger, *, asks_channel: bool = True
    ) -> Answer:
        if delivery.status is not DeliveryStatus.SENDING:
            return await super().settle(delivery, ledger, asks_channel=asks_channel)
        parcel = Parcel(str(delivery.id), None, delivery.body or "")
        answer = await self._channels["post"].send(parcel)
        await ledger.settle(delivery, 1, answer)
        return answer


@dataclass(frozen=True)
class Mistake:
    """Something that is done wrong, what sees it, and what must happen for it to show."""

    seen_by: checks.Check
    limits: Limits
    channel: Sort = field(default_factory=Sort)
    protocol: type[Courier] = Courier
    wrong: tuple[tuple[str, str], ...] = ()


def swapped(name: str, right: str, wrong: str) -> tuple[tuple[str, str], ...]:
    sql = statement(name)
    assert right in sql
    return ((name, sql.replace(right, wrong)),)


NEVER_TWICE = checks.never_more_accepted_than_one_and_the_owners_resends
MISTAKES = {
    "the step is run again": Mistake(
        NEVER_TWICE, NONE._replace(kills=1), protocol=RunsTheStepAgain
    ),
    "a time-out or a 5xx is tried again": Mistake(NEVER_TWICE, NONE, channel=Sort(blind=True)),
    "a cut send is pending again": Mistake(
        NEVER_TWICE,
        NONE._replace(kills=1),
        wrong=swapped("doubt_delivery", "status = 'unknown'", "status = 'pending'"),
    ),
    "who lost the lease settles": Mistake(
        checks.refused_means_that_the_last_send_is_not_out,
        NONE._replace(takeovers=1, rebuffs=1, resends=1),
        wrong=swapped("settle_delivery", "AND lease = :lease AND worker IS NOT NULL", ""),
    ),
    "a report of the first send settles the second": Mistake(
        checks.refused_means_that_the_last_send_is_not_out,
        NONE._replace(resends=1, reports=1, takeovers=1),
        wrong=swapped("report_delivery", "1 =", "0 <"),
    ),
    "an old report outlives the owner's word": Mistake(
        checks.an_order_to_send_again_is_not_answered_by_old_news,
        NONE._replace(resends=1, reports=1),
        wrong=swapped("decide_delivery", "reported = NULL,", ""),
    ),
    "what does not know its key again is given it again": Mistake(
        NEVER_TWICE, NONE._replace(kills=1), channel=Sort(gives=True, forgets=True)
    ),
    "a no to what was given again settles the doubt": Mistake(
        checks.refused_means_that_the_last_send_is_not_out,
        NONE._replace(kills=1, rebuffs=1),
        channel=Sort(gives=True, hasty=True),
    ),
    "what came back settles a later send": Mistake(
        checks.refused_means_that_the_last_send_is_not_out,
        NONE._replace(resends=1, reports=1, kills=1),
        channel=Sort(looks=True),
        wrong=swapped("sum_attempts", "AS out", "* 0 AS out"),
    ),
    "a doubt is taken for sent": Mistake(
        checks.sent_means_accepted_or_the_owners_word,
        NONE._replace(kills=1),
        wrong=swapped("doubt_delivery", "status = 'unknown'", "status = 'sent'"),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_protocol_is_seen(name: str) -> None:
    made = MISTAKES[name]

    found = walk(made.channel, made.limits, protocol=made.protocol, wrong=dict(made.wrong))

    assert found.wrong == made.seen_by.__name__, f"{name!r} is not seen"
    assert found.way
