"""Estimates the cost of a recurrence rule before it is expanded."""

from datetime import datetime, timedelta
from typing import Final

from remit.calendar import recur
from remit.calendar.expansion import ExpansionBudget, UnfitCalendar
from remit.calendar.rules import CalendarRule, filled
from remit.model.rrule import Freq

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


def check(rule: CalendarRule, first: datetime, reach: recur.Reach, budget: ExpansionBudget) -> None:
    """Refuse a rule that would use more steps, or give more slots, than are left."""
    steps, slots = estimate(rule, first, reach)
    budget.afford(steps, f"to expand its rule FREQ={rule.freq} until {reach[1]:%Y-%m-%d}")
    if slots > budget.limits.slots:
        raise UnfitCalendar(
            f"its rule FREQ={rule.freq} falls about {slots:,} times until {reach[1]:%Y-%m-%d}; "
            f"at most {budget.limits.slots:,} are taken"
        )


def estimate(rule: CalendarRule, first: datetime, reach: recur.Reach) -> tuple[int, int]:
    """Return the steps a rule needs within the reach, and the least number of slots.

    A rule with COUNT is not estimated: it is walked from its start, and each step counts.
    """
    if rule.count is not None:
        return 0, 0
    length = max(reach[1] - max(first, reach[0]), timedelta(0))
    periods = length // (_LENGTHS[rule.freq] * rule.interval) + 1
    if rule.freq in recur.COUNTED:
        minutes = len(rule.minutes) if rule.freq is Freq.HOURLY else 0
        return periods * max(minutes, 1), 0 if rule.picks else periods
    whole = filled(rule, first)
    times = len(whole.hours) * len(whole.minutes)
    slots = periods * times if rule.freq is Freq.DAILY and not _picks_days(rule) else 0
    return periods * _width(whole) * times, slots


def must_fall(rule: CalendarRule, first: datetime, budget: ExpansionBudget) -> None:
    """Refuse a rule that never falls on any day, such as the 30th of February."""
    if not rule.picks:
        return
    try:
        with budget.at_most(_LOOK):
            found = next(recur.matches(rule, first, budget), None)
    except UnfitCalendar:
        found = None
    if found is None:
        raise UnfitCalendar("its rule names a day that never comes, such as the 30th of February")


def _picks_days(rule: CalendarRule) -> bool:
    return bool(rule.months or rule.monthdays or rule.weekdays or rule.places)


def _width(rule: CalendarRule) -> int:
    """Return how many days are tried in one period."""
    if rule.freq is Freq.DAILY:
        return 1
    if rule.freq is Freq.WEEKLY:
        return len(rule.weekdays)
    month = len(rule.monthdays) or _LONGEST_MONTH
    return month if rule.freq is Freq.MONTHLY else month * (len(rule.months) or _MONTHS)
