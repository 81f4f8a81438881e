"""The arguments of operations on series, files, people, channels, tokens and how Remit runs."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from msgspec import UNSET, Meta, UnsetType, field

from remit.model.caller import Scope
from remit.model.recurrence import OnMissed, Overlap
from remit.model.reply import Policy
from remit.operations.arguments import (
    ArgumentPart,
    Arguments,
    IdArguments,
    NamedArguments,
    NewRepeats,
    SeriesArguments,
)
from remit.operations.texts import (
    DATE_TIME,
    READABLE,
    AddressText,
    ChannelWord,
    MaybeTime,
    Name,
    ViewName,
    either,
    none_of,
)

_FROM_PROVIDER: Final = Meta(max_length=4096)
BASE64: Final = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"


class KeepFile(Arguments, frozen=True):
    """A file, in base64, to be named by a task that comes next."""

    address = "POST /api/files"
    max_bytes = 24 * 1024 * 1024

    name: Annotated[str, Meta(min_length=1, max_length=300)]
    content: Annotated[
        str, Meta(min_length=4, max_length=22_400_000, extra_json_schema={"pattern": BASE64})
    ]


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

    contact: AddressText
    channel: ChannelWord
    policy: Policy


class NewRule(Arguments, frozen=True):
    """A standing rule of the owner. The only kind so far: who is written to without asking."""

    address = "POST /api/rules"

    kind: Literal["permission"]
    contact: AddressText
    channel: ChannelWord
    policy: Policy = Policy.ALLOW


class RemoveRule(IdArguments, frozen=True):
    address = "DELETE /api/rules/{id}"


class ChannelTest(NamedArguments, frozen=True):
    """A test message to the owner or to a contact."""

    address = "POST /api/channels/{name}/test"

    to: AddressText | None = None


class PairChannel(NamedArguments, frozen=True):
    """A code that connects a chat with the owner, or with a contact."""

    address = "POST /api/channels/{name}/pairing"

    to: AddressText | None = None


class SwitchChannelOn(NamedArguments, frozen=True):
    address = "POST /api/channels/{name}/on"


class BeginSignIn(NamedArguments, frozen=True):
    address = "POST /settings/channels/{name}/connect"
    kept = False


class BeginCalendarSignIn(BeginSignIn, frozen=True):
    address = "POST /settings/calendars/{name}/connect"


class AddAccount(Arguments, frozen=True):
    """A new mail channel or calendar account; it is written down once the owner has signed in."""

    address = "POST /settings/account"
    kept = False

    kind: str  # gmail, outlook, or google for calendars
    name: str
    user: str
    client_id: str
    client_secret: str = ""
    url: str = ""  # where to sign in, if not at the provider's own page


class FinishSignIn(Arguments, frozen=True):
    """What the provider's redirect said."""

    address = "POST /settings/connect"
    kept = False

    state: Annotated[str, _FROM_PROVIDER] = ""
    code: Annotated[str, _FROM_PROVIDER] = ""
    error: Annotated[str, _FROM_PROVIDER] = ""
    iss: Annotated[str, _FROM_PROVIDER] = ""


# Who may come in ----------------------------------------------------------------------------------


class NewToken(Arguments, frozen=True):
    """A new token for a program, and what it may do."""

    address = "POST /api/tokens"
    kept = False

    together = none_of(
        {
            "required": ["agent"],
            "properties": {
                "agent": {"const": True},
                "scopes": {"contains": {"enum": [Scope.APPROVE, Scope.ADMIN]}},
            },
        }
    )

    name: Annotated[str, Meta(max_length=60, extra_json_schema=READABLE)]
    scopes: Annotated[list[Scope], Meta(max_length=10, extra_json_schema={"minItems": 1})]
    agent: bool = False
    days: Annotated[int, Meta(ge=1, le=3660)] | None = None


class RevokeToken(IdArguments, frozen=True):
    address = "DELETE /api/tokens/{id}"


class InviteBrowser(Arguments, frozen=True):
    address = "POST /api/sign-ins"
    kept = False


class EndSignIn(IdArguments, frozen=True):
    address = "DELETE /api/sign-ins/{id}"


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


class SetPassword(Arguments, frozen=True):
    """The password that signs you in from elsewhere; empty takes it back."""

    address = "POST /api/password"
    kept = False

    password: Annotated[
        str, Meta(max_length=200, extra_json_schema={"pattern": r"^$|^[\s\S]{12}"})
    ] = ""


# The settings -------------------------------------------------------------------------------------


class ChangeSection(Arguments, frozen=True):
    """Values of a section such as `budget` or `channels.post`; what is left out stays.

    A secret is given by its value and kept in the secret store; the file gets its name.
    """

    address = "PATCH /api/settings/{section}"
    kept = False

    section: str
    values: dict[str, object]


class TestSection(Arguments, frozen=True):
    __test__: ClassVar[bool] = False  # not for pytest

    address = "POST /api/settings/{section}/test"

    section: str


class RemoveSection(Arguments, frozen=True):
    address = "DELETE /api/settings/{section}"

    section: str


# Upkeep -------------------------------------------------------------------------------------------


class NewView(Arguments, frozen=True):
    """A filter line saved under a name."""

    address = "POST /api/views"

    name: ViewName
    filter: Annotated[str, Meta(max_length=2_000)]


class RemoveView(NamedArguments, frozen=True):
    address = "DELETE /api/views/{name}"


class StartCue(IdArguments, frozen=True):
    address = "POST /api/cues/{id}/start"


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


class RefusalForm(Arguments, frozen=True):
    """A calendar event that could not be read, marked as seen."""

    address = "POST /schedule/refused"

    account: Annotated[str, Meta(max_length=200)]
    calendar: Annotated[str, Meta(max_length=2000)]
    path: Annotated[str, Meta(max_length=2000)]


class PauseSeries(SeriesArguments, frozen=True):
    address = "POST /api/series/{id}/pause"


class ResumeSeries(SeriesArguments, frozen=True):
    address = "POST /api/series/{id}/resume"


class EndSeries(SeriesArguments, frozen=True):
    address = "POST /api/series/{id}/end"


class SkipSlot(SeriesArguments, frozen=True):
    """The slot to skip; without one, the next."""

    address = "POST /api/series/{id}/skip"

    slot: MaybeTime = None


class UnskipSlot(SeriesArguments, frozen=True):
    address = "POST /api/series/{id}/unskip"

    slot: Annotated[str, DATE_TIME]


class MoveSlot(SeriesArguments, frozen=True):
    """The slot to move to another time; without one, the next."""

    address = "POST /api/series/{id}/move"

    to: Annotated[str, DATE_TIME]
    slot: MaybeTime = None


class RepeatSeries(SeriesArguments, frozen=True):
    """When it runs from now on: in words such as "every weekday at 8:30", or as a rule."""

    address = "POST /api/series/{id}/repeats"
    together = either("every", "repeats")

    every: Annotated[str, Meta(max_length=500)] | None = None
    repeats: NewRepeats | None = None


class SeriesRules(SeriesArguments, frozen=True):
    """What happens to slots that are missed or overlap; omitted fields stay as they are."""

    address = "POST /api/series/{id}/rules"

    missed: OnMissed | None = None
    overlap: Overlap | None = None
