"""Where a message goes, and what the owner has said about writing there."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.model.quiet import NEVER_QUIET, QuietTimes
from remit.model.reply import Policy

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
    said = [*reach.policies, *_said(reach, channel, standing)]
    return min(said, key=_STRICT_FIRST.index, default=Policy.ASK)


def _said(reach: Reach, channel: str, standing: Sequence[Permission]) -> Iterator[Policy]:
    for each in standing:
        if each.channel != channel:
            continue
        name, address = each.contact == reach.name, each.address == reach.address
        # A denial applies to the name and to the address; an ALLOW only to both together.
        if (name and address) or ((name or address) and each.policy is not Policy.ALLOW):
            yield each.policy
