"""The checker of histories finds what it is for: each case is a history with one fault."""

from collections.abc import Sequence

import pytest

from tests.machines import history
from tests.machines.history import Record


def event(kind: str, **data: object) -> tuple[str, dict[str, object]]:
    return kind, data


def records(events: Sequence[tuple[str, dict[str, object]]]) -> list[Record]:
    return [
        Record(n, "t", n, kind, f"hash {n}", {"delivery": "d"} | data)
        for n, (kind, data) in enumerate(events, 1)
    ]


START = event("task.moved", to="running", lease=1, run="r1")
AGAIN = event("task.moved", to="running", lease=2, run="r2")
DONE = event("task.moved", to="completed")
CLAIM = event("delivery.claimed")
SENT = event("delivery.settled", answer="accepted")
LATE = event("delivery.settled", answer="accepted", late=True)
UNKNOWN = event("delivery.settled", answer="unknown")
REFUSED = event("delivery.settled", answer="refused")
OLD_STEP = event("step.done", run="r1")
TURN = event("turn.said", conversation="c", role="assistant", tasks=["task-1"])
ASKED = event("turn.said", conversation="c", role="user", tasks=[])

GOOD = {
    "sent": ([START, CLAIM, SENT, DONE], 1),
    "cut, and the owner is asked": ([START, CLAIM, AGAIN, UNKNOWN], 1),
    "cut, and known late": ([START, CLAIM, AGAIN, LATE, UNKNOWN, SENT, DONE], 1),
    "refused": ([START, CLAIM, REFUSED], 0),
    "answered, and told": ([ASKED, START, TURN, DONE, TURN], 0),
}
BAD = {
    "accepted 2 times": ([START, CLAIM, SENT, DONE], 2),
    "went out without a claim": ([START, DONE], 1),
    "nobody got it": ([START, CLAIM, SENT, DONE], 0),
    "somebody got it": ([START, CLAIM, REFUSED], 1),
    "its answer was known": ([START, CLAIM, SENT, UNKNOWN], 1),
    "never settled": ([START, CLAIM], 0),
    "as a late answer told": ([START, CLAIM, AGAIN, LATE, UNKNOWN], 1),
    "a run that was replaced": ([START, AGAIN, OLD_STEP], 0),
    "came after": ([AGAIN, START], 0),
    "nobody answered": ([START, ASKED, DONE], 0),
    "3 answers in a conversation": ([START, TURN, TURN, DONE, TURN], 0),
}


@pytest.mark.parametrize("what", GOOD)
def test_a_good_history_is_left_alone(what: str) -> None:
    events, accepted = GOOD[what]
    assert list(history.complaints(records(events), ["d"] * accepted, over=True)) == []


@pytest.mark.parametrize("sentence", BAD)
def test_a_fault_is_found(sentence: str) -> None:
    events, accepted = BAD[sentence]
    (found,) = history.complaints(records(events), ["d"] * accepted, over=True)
    assert sentence in found


@pytest.mark.parametrize(
    ("places", "sentence"),
    [((0, 2), "has a gap"), ((0, 1, 1), "tells something twice"), ((1, 0), "out of order")],
)
def test_a_journal_with_a_gap_or_out_of_order_is_found(
    places: tuple[int, ...], sentence: str
) -> None:
    whole = records([START, AGAIN, DONE])
    found = history.complaints([whole[n] for n in places], [])
    assert any(sentence in each for each in found)


def test_what_has_not_come_to_rest_is_named() -> None:
    assert history.unsettled(records([START])) == {"t"}
    assert history.unsettled(records([START, DONE])) == set()
