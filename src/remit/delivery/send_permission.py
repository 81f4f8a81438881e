"""Decides whether one message may go to one person on one channel: allow, ask or deny."""

from collections.abc import Sequence

from msgspec import Struct

from remit.model.permit import Permission, Reach, policy_of
from remit.model.reply import Policy
from remit.model.task import Taint
from remit.model.veto import VetoCue


class SendPermission(Struct, frozen=True):
    """Whether a message may go out as it is, and why it never may."""

    policy: Policy
    why: str = ""


def judge(
    reach: Reach,
    channel: str,
    standing: Sequence[Permission],
    *,
    taint: Taint = Taint.OWNER,
    veto: Sequence[VetoCue] = (),
    asks_first: bool = False,
) -> SendPermission:
    """Allow, ask or deny one message to one person on one channel. Pure.

    The owner may be written to without asking. For others the stricter of the contact book and the
    standing permissions counts; without either the owner is asked. A task that has read text from
    others always asks, and so does a message that the request's own words hold back.
    """
    if reach.owner:
        return SendPermission(Policy.ASK if asks_first else Policy.ALLOW)
    policy = policy_of(reach, channel, standing)
    if policy is Policy.DENY:
        why = f"you said that {reach.name} is not written to on {channel}"
        return SendPermission(Policy.DENY, f"{why}; `remit contacts` shows it")
    if taint is not Taint.OWNER:
        return SendPermission(Policy.ASK)
    return SendPermission(Policy.ASK if asks_first or veto else policy)
