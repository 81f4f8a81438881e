"""What the owner may answer to which question."""

import pytest

from remit.model.ids import TaskId
from remit.model.review import NEEDS_TEXT, OPTIONS, Answered, Review
from remit.model.status import Reason, Status


@pytest.mark.parametrize("reason", Reason)
def test_every_question_offers_its_answers_and_always_a_no(reason: Reason) -> None:
    review = Review(
        task_id=TaskId("task-1"),
        key="gate",
        reason=reason,
        question="What now?",
        resume_to=Status.RUNNING,
    )

    assert review.options == OPTIONS[reason]
    assert review.options[-1] is Answered.DECLINE
    assert len(set(review.options)) == len(review.options) > 1


def test_a_doubtful_send_is_settled_by_what_happened_not_by_a_plain_yes() -> None:
    settled = {Answered.ARRIVED, Answered.RESEND, Answered.DROP, Answered.DECLINE}

    assert set(OPTIONS[Reason.AMBIGUOUS]) == settled
    for reason in set(Reason) - {Reason.AMBIGUOUS}:
        assert not {Answered.ARRIVED, Answered.RESEND, Answered.DROP} & set(OPTIONS[reason])


def test_a_held_deliverable_is_never_sent_as_it_is() -> None:
    assert Answered.APPROVE not in OPTIONS[Reason.DELIVERABLE]
    assert Answered.EDIT in OPTIONS[Reason.DELIVERABLE]


def test_an_edit_an_answer_and_a_word_back_need_a_text() -> None:
    assert {Answered.EDIT, Answered.ANSWER, Answered.BACK} == NEEDS_TEXT
