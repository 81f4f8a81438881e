"""The channels of the settings: built, with their secrets, and how each stands.

Old inbound messages are cleaned up here, too.

A secret is looked up at each use, so a renewed one needs no restart. A missing secret does not stop
the start: its channel answers that it is locked, and the owner is asked.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct, field

from remit.channels import ChannelContext, ChannelKind
from remit.errors import BadInput, StoreTrouble
from remit.model.delivery import Accepted, Answer, Parcel, SendGuarantee
from remit.model.task_file import FileLimits
from remit.ports import Channel, Clock
from remit.settings.channels import ChannelSettings
from remit.store import cues
from remit.store.database import Database
from remit.store.secrets import LONG_WORD, Secrets
from remit.system.background import Background, LoopGroup

if TYPE_CHECKING:
    from remit.channels.oauth.connecting import SignInAttempt
from pathlib import Path

from msgspec.structs import replace

from remit.contacts import ChannelName
from remit.contacts.book import FILE, OWNER
from remit.contacts.book import load as load_contacts
from remit.errors import RemitError
from remit.settings.channels import OAuthSettings

Token: TypeAlias = Callable[[], str]  # called at each use, so a renewed one needs no restart


@runtime_checkable
class ClosableChannel(Protocol):
    """A channel with open resources."""

    async def close(self) -> None: ...


class InboundHook(Struct, frozen=True):
    """Secrets that authenticate a provider's calls; both are looked up at each call."""

    channel: str
    app_secret: Token
    verify_token: Token
    lines: Mapping[str, str]  # the channel of each of our numbers


class ChannelRegistry(Struct, frozen=True):
    """Every configured channel, ready for use."""

    channels: Mapping[str, Channel] = field(default_factory=dict)
    ways: tuple[ChannelName, ...] = ()
    hooks: Mapping[str, InboundHook] = field(default_factory=dict)
    watches: tuple[LoopGroup, ...] = ()
    sign_ins: "dict[str, SignInAttempt]" = field(default_factory=dict)  # not done yet

    def __repr__(self) -> str:
        return f"ChannelRegistry({', '.join(self.channels)})"  # a sign-in holds secrets

    def start(self) -> None:
        for each in self.watches:
            each.start()

    async def close(self) -> None:
        for each in self.watches:
            await each.close()
        for channel in self.channels.values():
            if isinstance(channel, ClosableChannel):
                await channel.close()


class ChannelSecrets(Struct, frozen=True):
    """Looks up secrets: first the owner's store, then the environment."""

    kept: Secrets
    environ: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, ChannelSettings] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # every value that was ever handed out

    def __repr__(self) -> str:
        return "ChannelSecrets(…)"

    def token(self, name: str) -> Token:
        """Return a function that looks up a secret at each use; empty if missing."""
        return lambda: self.get(name)

    def learn_all(self) -> None:
        """Learn every secret. If none can be read, none is known, and none is usable."""
        with suppress(StoreTrouble):
            used = {name for each in self.chosen.values() for name in each.secrets}
            for name in used | set(self.kept.names()):
                self.get(name)

    def get(self, name: str) -> str:
        """Return the current value of a secret; empty if missing."""
        found = (self.kept.find(name) or self.environ.get(variable(name), "")) if name else ""
        # While a secret is replaced, one value holds two, and each is a secret.
        self.learn((found, *(word for word in found.split() if len(word) >= LONG_WORD)))
        return found

    def learn(self, values: Iterable[str]) -> None:
        """Register these as secrets from now on."""
        for value in filter(None, values):
            self.kept.hide.learn(value)
            self.seen.add(value)

    def forget(self, values: Iterable[str]) -> None:
        """Keep what is worth nothing any more no longer: an access token ends every hour."""
        for value in values:
            self.kept.hide.forget(value)
            self.seen.discard(value)


def build_channels(
    keys: ChannelSecrets, db: Database, clock: Clock, background: Background, *, keep: int = 0
) -> ChannelRegistry:
    """Build every channel; errors in the settings name the channel.

    `keep` is for how many days inbound messages are kept; 0: for ever.
    """
    if not keys.chosen:
        return ChannelRegistry()
    sections = {name: _kind(each) for name, each in keys.chosen.items()}
    made: dict[str, Channel] = {}
    watches: list[LoopGroup] = [InboundCleanup(keep, db, clock, background)]
    for name, each in sections.items():
        context = ChannelContext(name, keys, clock, db)
        try:
            made[name] = each.build(context)
        except BadInput as error:
            raise BadInput(f"[channels.{name}]: {error}", field=name) from None
        watches += each.loops(made[name], context, background)
    ways = tuple(ChannelName(name, each.called, each.aliases) for name, each in sections.items())
    hooks = {name: each.hook(name, sections, keys) for name, each in sections.items()}
    hooks_in_use = {name: hook for name, hook in hooks.items() if hook is not None}
    return ChannelRegistry(made, ways, hooks_in_use, tuple(watches))


def complaints(keys: ChannelSecrets, clock: Clock) -> dict[str, str]:
    """Return the errors of configured channels, by name; nothing is opened or sent."""
    found: dict[str, str] = {}
    for name, each in keys.chosen.items():
        try:
            _kind(each).build(ChannelContext(name, keys, clock))
        except BadInput as error:
            found[name] = str(error)
    return found


def _kind(section: ChannelSettings) -> ChannelKind:
    if not isinstance(section, ChannelKind):
        raise TypeError(f"{type(section).__name__} has no build(); derive it from ChannelKind.")
    return section


def variable(name: str) -> str:
    """Return the variable of a secret: whatsapp_token is WHATSAPP_TOKEN."""
    return "".join(char if char.isalnum() else "_" for char in name).upper()


MIN_KEPT_DAYS: Final = 8  # days: a provider repeats itself for a week, and must be recognised
LOOP: Final = "inbound cleanup"
CLEANUP_SECONDS: Final = 86_400.0  # seconds between two runs


class InboundCleanup(LoopGroup):
    """Keeps this many days; 0: for ever."""

    def __init__(self, days: int, db: Database, clock: Clock, background: Background) -> None:
        super().__init__(background, {LOOP: self._look_on} if days else {})
        self._kept = timedelta(days=max(days, MIN_KEPT_DAYS)) if days else None
        self._db = db
        self._clock = clock

    async def look(self) -> int:
        """Delete what is too old; return how many."""
        if self._kept is None:
            return 0
        return await self._db.write(cues.forget_inbound, self._clock.now() - self._kept)

    async def _look_on(self) -> None:
        while True:
            await self.look()
            await self._clock.sleep(CLEANUP_SECONDS)


class DashboardChannel:
    """Storing a message delivers it."""

    name: Final = "dashboard"
    guidance: Final = "Your deliverable will be shown on the dashboard. Full markdown is supported."
    most: Final = 100_000
    keeps: Final = SendGuarantee.TRANSACTION
    files: Final = FileLimits(16_000_000, 100_000_000)

    async def send(self, parcel: Parcel) -> Answer:
        return Accepted(parcel.key)


class ChannelState(Struct, frozen=True):
    """`verdict` is ok, warn or fail, as the doctor says it."""

    name: str
    kind: str
    verdict: str
    said: str
    todo: str = ""
    aliases: tuple[str, ...] = ()
    ready: bool = True  # something can go out
    lacks_chat: bool = False  # all is well, but no chat is connected with the owner


def channel_states(
    keys: ChannelSecrets, clock: Clock, off: Mapping[str, str], home: Path
) -> dict[str, ChannelState]:
    """Return the state of every channel; `off` says why one switched itself off."""
    if not keys.chosen:
        return {}
    wrong = complaints(keys, clock)
    found = {
        name: _state(name, each, keys, wrong.get(name), off.get(name))
        for name, each in keys.chosen.items()
    }
    return {name: _with_chat(each, keys.chosen[name], home) for name, each in found.items()}


def _state(
    name: str, chosen: ChannelSettings, keys: ChannelSecrets, wrong: str | None, off: str | None
) -> ChannelState:
    if off is not None:
        found = "fail", f"off: {off}", f"remit channels on {name}", False
    elif wrong is not None:
        found = "fail", wrong, f"Fix [channels.{name}] in settings.toml.", False
    else:
        found = _health(name, chosen, keys)
    verdict, sentence, todo, ready = found
    return ChannelState(name, chosen.kind, verdict, sentence, todo, chosen.aliases, ready)


def _health(name: str, chosen: ChannelSettings, keys: ChannelSecrets) -> tuple[str, str, str, bool]:
    try:
        missing = [secret for secret in chosen.secrets if secret and not keys.get(secret)]
    except RemitError as error:
        return "fail", str(error), "", False
    if missing:
        sentence = f"lacks {', '.join(missing)}: nothing goes out before it is set"
        return "warn", sentence, f"remit secrets set {missing[0]}", False
    if chosen.sign_in is not None and (problem := _sign_in_problem(chosen.sign_in, keys)):
        return "warn", problem, f"remit channels connect {name}", False
    if warning := chosen.warning(name):
        return "warn", *warning, True
    return "ok", chosen.ready(name), "", True


def _with_chat(state: ChannelState, chosen: ChannelSettings, home: Path) -> ChannelState:
    """Say that the owner's chat is yet to be connected, where that is done by a code."""
    if state.verdict != "ok" or chosen.pairing_link("") is None:
        return state
    try:
        book = load_contacts(home / FILE) if (home / FILE).exists() else ()
    except RemitError:
        return state  # the doctor says what is wrong with it
    if any(each.role == OWNER and state.name in each.lines for each in book):
        return state
    text, todo = "has no chat of yours yet", f"remit channels pair {state.name}"
    return replace(state, verdict="warn", said=text, todo=todo, lacks_chat=True)


def _sign_in_problem(chosen: OAuthSettings, keys: ChannelSecrets) -> str:
    from remit.channels.oauth.tokens import parse_sign_in  # noqa: PLC0415 - loads a web client

    found = parse_sign_in(keys.get(chosen.token))
    if found is None:
        return f"is not connected with {chosen.provider} yet: nothing goes out before"
    ended = f"{chosen.provider} no longer accepts the sign-in: nothing goes out before you renew it"
    return ended if found.ended else ""
