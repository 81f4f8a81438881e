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
    """Someone for the book; of who is in it, what is new is added."""

    address = "POST /api/contacts"

    name: Name
    channels: Annotated[dict[ChannelWord, AddressText], Meta(max_length=20)] = field(
        default_factory=dict
    )
    aliases: Annotated[list[Name], Meta(max_length=20)] = field(default_factory=list)
    role: Name | None = None


class ChangedContact(Arguments, frozen=True):
    """What an entry of the book becomes: what is left out stays, what is null goes."""

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
    """Whether someone is written to on a channel, from now on."""

    address = "POST /api/contacts/permissions"

    contact: Annotated[str, Meta(max_length=500)]
    channel: Annotated[str, Meta(max_length=100)]
    policy: Policy


class NewRule(Arguments, frozen=True):
    """A standing word of the owner. So far there is one kind: who is written to unasked."""

    address = "POST /api/rules"

    kind: Literal["permission"]
    contact: AddressText
    channel: ChannelWord
    policy: Policy = Policy.ALLOW


class RemoveRule(Arguments, frozen=True):
    address = "DELETE /api/rules/{id}"

    id: str


class ChannelTest(NamedArguments, frozen=True):
    """A test message to the owner, or to someone in the book."""

    address = "POST /api/channels/{name}/test"

    to: AddressText | None = None


class SwitchChannelOn(NamedArguments, frozen=True):
    address = "POST /api/channels/{name}/on"


# Who may come in ----------------------------------------------------------------------------------


class NewToken(Arguments, frozen=True):
    """A program's way in, and what it may do."""

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
    """What a text is sealed with, so that nobody but that browser reads it."""

    p256dh: Annotated[str, Meta(min_length=1, max_length=200)]
    auth: Annotated[str, Meta(min_length=1, max_length=100)]


class NewSubscription(Arguments, frozen=True):
    """What a browser says when it is asked for a subscription."""

    address = "POST /api/push"
    kept = False

    endpoint: Annotated[str, Meta(min_length=1, max_length=2048)]
    keys: PushKeys


class RemoveSubscription(Arguments, frozen=True):
    address = "DELETE /api/push"


# Upkeep -------------------------------------------------------------------------------------------


class NewView(Arguments, frozen=True):
    """A filter line under a name."""

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
    """Which way is tried: conversation, push, or a channel's name."""

    address = "POST /api/notices/test"

    way: ChannelWord


class LookBack(Arguments, frozen=True):
    address = "POST /api/reflections"


class Revert(Arguments, frozen=True):
    """Which change is taken back: the latest that holds, if none is named."""

    address = "POST /api/lessons/revert"

    change: Annotated[int, Meta(ge=1)] | None = None
    force: bool = False


Words: TypeAlias = Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(max_length=40)]


class NoticesForm(Arguments, frozen=True):
    """What the form says: for each kind its ways; a kind without one is told nowhere."""

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
    """Which event of a calendar, that starts nothing, was seen."""

    address = "POST /schedule/refused"

    account: Annotated[str, Meta(max_length=200)]
    calendar: Annotated[str, Meta(max_length=2000)]
    path: Annotated[str, Meta(max_length=2000)]
