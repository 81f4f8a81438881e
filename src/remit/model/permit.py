"""Where a message goes, what the owner allowed there, quiet times, and forms of phone numbers."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model.reply import Policy

_SPAN: Final = r"([01]\d|2[0-3]):([0-5]\d)\s*[-–]\s*([01]\d|2[0-3]):([0-5]\d)"
_DAY: Final = timedelta(days=1)


class QuietHours(Struct, frozen=True):
    """From one time of day to another, over midnight if the second is earlier."""

    since: str  # wall time: 22:00
    till: str

    @classmethod
    def parse(cls, text: str) -> "QuietHours":
        """Parse `22:00-07:00`; anything else is refused."""
        found = re.fullmatch(_SPAN, text.strip())
        if found is None or found[1] + found[2] == found[3] + found[4]:
            sentence = f"{text!r:.60} is no span of hours; one looks like 22:00-07:00."
            raise BadInput(sentence, field="quiet")
        return cls(f"{found[1]}:{found[2]}", f"{found[3]}:{found[4]}")

    def until(self, now: datetime, zone: tzinfo) -> datetime | None:
        """Return when the current quiet hours end; None if it is not quiet now.

        Moments are compared, not wall times: a repeated hour does not start the quiet again, and a
        skipped one does not swallow its end.
        """
        today = now.astimezone(zone).date()
        for day in (today - _DAY, today):
            begins = datetime.combine(day, time.fromisoformat(self.since), zone)
            last = day if self.till > self.since else day + _DAY
            ends = datetime.combine(last, time.fromisoformat(self.till), zone)
            if begins.timestamp() <= now.timestamp() < ends.timestamp():
                return datetime.fromtimestamp(ends.timestamp(), now.tzinfo)
        return None


_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MOST_STEPS: Final = 30  # one quiet span may begin where another ends, for two weeks at most


class QuietTimes(Struct, frozen=True):
    """When a person gets no messages: hours of every day, and whole days; Monday is 0."""

    hours: tuple[QuietHours, ...] = ()
    days: tuple[int, ...] = ()

    @classmethod
    def parse(cls, texts: Sequence[str]) -> "QuietTimes":
        """Parse `22:00-07:00` and `sunday`; anything else is refused."""
        days = [_WEEK.index(each.lower()) for each in texts if each.lower() in _WEEK]
        hours = [QuietHours.parse(each) for each in texts if each.lower() not in _WEEK]
        if len(set(days)) == len(_WEEK):
            raise BadInput("On some day messages must go out.", field="quiet")
        return cls(tuple(hours), tuple(dict.fromkeys(days)))

    @property
    def texts(self) -> tuple[str, ...]:
        """As written in a file."""
        hours = (f"{each.since}-{each.till}" for each in self.hours)
        return (*hours, *(_WEEK[day] for day in self.days))

    def joined(self, other: "QuietTimes") -> "QuietTimes":
        return QuietTimes.parse(tuple(dict.fromkeys((*self.texts, *other.texts))))

    def until(self, now: datetime, zone: tzinfo) -> datetime | None:
        """Return when a message may be sent; None if it may be sent now."""
        at = now
        for _ in range(_MOST_STEPS):
            ends = [each.until(at, zone) for each in self.hours] + [self._day_ends(at, zone)]
            later = [each for each in ends if each is not None]
            if not later:
                break
            at = max(later)
        return at if at > now else None

    def _day_ends(self, at: datetime, zone: tzinfo) -> datetime | None:
        local = at.astimezone(zone)
        if local.weekday() not in self.days:
            return None
        midnight = datetime.combine(local.date() + _DAY, time(), zone)
        return datetime.fromtimestamp(midnight.timestamp(), at.tzinfo)


NEVER_QUIET: Final = QuietTimes()


_STRICT_FIRST: Final = (Policy.DENY, Policy.ASK, Policy.ALLOW)


class Reach(Struct, frozen=True):
    """One person on one channel, as the contact book has it now."""

    name: str
    address: str | None  # None: the channel itself knows the owner's address
    policies: tuple[Policy, ...] = ()  # what the contact book says about this address
    owner: bool = False
    quiet: QuietTimes = NEVER_QUIET  # when this person gets nothing

    @property
    def shown(self) -> str:
        """The recipient and address, as shown to the owner in a question."""
        if self.owner:
            return "you"
        return self.name if self.address in (None, self.name) else f"{self.name} ({self.address})"


class UnclearRecipient(Struct, frozen=True):
    """It is unclear whom some words mean, or which address that person has."""

    sentence: str
    stranger: bool = False  # nobody in the contact book has this name; it may be an address


class Permission(Struct, frozen=True):
    """A standing permission of the owner. ALLOW applies only to the address that was shown."""

    contact: str
    channel: str
    address: str
    policy: Policy = Policy.ALLOW
    given_at: datetime | None = None


def policy_of(reach: Reach, channel: str, standing: Sequence[Permission]) -> Policy:
    """Return the strictest policy for a person on a channel; ASK if there is none."""
    policies = [*reach.policies, *_standing_policies(reach, channel, standing)]
    return min(policies, key=_STRICT_FIRST.index, default=Policy.ASK)


def _standing_policies(
    reach: Reach, channel: str, standing: Sequence[Permission]
) -> Iterator[Policy]:
    for each in standing:
        if each.channel != channel:
            continue
        name, address = each.contact == reach.name, each.address == reach.address
        # A denial applies to the name and to the address; an ALLOW only to both together.
        if (name and address) or ((name or address) and each.policy is not Policy.ALLOW):
            yield each.policy


# After the country code, before a number of ten digits: of mobile phones in one form of two.
_MOBILE: Final = {"52": "1", "54": "9"}
_LENGTH: Final = 12
_BRAZIL: Final = r"55([1-9]\d)(9?)([6-9]\d{7})"


def number_forms(digits: str) -> tuple[str, ...]:
    """Return the ways to write a number (digits with country code), the given one first.

    Mexico dropped a 1 after the country code, Argentina has a 9 there that people leave out, and
    Brazil added a 9 before the subscriber's number; WhatsApp uses other forms than people do.
    """
    country, number = digits[:2], digits[2:]
    mark = _MOBILE.get(country)
    if mark and len(digits) == _LENGTH:
        return (digits, country + mark + number)
    if mark and len(digits) == _LENGTH + 1 and number.startswith(mark):
        return (digits, country + number.removeprefix(mark))
    if brazil := re.fullmatch(_BRAZIL, digits):
        return (digits, f"55{brazil[1]}{'' if brazil[2] else '9'}{brazil[3]}")
    return (digits,)


def is_same_address(known: str, address: str) -> bool:
    """Whether two addresses are the same: mail in any case, a number in any form."""
    if not known or not address or ("@" in known) != ("@" in address):
        return False
    if "@" in known:
        return known.casefold() == address.casefold()
    ours, theirs = ("".join(filter(str.isdigit, each)) for each in (known, address))
    return bool(ours) and ours in number_forms(theirs)
