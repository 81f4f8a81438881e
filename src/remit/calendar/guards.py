"""Estimates the cost of a recurrence rule before it is expanded."""

from datetime import datetime, timedelta
from typing import Final

from remit.calendar.expansion import ExpansionBudget, UnfitCalendar
from remit.model import recurrence_times
from remit.model.recurrence import Freq, RecurrenceRule, filled

_LENGTHS: Final = {
    Freq.MINUTELY: timedelta(minutes=1),
    Freq.HOURLY: timedelta(hours=1),
    Freq.DAILY: timedelta(days=1),
    Freq.WEEKLY: timedelta(days=7),
    Freq.MONTHLY: timedelta(days=30),
    Freq.YEARLY: timedelta(days=365),
}
_LONGEST_MONTH: Final = 31
_MONTHS: Final = 12
_LOOK: Final = 20_000  # steps after which a rule without a result counts as empty


def check(
    rule: RecurrenceRule, first: datetime, reach: recurrence_times.Reach, budget: ExpansionBudget
) -> None:
    """Refuse a rule that would take more steps, or give more slots, than are left for it."""
    steps, slots = estimate(rule, first, reach)
    budget.afford(steps, f"to expand its rule FREQ={rule.freq} until {reach[1]:%Y-%m-%d}")
    if slots > budget.limits.slots:
        raise UnfitCalendar(
            f"its rule FREQ={rule.freq} falls about {slots:,} times until {reach[1]:%Y-%m-%d}; "
            f"at most {budget.limits.slots:,} are taken"
        )


def estimate(
    rule: RecurrenceRule, first: datetime, reach: recurrence_times.Reach
) -> tuple[int, int]:
    """How many steps a rule takes to the end of the reach, and how many times it falls at least.

    A rule with COUNT is not estimated: it is walked from its start, and each step counts.
    """
    if rule.count is not None:
        return 0, 0
    length = max(reach[1] - max(first, reach[0]), timedelta(0))
    periods = length // (_LENGTHS[rule.freq] * rule.interval) + 1
    if rule.freq in recurrence_times.COUNTED:
        minutes = len(rule.minutes) if rule.freq is Freq.HOURLY else 0
        return periods * max(minutes, 1), 0 if rule.picks else periods
    whole = filled(rule, first)
    times = len(whole.hours) * len(whole.minutes)
    slots = periods * times if rule.freq is Freq.DAILY and not _picks_days(rule) else 0
    return periods * _width(whole) * times, slots


def must_fall(rule: RecurrenceRule, first: datetime, budget: ExpansionBudget) -> None:
    """Refuse a rule that never falls on any day, such as the 30th of February."""
    if not rule.picks:
        return
    try:
        with budget.at_most(_LOOK):
            every = recurrence_times.matches(rule, first, first, budget.spend)
            found = next((each for each in every if each >= first), None)
    except UnfitCalendar:
        found = None
    if found is None:
        raise UnfitCalendar("its rule names a day that never comes, such as the 30th of February")


def _picks_days(rule: RecurrenceRule) -> bool:
    return bool(rule.months or rule.monthdays or rule.weekdays or rule.places)


def _width(rule: RecurrenceRule) -> int:
    """How many days are looked at in one period."""
    if rule.freq is Freq.DAILY:
        return 1
    if rule.freq is Freq.WEEKLY:
        return len(rule.weekdays)
    month = len(rule.monthdays) or _LONGEST_MONTH
    return month if rule.freq is Freq.MONTHLY else month * (len(rule.months) or _MONTHS)
