"""Where a message goes, and what the owner has said about writing there."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.model.quiet import NEVER_QUIET, QuietTimes
from remit.model.reply import Policy

_STRICT_FIRST: Final = (Policy.DENY, Policy.ASK, Policy.ALLOW)


class Reach(Struct, frozen=True):
    """One person on one channel, as the book has it now."""

    name: str
    address: str | None  # None: the channel itself knows where its owner reads
    policies: tuple[Policy, ...] = ()  # what the book says of whoever has this address there
    owner: bool = False
    quiet: QuietTimes = NEVER_QUIET  # when this person gets nothing

    @property
    def shown(self) -> str:
        """Who gets it, and where, as the owner is asked about it."""
        if self.owner:
            return "you"
        return self.name if self.address in (None, self.name) else f"{self.name} ({self.address})"


class UnclearRecipient(Struct, frozen=True):
    """Nobody can tell whom some words mean, or where that person is written to."""

    sentence: str
    stranger: bool = False  # nobody in the book is called so; it may be an address


class Permission(Struct, frozen=True):
    """What the owner said once and for all. To allow holds for the address that he saw alone."""

    contact: str
    channel: str
    address: str
    policy: Policy = Policy.ALLOW
    given_at: datetime | None = None


def policy_of(reach: Reach, channel: str, standing: Sequence[Permission]) -> Policy:
    """The strictest word there is about a person on a channel; without one it is asked."""
    said = [*reach.policies, *_said(reach, channel, standing)]
    return min(said, key=_STRICT_FIRST.index, default=Policy.ASK)


def _said(reach: Reach, channel: str, standing: Sequence[Permission]) -> Iterator[Policy]:
    for each in standing:
        if each.channel != channel:
            continue
        name, address = each.contact == reach.name, each.address == reach.address
        # A no follows the name and the address; a yes holds for both together, as they were seen.
        if (name and address) or ((name or address) and each.policy is not Policy.ALLOW):
            yield each.policy
