"""What buttons of a chat say."""

from remit.channels.buttons import LABELS
from remit.model.review import ReviewAnswer


def test_a_press_that_comes_late_can_name_every_answer_that_was_given() -> None:
    assert set(LABELS) == set(ReviewAnswer)
