"""The arguments of operations on people, channels, tokens and how Remit runs."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType, field

from remit.model.caller import Scope
from remit.model.notice import CONVERSATION
from remit.model.reply import Policy
from remit.operations.arguments import (
    AddressText,
    ArgumentPart,
    Arguments,
    ChannelWord,
    Name,
    NamedArguments,
)

# People and channels ------------------------------------------------------------------------------


class NewContact(Arguments, frozen=True):
    """A new contact. If the name exists, new fields are added to it."""

    address = "POST /api/contacts"

    name: Name
    channels: Annotated[dict[ChannelWord, AddressText], Meta(max_length=20)] = field(
        default_factory=dict
    )
    aliases: Annotated[list[Name], Meta(max_length=20)] = field(default_factory=list)
    role: Name | None = None


class ChangedContact(Arguments, frozen=True):
    """Changes to a contact: omitted fields stay, null removes a field."""

    address = "PATCH /api/contacts/{name}"
    fills: ClassVar[Mapping[str, str]] = {"name": "contact"}

    contact: str
    name: Name | None = None
    channels: Annotated[dict[ChannelWord, AddressText | None], Meta(max_length=20)] = field(
        default_factory=dict
    )
    aliases: Annotated[list[Name], Meta(max_length=20)] | UnsetType | None = UNSET
    role: Name | UnsetType | None = UNSET


class RemoveContact(NamedArguments, frozen=True):
    address = "DELETE /api/contacts/{name}"


class NewPermission(Arguments, frozen=True):
    """Whether Remit may write to a contact on a channel without asking."""

    address = "POST /api/contacts/permissions"

    contact: Annotated[str, Meta(max_length=500)]
    channel: Annotated[str, Meta(max_length=100)]
    policy: Policy


class NewRule(Arguments, frozen=True):
    """A standing rule of the owner. The only kind so far: who is written to without asking."""

    address = "POST /api/rules"

    kind: Literal["permission"]
    contact: AddressText
    channel: ChannelWord
    policy: Policy = Policy.ALLOW


class RemoveRule(Arguments, frozen=True):
    address = "DELETE /api/rules/{id}"

    id: str


class ChannelTest(NamedArguments, frozen=True):
    """A test message to the owner or to a contact."""

    address = "POST /api/channels/{name}/test"

    to: AddressText | None = None


class SwitchChannelOn(NamedArguments, frozen=True):
    address = "POST /api/channels/{name}/on"


# Who may come in ----------------------------------------------------------------------------------


class NewToken(Arguments, frozen=True):
    """A new token for a program, and what it may do."""

    address = "POST /api/tokens"
    kept = False

    name: Annotated[str, Meta(max_length=60)]
    scopes: Annotated[list[Scope], Meta(max_length=10)]
    agent: bool = False
    days: Annotated[int, Meta(ge=1, le=3660)] | None = None


class RevokeToken(Arguments, frozen=True):
    address = "DELETE /api/tokens/{id}"

    id: str


class InviteBrowser(Arguments, frozen=True):
    address = "POST /api/sign-ins"
    kept = False


class EndSignIn(Arguments, frozen=True):
    address = "DELETE /api/sign-ins/{id}"

    id: str


class PushKeys(ArgumentPart, frozen=True):
    """The keys that encrypt a push message for one browser."""

    p256dh: Annotated[str, Meta(min_length=1, max_length=200)]
    auth: Annotated[str, Meta(min_length=1, max_length=100)]


class NewSubscription(Arguments, frozen=True):
    """A browser's push subscription."""

    address = "POST /api/push"
    kept = False

    endpoint: Annotated[str, Meta(min_length=1, max_length=2048)]
    keys: PushKeys


class RemoveSubscription(Arguments, frozen=True):
    address = "DELETE /api/push"


# Upkeep -------------------------------------------------------------------------------------------


class NewView(Arguments, frozen=True):
    """A filter line saved under a name."""

    address = "POST /api/views"

    name: Annotated[str, Meta(min_length=1, max_length=60)]
    filter: Annotated[str, Meta(max_length=2_000)]


class RemoveView(NamedArguments, frozen=True):
    address = "DELETE /api/views/{name}"


class StartCue(Arguments, frozen=True):
    address = "POST /api/cues/{id}/start"

    id: str


class SyncCalendars(Arguments, frozen=True):
    address = "POST /api/calendars/sync"


class RebuildRecall(Arguments, frozen=True):
    address = "POST /api/recall/rebuild"


class TurnRecallOff(Arguments, frozen=True):
    address = "DELETE /api/recall"


class TriedWay(Arguments, frozen=True):
    """Where to send a test notice: conversation, push, or a channel's name."""

    address = "POST /api/notices/test"

    way: ChannelWord


class LookBack(Arguments, frozen=True):
    address = "POST /api/reflections"


class Revert(Arguments, frozen=True):
    """The change of the rules to revert; without one, the latest."""

    address = "POST /api/lessons/revert"

    change: Annotated[int, Meta(ge=1)] | None = None
    force: bool = False


Words: TypeAlias = Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(max_length=40)]


class NoticesForm(Arguments, frozen=True):
    """Where each kind of notice goes; a kind without a place is not sent."""

    address = "POST /settings/notices"

    question: Words = ()
    done: Words = ()
    failed: Words = ()
    lost: Words = ()
    missed: Words = ()
    refused: Words = ()
    urgent: Words = ()
    digest_at: Annotated[str, Meta(max_length=20)] = field(default="08:00", name="digest_at")
    digest_over: Words = field(default=(CONVERSATION,), name="digest_over")


class RefusalForm(Arguments, frozen=True):
    """A calendar event that could not be read, marked as seen."""

    address = "POST /schedule/refused"

    account: Annotated[str, Meta(max_length=200)]
    calendar: Annotated[str, Meta(max_length=2000)]
    path: Annotated[str, Meta(max_length=2000)]
