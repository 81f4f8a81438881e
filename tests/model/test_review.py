"""What the owner may answer to which question."""

from remit.model.ids import TaskId
from remit.model.review import NEEDS_TEXT, OPTIONS, Review, ReviewAnswer
from remit.model.status import Reason, Status
from tests.tables import for_each


@for_each("reason", Reason)
def test_every_question_offers_its_answers_and_always_a_no(reason: Reason) -> None:
    review = Review(
        task_id=TaskId("task-1"),
        key="gate",
        reason=reason,
        question="What now?",
        resume_to=Status.RUNNING,
    )

    assert review.options == OPTIONS[reason]
    assert review.options[-1] is ReviewAnswer.DECLINE
    assert len(set(review.options)) == len(review.options) > 1


def test_a_doubtful_send_is_settled_by_what_happened_not_by_a_plain_yes() -> None:
    settled = {ReviewAnswer.ARRIVED, ReviewAnswer.RESEND, ReviewAnswer.DROP, ReviewAnswer.DECLINE}

    assert set(OPTIONS[Reason.AMBIGUOUS]) == settled
    for reason in set(Reason) - {Reason.AMBIGUOUS}:
        assert not {ReviewAnswer.ARRIVED, ReviewAnswer.RESEND, ReviewAnswer.DROP} & set(
            OPTIONS[reason]
        )


def test_a_held_deliverable_is_never_sent_as_it_is() -> None:
    assert ReviewAnswer.APPROVE not in OPTIONS[Reason.DELIVERABLE]
    assert ReviewAnswer.EDIT in OPTIONS[Reason.DELIVERABLE]


def test_an_edit_an_answer_and_a_word_back_need_a_text() -> None:
    assert {ReviewAnswer.EDIT, ReviewAnswer.ANSWER, ReviewAnswer.BACK} == NEEDS_TEXT
