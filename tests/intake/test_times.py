"""What people say about time, in three languages, and what is resolved from it or asked back."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from remit.language.time import TimeText, time_words
from remit.language.time.phrase import combine, read_time
from remit.language.time.resolve import (
    Moment,
    Now,
    Recurrence,
    TimeDoubt,
    When,
    resolve_time,
)
from remit.language.tokens import keys_of, tokenize
from tests.intake.labelled import NOW, ZONE


def said(code: str, phrase: str) -> TimeText:
    tokens = tokenize(phrase)
    return TimeText(tokens, keys_of(tokens), time_words(code))


def whens(
    code: str, phrase: str, *, now: datetime = NOW, zone: ZoneInfo = ZONE
) -> tuple[When, ...]:
    """Read a phrase that is a time as a whole."""
    sentence = said(code, phrase)
    spoken = read_time(sentence, 0)
    assert spoken is not None, phrase
    assert spoken.end == len(sentence.tokens), phrase
    return resolve_time(spoken, phrase, now=now, zone=zone)


def when(code: str, phrase: str, *, now: datetime = NOW, zone: ZoneInfo = ZONE) -> When:
    (one,) = whens(code, phrase, now=now, zone=zone)
    return one


# Now is Wednesday, 4 March 2026, ten in the morning in Berlin: an hour ahead of UTC.
MOMENTS = [
    ("en", "in 2 minutes", "03-04 09:02"),
    ("en", "in an hour and a half", "03-04 10:30"),
    ("en", "in half an hour", "03-04 09:30"),
    ("en", "in 1h30", "03-04 10:30"),
    ("en", "in 1.5 hours", "03-04 10:30"),
    ("en", "in two and a half hours", "03-04 11:30"),
    ("en", "in 2 hours and 5 minutes", "03-04 11:05"),
    ("en", "in exactly 90 seconds", "03-04 09:01"),
    ("en", "45 min from now", "03-04 09:45"),
    ("en", "in 3 days", "03-07 09:00"),
    ("en", "in a week at 4pm", "03-11 15:00"),
    ("en", "in 2 months", "05-04 08:00"),
    ("en", "tomorrow at 9", "03-05 08:00"),
    ("en", "tomorrow morning at 9", "03-05 08:00"),
    ("en", "tomorrow, 9am", "03-05 08:00"),
    ("en", "tonight at 8", "03-04 19:00"),
    ("en", "on Friday at 10", "03-06 09:00"),
    ("en", "Friday next week at 10", "03-13 09:00"),
    ("en", "next week on Monday at 10", "03-09 09:00"),
    ("en", "at 3pm", "03-04 14:00"),
    ("en", "at 3:15 p.m.", "03-04 14:15"),
    ("en", "15h30", "03-04 14:30"),
    ("en", "at 15:00", "03-04 14:00"),
    ("en", "at half past four", "03-04 15:30"),
    ("en", "tomorrow half nine in the morning", "03-05 08:30"),
    ("en", "tomorrow at 7.40 in the morning", "03-05 06:40"),
    ("en", "8.15 in the evening", "03-04 19:15"),
    ("de", "um 19.30", "03-04 18:30"),
    ("de", "morgen um 7.40 morgens", "03-05 06:40"),
    ("es", "hoy a las 19.30", "03-04 18:30"),
    ("en", "at quarter to nine in the evening", "03-04 19:45"),
    ("en", "at ten past three", "03-04 14:10"),
    ("en", "at nine thirty in the evening", "03-04 20:30"),
    ("en", "at 3", "03-04 14:00"),
    ("en", "at noon", "03-04 11:00"),
    ("en", "at midnight", "03-04 23:00"),
    ("en", "2026-03-07 15:00", "03-07 14:00"),
    ("en", "2026-03-07T15:00Z", "03-07 15:00"),
    ("en", "March 15 at 3pm", "03-15 14:00"),
    ("en", "on 15 March 2026 at 15:00", "03-15 14:00"),
    ("en", "on the 15th at noon", "03-15 11:00"),
    ("en", "on 25/3 at 10:00", "03-25 09:00"),
    ("en", "at 15:00 London time", "03-04 15:00"),
    ("en", "at 9am EST", "03-04 14:00"),
    ("en", "at 17:00 America/New_York", "03-04 22:00"),
    ("de", "in anderthalb Stunden", "03-04 10:30"),
    ("de", "in einer halben Stunde", "03-04 09:30"),
    ("de", "in einer Viertelstunde", "03-04 09:15"),
    ("de", "in zweieinhalb Stunden", "03-04 11:30"),
    ("de", "morgen früh um 7", "03-05 06:00"),
    ("de", "heute Abend um 8", "03-04 19:00"),
    ("de", "übermorgen um 9 Uhr", "03-06 08:00"),
    ("de", "am 1.4. um 15 Uhr", "04-01 13:00"),
    ("de", "am 1.4.2026 um 15.30 Uhr", "04-01 13:30"),
    ("de", "am 3. Mai um 9 Uhr", "05-03 07:00"),
    ("de", "um halb fünf", "03-04 15:30"),
    ("de", "um Viertel nach drei nachmittags", "03-04 14:15"),
    ("de", "um zehn vor acht abends", "03-04 18:50"),
    ("de", "kommenden Freitag um 10 Uhr", "03-06 09:00"),
    ("de", "am Montag um 8 Uhr 30", "03-09 07:30"),
    ("es", "dentro de dos horas", "03-04 11:00"),
    ("es", "en hora y media", "03-04 10:30"),
    ("es", "dentro de tres cuartos de hora", "03-04 09:45"),
    ("es", "mañana a las 9", "03-05 08:00"),
    ("es", "mañana por la mañana a las 9", "03-05 08:00"),
    ("es", "pasado mañana a las nueve y cuarto", "03-06 08:15"),
    ("es", "a las cuatro y media", "03-04 15:30"),
    ("es", "a las tres menos diez", "03-04 13:50"),
    ("es", "a las 6 de la tarde", "03-04 17:00"),
    ("es", "el viernes que viene a las 11", "03-06 10:00"),
    ("es", "el 1 de abril a las 15:00", "04-01 13:00"),
    ("es", "el 5/4 a las 10:00", "04-05 08:00"),
    ("es", "a las 15:00 hora de Londres", "03-04 15:00"),
]


@pytest.mark.parametrize(("code", "phrase", "expected"), MOMENTS)
def test_a_time_that_is_clear_is_a_moment(code: str, phrase: str, expected: str) -> None:
    found = when(code, phrase)

    assert isinstance(found, Moment), found
    assert f"{found.at:%m-%d %H:%M}" == expected


DOUBTS = [
    ("en", "this evening"),
    ("en", "tomorrow"),
    ("en", "next Friday at 10"),  # the coming one, or the one after it?
    ("en", "on Wednesday at 11"),  # today, or in a week?
    ("en", "tomorrow at 3"),  # in the morning, or in the afternoon?
    ("en", "tonight at 2"),
    ("en", "tomorrow at midnight"),
    ("en", "at 9"),  # has passed
    ("en", "yesterday at 9"),
    ("en", "2020-01-01 15:00"),
    ("en", "on February 30 at 10:00"),
    ("en", "on 3/4 at 10:00"),
    ("en", "in a few minutes"),
    ("en", "in 10"),
    ("en", "in 99999 years"),
    ("en", "later"),
    ("en", "next week"),
    ("en", "at 15:00 IST"),  # India, Israel or Ireland?
    ("en", "every Friday"),
    ("en", "every day at 6"),
    ("en", "every month at 9"),
    ("en", "on the last day of the month at 9"),  # of this one, or of each?
    ("de", "übermorgen früh"),
    ("de", "heute Abend"),
    ("de", "nächsten Freitag um 10 Uhr"),
    ("de", "alle zwei Wochen"),
    ("de", "bald"),
    ("es", "esta noche"),
    ("es", "mañana por la mañana"),
    ("es", "más tarde"),
]


@pytest.mark.parametrize(("code", "phrase"), DOUBTS)
def test_a_time_that_is_vague_or_past_is_asked_back(code: str, phrase: str) -> None:
    found = when(code, phrase)

    assert isinstance(found, TimeDoubt), found
    assert found.why[-1] in "?."


@pytest.mark.parametrize(
    ("code", "phrase"),
    [("en", "yesterday"), ("en", "yesterday at 9"), ("en", "on 1 January 2020"), ("de", "gestern")],
)
def test_a_day_that_is_over_is_not_asked_for_its_hour(code: str, phrase: str) -> None:
    found = when(code, phrase)

    assert isinstance(found, TimeDoubt), found
    assert "has passed" in found.why


SERIES = [
    ("en", "every weekday at 8:30", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=8;BYMINUTE=30"),
    ("en", "on weekdays at 8:30", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=8;BYMINUTE=30"),
    ("en", "Monday to Friday at 8", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=8;BYMINUTE=0"),
    ("en", "every other Tuesday at 10", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;BYHOUR=10;BYMINUTE=0"),
    ("en", "every two weeks on Friday at 9", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;BYHOUR=9;BYMINUTE=0"),
    ("en", "on the 1st of each month at 9", "FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=9;BYMINUTE=0"),
    (
        "en",
        "on the 1st and 15th of every month at 9am",
        "FREQ=MONTHLY;BYMONTHDAY=1,15;BYHOUR=9;BYMINUTE=0",
    ),
    ("en", "every month on the 15th at 9am", "FREQ=MONTHLY;BYMONTHDAY=15;BYHOUR=9;BYMINUTE=0"),
    (
        "en",
        "the last day of every month at 18:00",
        "FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=18;BYMINUTE=0",
    ),
    ("en", "every first Monday of the month at 8", "FREQ=MONTHLY;BYDAY=1MO;BYHOUR=8;BYMINUTE=0"),
    (
        "en",
        "every year on March 3 at 9am",
        "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=3;BYHOUR=9;BYMINUTE=0",
    ),
    ("en", "every morning at 7", "FREQ=DAILY;BYHOUR=7;BYMINUTE=0"),
    ("en", "every evening at 7", "FREQ=DAILY;BYHOUR=19;BYMINUTE=0"),
    ("en", "daily at 7am", "FREQ=DAILY;BYHOUR=7;BYMINUTE=0"),
    ("en", "every 15 minutes", "FREQ=MINUTELY;INTERVAL=15"),
    ("en", "every hour", "FREQ=HOURLY"),
    (
        "en",
        "every Monday at 9 until June 30",
        "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0;UNTIL=20260630T215959Z",
    ),
    ("de", "jeden Montag um 9", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0"),
    ("de", "jeden Morgen um 7", "FREQ=DAILY;BYHOUR=7;BYMINUTE=0"),
    ("de", "montags und donnerstags um 18 Uhr", "FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=18;BYMINUTE=0"),
    (
        "de",
        "jeden zweiten Dienstag um 10 Uhr",
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;BYHOUR=10;BYMINUTE=0",
    ),
    ("de", "am 1. jedes Monats um 9", "FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=9;BYMINUTE=0"),
    ("de", "täglich um 7:30 Uhr", "FREQ=DAILY;BYHOUR=7;BYMINUTE=30"),
    ("es", "cada lunes a las 9", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0"),
    ("es", "todos los días a las 8", "FREQ=DAILY;BYHOUR=8;BYMINUTE=0"),
    ("es", "los lunes y miércoles a las 9", "FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0"),
    (
        "es",
        "cada dos semanas, los viernes a las 17:00",
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;BYHOUR=17;BYMINUTE=0",
    ),
    ("es", "de lunes a viernes a las 8", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=8;BYMINUTE=0"),
    ("es", "el primer lunes de cada mes a las 9", "FREQ=MONTHLY;BYDAY=1MO;BYHOUR=9;BYMINUTE=0"),
]


@pytest.mark.parametrize(("code", "phrase", "rule"), SERIES)
def test_what_comes_back_is_a_rule_in_a_zone(code: str, phrase: str, rule: str) -> None:
    found = when(code, phrase)

    assert isinstance(found, Recurrence), found
    assert (found.rule, found.zone) == (rule, "Europe/Berlin")
    assert found.first > NOW


NO_TIMES = [
    ("en", "9 to 5"),
    ("en", "at 9 Elm Street"),
    ("en", "Friday deals"),
    ("en", "daily news"),
    ("en", "may I"),
    ("en", "march"),
    ("en", "1/2 cup"),
    ("en", "tomorrow's weather"),
    ("de", "halbe Stunde"),
    ("es", "once"),
]


@pytest.mark.parametrize(("code", "phrase"), NO_TIMES)
def test_what_only_looks_like_a_time_is_none(code: str, phrase: str) -> None:
    assert read_time(said(code, phrase), 0) is None


def test_at_once_is_no_moment_to_wait_for() -> None:
    assert when("en", "right now") == when("de", "sofort") == when("es", "ahora mismo") == Now()


def test_two_times_of_day_are_two_answers() -> None:
    found = whens("en", "tomorrow at 9 and at 17:00")

    assert [f"{one.at:%H:%M}" for one in found if isinstance(one, Moment)] == ["08:00", "16:00"]


def test_a_clock_that_is_turned_forward_is_noted() -> None:
    found = when("en", "on March 29 at 2:30am")

    assert isinstance(found, Moment)
    assert found.at == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert found.note == "02:30 does not exist on 2026-03-29, for the clocks go forward: 03:30."


def test_a_clock_that_is_turned_back_is_noted() -> None:
    found = when("en", "on October 25 at 2:30am")

    assert isinstance(found, Moment)
    assert found.at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert found.note is not None
    assert "twice" in found.note


def test_hours_are_counted_and_days_keep_their_hour_when_the_clocks_change() -> None:
    evening_before = datetime(2026, 3, 28, 22, tzinfo=UTC)  # eleven at night in Berlin

    hours = when("en", "in 4 hours", now=evening_before)
    days = when("en", "in 1 day", now=evening_before)

    assert isinstance(hours, Moment)
    assert hours.at == datetime(2026, 3, 29, 2, tzinfo=UTC)
    assert isinstance(days, Moment)
    assert days.at == datetime(2026, 3, 29, 21, tzinfo=UTC)


def test_the_owner_s_zone_is_what_nine_means() -> None:
    now = datetime(2026, 3, 4, 15, tzinfo=UTC)

    found = when("en", "at 9am", now=now, zone=ZoneInfo("America/Los_Angeles"))

    assert isinstance(found, Moment)
    assert found.at == datetime(2026, 3, 4, 17, tzinfo=UTC)


def test_halves_said_apart_are_put_together_and_two_times_are_not() -> None:
    friday, nine = read_time(said("en", "on Friday"), 0), read_time(said("en", "at 9am"), 0)
    assert friday
    assert nine

    joined = combine(friday, nine)

    assert joined
    assert (joined.day, joined.clocks) == (friday.day, nine.clocks)
    assert combine(nine, nine) is None
