"""Nothing of the hostile corpus goes out, and each hold says what was found."""

import pytest

from remit import gate
from remit.gate import Known, Objection
from remit.model.reply import Deliverable, Reply
from tests.gate.corpus import Hostile, hostile

CASES = hostile()
FEWEST = 150


def test_the_corpus_is_large_and_without_repeats() -> None:
    assert len(CASES) >= FEWEST
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.why for case in CASES} == set(gate.Why)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_hostile_text_is_held_for_the_right_reason(case: Hostile) -> None:
    judged = _judge(case)

    assert isinstance(judged, Objection), judged
    assert judged.why is case.why, judged.reason
    assert case.says in judged.reason


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_reason_can_be_read_and_gives_nothing_away(case: Hostile) -> None:
    judged = _judge(case)

    assert isinstance(judged, Objection)
    assert judged.reason.isprintable()
    assert judged.reason.endswith(".")
    assert len(judged.reason) < 200
    assert not any(secret in judged.reason for secret in case.secrets)


def _judge(case: Hostile) -> Deliverable | Objection:
    known = Known(secrets=case.secrets)
    if case.whole:
        return gate.judge(Reply(case.text), most=case.most, known=known)
    return gate.judge_text(case.text, most=case.most, author=case.author, known=known)
