"""A rule of repetition is told in words."""

from datetime import UTC, datetime

from remit.model.recurrence import Repeats
from remit.model.rrule import in_words
from tests.tables import for_each


@for_each(
    ("rule", "words"),
    [
        ("FREQ=DAILY;BYHOUR=9;BYMINUTE=0", "every day at 09:00"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=8;BYMINUTE=30", "every weekday at 08:30"),
        ("FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=8;BYMINUTE=5", "every Monday and Friday at 08:05"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=8", "every 2 weeks, on Monday at 08:00"),
        ("FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=9", "every month, on day 1 at 09:00"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=9", "every month, on the last day at 09:00"),
        ("FREQ=MONTHLY;BYDAY=1MO;BYHOUR=9", "every month, on the first Monday at 09:00"),
        ("FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9", "every month, on the last Friday at 09:00"),
        ("FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=8;BYHOUR=9", "every year, on day 8 of March at 09:00"),
        ("FREQ=HOURLY;INTERVAL=2", "every 2 hours"),
        ("FREQ=DAILY;BYHOUR=20,8;BYMINUTE=0", "every day at 08:00 and 20:00"),
        (
            "FREQ=DAILY;BYHOUR=9,10,11;BYMINUTE=0,30",
            "every day at 6 times from 09:00 to 11:30",
        ),
        ("FREQ=DAILY;BYHOUR=9;UNTIL=20260401T215959Z", "every day at 09:00 until 2026-04-01"),
    ],
)
def test_a_rule_is_told_as_one_would_say_it(rule: str, words: str) -> None:
    repeats = Repeats(rule, "Europe/Berlin", datetime(2026, 3, 2, tzinfo=UTC))

    assert in_words(repeats) == f"{words} (Europe/Berlin)"


def test_a_rule_that_has_no_words_is_shown_as_it_is() -> None:
    repeats = Repeats("FREQ=SECONDLY", "UTC", datetime(2026, 3, 2, tzinfo=UTC))

    assert in_words(repeats) == "FREQ=SECONDLY"
