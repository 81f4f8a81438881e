"""The owner's standing permissions to write to people; whether and when one message may go."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, tzinfo
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts.book import FILE, OWNER, ContactEntry, Contacts
from remit.errors import NotPossibleNow, UnknownName
from remit.model.codec import Json, JsonMap, stamp
from remit.model.delivery import Delivery, SendCap
from remit.model.ids import ReviewId
from remit.model.permit import Permission, QuietHours, Reach, policy_of
from remit.model.reply import Policy
from remit.model.review import Decision, ReviewAnswer
from remit.model.status import Reason
from remit.model.task import Taint, Task
from remit.model.veto import VetoCue, excludes
from remit.ports import Clock, People
from remit.store import permissions, reviews
from remit.store.database import Database, Tx


class Permits:
    def __init__(self, contacts: Contacts, db: Database, clock: Clock) -> None:
        self._contacts = contacts
        self._db = db
        self._clock = clock

    async def permit(self, contact: str, channel: str, policy: Policy) -> JsonMap:
        """Store a permission for someone on a channel; ALLOW is for the current address only."""
        reach = self._reach(contact, channel)
        permission = Permission(reach.name, channel, reach.address or "", policy)
        await self._db.write(permissions.put, permission, self._clock.now())
        holds = policy_of(
            reach, channel, await self._db.read(permissions.list_for_channel, channel)
        )
        return {"name": reach.name, "channel": channel, "policy": policy, "holds": holds}

    async def switch_on(self, channel: str) -> JsonMap:
        """Use a channel again that was switched off; what waited for it continues."""
        self._check_channel(channel)
        was_off = await self._db.write(_switched_on, channel, self._clock.now())
        return {"channel": channel, "wasOff": was_off is not None, "released": was_off or 0}

    def contact_named(self, words: str) -> str:
        """Return the whole name of the one contact that is meant; it must be in the book."""
        names = {each.name for each in self._contacts.entries() if each.role != OWNER}
        name = self._contacts.name_for(words)
        if name not in names:
            known = ", ".join(sorted(names)) or "nobody yet"
            sentence = f"{words!r:.60} is no contact of yours; there is {known:.300}."
            raise UnknownName(sentence, field="to")
        return name

    def names(self, channel: str = "") -> list[str]:
        """Return who is in the book, first those with an address on a channel."""
        people = [each for each in self._contacts.entries() if each.role != OWNER]
        reach = ((each.name, self._contacts.find(each.name, channel)) for each in people if channel)
        reached = [name for name, found in reach if isinstance(found, Reach)]
        return list(dict.fromkeys([*reached, *(each.name for each in people)]))

    def addressed(self, task: Task) -> Task:
        """Return the task with the current address of each recipient."""
        return replace(task, delivery=tuple(self._with_address(each) for each in task.delivery))

    def _with_address(self, delivery: Delivery) -> Delivery:
        if delivery.recipient is None:
            return delivery
        reach = self._contacts.find(delivery.recipient, delivery.channel)
        return replace(delivery, address=reach.address if isinstance(reach, Reach) else None)

    async def listed(self) -> JsonMap:
        """Return everyone in the book, and every permission for someone who is not in it."""
        return list_contacts(self._contacts, await self._db.read(permissions.list_permissions))

    def _reach(self, contact: str, channel: str) -> Reach:
        self._check_channel(channel)
        whole = self._contacts.name_for(contact)
        reach = self._contacts.find(whole, channel)
        if not isinstance(reach, Reach):
            raise UnknownName(reach.sentence, field="contact")
        if reach.owner:
            raise NotPossibleNow("You are always written to; no word is needed.", field="contact")
        return reach

    def _check_channel(self, channel: str) -> None:
        if channel not in self._contacts.channels:
            known = ", ".join(self._contacts.channels)
            sentence = f"There is no channel {channel!r:.60}; there is {known}."
            raise UnknownName(sentence, field="channel")


def asks_first(
    task: Task, delivery: Delivery, contacts: Contacts, standing: Sequence[Permission]
) -> bool:
    """Whether the owner is asked before a message goes to somebody, as of now."""
    if delivery.recipient is None:
        return False
    reach = contacts.find(delivery.recipient, delivery.channel)
    if not isinstance(reach, Reach):
        return True
    if excludes(task.conditions, reach.name):
        return False  # it is refused
    found = judge(reach, delivery.channel, standing, taint=task.taint, veto=task.veto)
    return found.policy is Policy.ASK


def _switched_on(tx: Tx, channel: str, now: datetime) -> int | None:
    """Switch a channel on and answer what waited for it; None if it was on."""
    if not permissions.turn_on(tx, channel, now):
        return None
    waiting = reviews.waiting_for(tx, Reason.AUTH, f"channel:{channel}")
    decision = Decision(ReviewAnswer.APPROVE, by=f"owner: {channel} was switched on")
    for each in waiting:
        reviews.decide(tx, ReviewId(str(each.id)), decision, now)
    return len(waiting)


def list_contacts(contacts: Contacts, standing: Sequence[Permission]) -> JsonMap:
    """Return the book with the policy for each address, in file order; then those not in it."""
    entries = contacts.entries()
    people: list[Json] = [_contact_json(contacts, each, standing) for each in entries]
    names = {each.name for each in entries}
    others: list[Json] = [_permission_json(each) for each in standing if each.contact not in names]
    return {"contacts": people, "others": others}


def _contact_json(
    contacts: Contacts, entry: ContactEntry, standing: Sequence[Permission]
) -> JsonMap:
    ways: list[Json] = []
    for channel, line in entry.lines.items():
        content: JsonMap = {"channel": channel, "address": line.address, "id": line.id}
        reach = contacts.find(entry.name, channel)
        if entry.role == OWNER:
            content["policy"] = Policy.ALLOW
        elif isinstance(reach, Reach):
            content["policy"] = policy_of(reach, channel, standing)
        ways.append(content | {"here": channel in contacts.channels})
    own_permissions = [_permission_json(each) for each in standing if each.contact == entry.name]
    return {
        "name": entry.name,
        "aliases": list[Json](entry.aliases),
        "role": entry.role,
        "channels": ways,
        "file": {channel: policy.value for channel, policy in entry.policy.items()},
        "permissions": list[Json](own_permissions),
        "quiet": list[Json](entry.quiet.texts),
    }


def _permission_json(permission: Permission) -> JsonMap:
    return {
        "contact": permission.contact,
        "channel": permission.channel,
        "address": permission.address,
        "policy": permission.policy,
        "givenAt": stamp(permission.given_at) if permission.given_at else None,
    }


def sentence(content: JsonMap) -> str:
    """Return what applies after the owner's decision; the file may be stricter."""
    name, channel, policy, holds = (content[key] for key in ("name", "channel", "policy", "holds"))
    if policy == holds:
        return f"{name} on {channel}: {policy}."
    return f"{name} on {channel}: {policy} is kept, but {holds} counts, for {FILE} says so."


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


Standing: TypeAlias = Callable[[str], Awaitable[Sequence[Permission]]]  # on a channel
Count: TypeAlias = Callable[[Delivery, datetime], Awaitable[int]]


class SendLimits(Struct, frozen=True, kw_only=True):
    people: People
    standing: Standing  # the owner's standing permissions
    sent: Count  # how many other messages went to the same place since a moment
    now: Callable[[], datetime]
    zone: tzinfo
    quiet: QuietHours | None = None
    daily_cap: int = 0  # 0: no limit
    undo: int = 0  # seconds in which an approval can be undone

    def quiet_left(self) -> float:
        """Return how many seconds of quiet hours are left."""
        now = self.now()
        until = self.quiet.until(now, self.zone) if self.quiet else None
        return (until - now).total_seconds() if until else 0.0

    def undo_left(self, approved_at: datetime | None) -> float:
        """Return how many seconds an approval can still be undone."""
        if approved_at is None:
            return 0.0
        left = self.undo - (self.now() - approved_at).total_seconds()
        return left if 0 < left <= self.undo else 0.0  # ignore a corrected clock

    def cap(self) -> SendCap | None:
        """Return how many messages may go to one place today; None: no limit."""
        midnight = self.now().astimezone(self.zone).replace(hour=0, minute=0, second=0)
        return SendCap(midnight.replace(microsecond=0), self.daily_cap) if self.daily_cap else None

    async def crowd(self, delivery: Delivery) -> str | None:
        """Return why a message would exceed today's limit; None if it does not."""
        if (cap := self.cap()) is None:
            return None
        count = await self.sent(delivery, cap.since)
        if count < cap.most:
            return None
        return f"{count} messages went there today, and {self.daily_cap} is the limit. "
