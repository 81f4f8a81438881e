"""The contact book: `contacts.yaml`, parsed strictly and reloaded when it changes.

- name: Anna Weber
  aliases: [Anna, my sister]
  role: family
  channels:
    whatsapp: {id: "49151…", address: "+49151…"}
    email: anna@example.org
  policy: {whatsapp: allow, email: ask}
  quiet: ["22:00-07:00", sunday]

The `address` is where a message goes; the `id` is what incoming ones are known by. Whoever has the
role `owner` is the owner, and those addresses are where the owner reads.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from remit.contacts import ChannelName, Contact, ContactBook
from remit.errors import BadInput
from remit.formats.yaml import YamlPart, load_yaml
from remit.language.tokens import fold, keys_of, tokenize
from remit.model.permit import NEVER_QUIET, QuietTimes, Reach, UnclearRecipient
from remit.model.reply import Policy
from remit.system.files import FileStamp, file_stamp

FILE: Final = "contacts.yaml"
MAX_BYTES: Final = 1_000_000
OWNER: Final = "owner"
_FIELD: Final = "contacts"
_KEYS: Final = ("name", "aliases", "role", "channels", "policy", "quiet")
_WAY_KEYS: Final = ("id", "address")
T = TypeVar("T")


class ContactAddress(Struct, frozen=True):
    """A person on a channel: the address to send to, the id of incoming messages."""

    address: str
    id: str | None = None


class ContactEntry(Struct, frozen=True, eq=False):
    """A person as in the file."""

    name: str
    aliases: tuple[str, ...] = ()
    role: str | None = None
    # By channel, or by kind of channel.
    lines: Mapping[str, ContactAddress] = field(default_factory=dict)
    policy: Mapping[str, Policy] = field(default_factory=dict)
    quiet: QuietTimes = NEVER_QUIET  # when nothing goes to them
    line: int = 0  # where it stands

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContactEntry) and astuple(self)[:-1] == astuple(other)[:-1]

    def __hash__(self) -> int:
        return hash(self.name)


class Contacts:
    """The owner's contacts. While Remit runs, the last good file stays in use."""

    def __init__(
        self, path: Path, owner: str, channels: Collection[str | ChannelName], assistant: str = ""
    ) -> None:
        self._path = path
        self._assistant = assistant
        self._channels = tuple(
            each if isinstance(each, ChannelName) else ChannelName(each, each) for each in channels
        )
        self._owner = Contact(owner, channels=tuple(each.name for each in self._channels))
        self._stamp: FileStamp | None = None
        self._book: ContactBook | None = None
        self._entries: tuple[ContactEntry, ...] = ()
        self.complaint: str | None = None  # about the file as it is now

    def book(self) -> ContactBook:
        """Return the current book; an unreadable file is refused unless one was good before."""
        stamp = file_stamp(self._path)
        if self._book is None or stamp != self._stamp:
            self._read(stamp)
        if self._book is None:
            raise BadInput(self.complaint or "", field="contacts")
        return self._book

    def bare(self) -> ContactBook:
        """Return a book with only the owner and every channel."""
        return ContactBook(self._owner, self._channels, assistant=self._assistant)

    @property
    def channels(self) -> tuple[str, ...]:
        """Return the names of the configured channels."""
        return tuple(each.name for each in self._channels)

    def entries(self) -> tuple[ContactEntry, ...]:
        """Return everyone in the file, in order."""
        self.book()
        return self._entries

    def known_entries(self) -> tuple[ContactEntry, ...]:
        """Return the same; an unreadable contact book, perhaps while it is edited, knows nobody."""
        try:
            return self.entries()
        except BadInput:
            return ()

    def name_for(self, recipient: str) -> str | None:
        """Return the full name of the one person that is meant, None for the owner, else words."""
        book = self.book()
        if (exact := self._exact(recipient)) is not None:
            return None if exact.role == OWNER else exact.name
        people = self._people_called(recipient)
        if len(people) != 1:
            return recipient
        return None if people[0] is book.owner else people[0].name

    def find(self, recipient: str | None, channel: str) -> Reach | UnclearRecipient:
        """Return who is meant and where a channel reaches them, by the current file.

        Only a whole name or an address counts here: a short name may mean somebody else by now.
        """
        try:
            self.book()
        except BadInput as bad:
            return Reach("", None, owner=True) if recipient is None else UnclearRecipient(str(bad))
        if recipient is None or fold(recipient) == fold(self._owner.name):
            return self._to_owner(channel)
        if self.complaint is not None:
            return UnclearRecipient(self.complaint)  # the last good book may name an old place
        entry = self._exact(recipient) or next(iter(self._sharing(recipient, channel)), None)
        if entry is None:
            return self._unsure(recipient)
        return self._to_owner(channel) if entry.role == OWNER else self._reach_of(entry, channel)

    def _read(self, stamp: FileStamp | None) -> None:
        try:
            entries = load(self._path) if stamp else ()
        except BadInput as bad:
            self.complaint = str(bad)
        else:
            self.complaint = None
            self._entries = entries
            others = tuple(self._contact(each) for each in entries if each.role != OWNER)
            self._book = ContactBook(
                self._its_owner(), self._channels, others, assistant=self._assistant
            )
        self._stamp = stamp

    def _its_owner(self) -> Contact:
        own = next((each for each in self._entries if each.role == OWNER), None)
        return replace(self._owner, aliases=(own.name, *own.aliases)) if own else self._owner

    def _contact(self, entry: ContactEntry) -> Contact:
        """Return a person with the channels that reach them; some may not be configured."""
        ours = tuple(each.name for each in self._channels if self._address_on(entry, each.name))
        kinds = {word for each in self._channels for word in (each.name, each.kind, *each.aliases)}
        more = tuple(name for name in entry.lines if name not in kinds)
        return Contact(entry.name, entry.aliases, (*ours, *more))

    def _address_on(self, entry: ContactEntry, channel: str) -> ContactAddress | None:
        return _value_for_channel(channel, entry.lines, self._channels)

    def _exact(self, name: str) -> ContactEntry | None:
        return next((each for each in self._entries if fold(each.name) == fold(name)), None)

    def _sharing(self, address: str, channel: str) -> list[ContactEntry]:
        """Return everyone who is reached at an address: a denial for one applies to all."""
        lines = ((each, self._address_on(each, channel)) for each in self._entries)
        return [each for each, line in lines if line is not None and line.address == address]

    def _people_called(self, words: str) -> tuple[Contact, ...]:
        keys = keys_of(tokenize(words))
        found = self.book().people.at(keys, 0)
        return found[0] if found is not None and found[1] == len(keys) else ()

    def _to_owner(self, channel: str) -> Reach:
        own = next((each for each in self._entries if each.role == OWNER), None)
        line = self._address_on(own, channel) if own else None
        return Reach(self._owner.name, line.address if line else None, owner=True)

    def _reach_of(self, entry: ContactEntry, channel: str) -> Reach | UnclearRecipient:
        line = self._address_on(entry, channel)
        if line is None:
            return UnclearRecipient(f"{entry.name} has no address on {channel} in {FILE}.")
        policies: list[Policy] = []
        for each in self._sharing(line.address, channel):
            policy = _value_for_channel(channel, each.policy, self._channels)
            # A yes about one of those who share an address is none about the others.
            if policy is not None and (each is entry or policy is not Policy.ALLOW):
                policies.append(policy)
        return Reach(entry.name, line.address, tuple(policies), quiet=entry.quiet)

    def _unsure(self, words: str) -> UnclearRecipient:
        names = [each.name for each in self._people_called(words)]
        if names:
            return UnclearRecipient(f"Who is meant by {words!r:.60}: {' or '.join(names)}?")
        return UnclearRecipient(
            f"Who is {words!r:.60}? Nobody in your contacts is called that.", stranger=True
        )


def _value_for_channel(
    channel: str, by_channel: Mapping[str, T], channels: Collection[ChannelName]
) -> T | None:
    """Return the value for a channel: by its name, else by an alias or its kind."""
    known = next((each for each in channels if each.name == channel), ChannelName(channel, channel))
    names = (known.name, *known.aliases, known.kind)
    return next((by_channel[name] for name in names if name in by_channel), None)


def load(path: Path) -> tuple[ContactEntry, ...]:
    """Read the file; an error names the line."""
    return parse(_bytes(path), path.name)


def parse(raw: bytes, file: str = FILE) -> tuple[ContactEntry, ...]:
    top = _parse(raw, file)
    people = tuple(map(_entry, top.items())) if top.value != {} else ()
    _refuse_doubles(people, file)
    return people


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{path.name} cannot be read: {error}.") from None


def _parse(raw: bytes, file: str) -> YamlPart:
    if len(raw) > MAX_BYTES:
        raise BadInput(f"{file} is too long; at most {MAX_BYTES:,} bytes are read.", field=_FIELD)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not UTF-8 text.", field=_FIELD) from None
    return load_yaml(text, file, field=_FIELD, max_chars=MAX_BYTES)


def _entry(part: YamlPart) -> ContactEntry:
    table = part.table(_KEYS)
    if "name" not in table:
        raise part.bad("lacks a name")
    aliases = tuple(each.text() for each in table["aliases"].items()) if "aliases" in table else ()
    role = table["role"].text() if "role" in table else None
    lines = table["channels"].table() if "channels" in table else {}
    policy = table["policy"].table() if "policy" in table else {}
    return ContactEntry(
        name=table["name"].text(),
        aliases=aliases,
        role=OWNER if role and fold(role) == OWNER else role,
        lines={name: _address_on(each) for name, each in lines.items()},
        policy={name: _policy(each) for name, each in policy.items()},
        quiet=_quiet(table["quiet"]) if "quiet" in table else NEVER_QUIET,
        line=part.line,
    )


def _address_on(part: YamlPart) -> ContactAddress:
    """Parse an address, or an address with the id of incoming messages."""
    if isinstance(part.value, str):
        return ContactAddress(part.text())
    table = part.table(_WAY_KEYS)
    if "address" not in table:
        raise part.bad("lacks an address")
    return ContactAddress(table["address"].text(), table["id"].text() if "id" in table else None)


def _policy(part: YamlPart) -> Policy:
    if part.text() not in set(Policy):
        raise part.bad(f"is {part.text()!r:.60}; it may be {', '.join(Policy)}")
    return Policy(part.text())


def _quiet(part: YamlPart) -> QuietTimes:
    try:
        return QuietTimes.parse([each.text() for each in part.items()])
    except BadInput as bad:
        raise part.bad(f"is wrong: {bad}") from None


def _refuse_doubles(people: Sequence[ContactEntry], file: str) -> None:
    seen: dict[str, int] = {}
    for person in people:
        name, at = fold(person.name), YamlPart(file, person.line, None, _FIELD)
        if name in seen:
            text = f"{person.name!r:.60} stands in line {seen[name]} too"
            raise at.bad(f"has a name that is taken: {text}")
        if person.role == OWNER and any(each.role == OWNER for each in people[: len(seen)]):
            raise at.bad("has the role owner, which another has already")
        seen[name] = person.line
