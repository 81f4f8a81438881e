"""The contact book: `contacts.yaml` read strictly, and read again when it has changed.

- name: Anna Weber
  aliases: [Anna, my sister]
  role: family
  channels:
    whatsapp: {id: "49151…", address: "+49151…"}
    email: anna@example.org
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.intake.lexicon.words import fold
from remit.intake.recipients import Book, Channel, Contact

FILE: Final = "contacts.yaml"
MOST_BYTES: Final = 1_000_000
_KEYS: Final = ("name", "aliases", "role", "channels")
_WAY_KEYS: Final = ("id", "address")
_Stamp = tuple[int, int]


class Contacts:
    """Whom the owner knows. While a house runs, the last good book stays."""

    def __init__(self, path: Path, owner: str, channels: Collection[str]) -> None:
        self._path = path
        self._owner = Contact(owner, channels=tuple(channels))
        self._channels = tuple(Channel(name, name) for name in channels)
        self._stamp: _Stamp | None = None
        self._book: Book | None = None
        self.complaint: str | None = None  # about the file as it is now

    def book(self) -> Book:
        """The book as it is now; a file nobody can read is refused, unless there was a good one."""
        stamp = _stamp(self._path)
        if self._book is None or stamp != self._stamp:
            self._read(stamp)
        if self._book is None:
            raise BadInput(self.complaint or "", field="contacts")
        return self._book

    def _read(self, stamp: _Stamp | None) -> None:
        try:
            people = load(self._path) if stamp else ()
        except BadInput as bad:
            self.complaint = str(bad)
        else:
            self.complaint = None
            self._book = Book(self._owner, self._channels, people)
        self._stamp = stamp


def load(path: Path) -> tuple[Contact, ...]:
    """Read the file; what is wrong is named with its line."""
    people = tuple(_contact(each) for each in _parse(path).items())
    _refuse_doubles(people, path.name)
    return tuple(person.contact for person in people)


def _parse(path: Path) -> "_Part":
    import yaml  # noqa: PLC0415 - who has no such file need not wait for it

    try:
        raw = path.read_bytes()
        if len(raw) > MOST_BYTES:
            raise BadInput(f"{path.name} is too long; at most {MOST_BYTES} bytes are read.")
        text = raw.decode("utf-8")
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):  # a few of them can stand for millions
                raise _Part(
                    path.name, (event.start_mark.line if event.start_mark else 0) + 1, ""
                ).bad("may not point elsewhere")
        return _tree(yaml.compose(text, Loader=yaml.SafeLoader), path.name)
    except UnicodeDecodeError:
        raise BadInput(f"{path.name} is not UTF-8 text.") from None
    except yaml.MarkedYAMLError as error:
        at = (error.problem_mark.line if error.problem_mark else 0) + 1
        raise BadInput(f"{path.name}, line {at}: {error.problem}.") from None
    except (OSError, yaml.YAMLError, RecursionError) as error:
        raise BadInput(f"{path.name} cannot be read: {error}.") from None


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the file that knows its line."""

    file: str
    line: int
    value: "str | list[_Part] | dict[str, _Part]"

    def items(self) -> "list[_Part]":
        if not isinstance(self.value, list):
            raise self.bad("must be a list")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.bad("must be text that is not empty")
        return self.value

    def table(self, known: Collection[str] = ()) -> "dict[str, _Part]":
        if not isinstance(self.value, dict):
            raise self.bad("must be a table of names and values")
        for name, part in self.value.items():
            if known and name not in known:
                raise part.bad(f"has {name!r:.60}; known are {', '.join(known)}")
        return self.value

    def bad(self, what: str) -> BadInput:
        return BadInput(f"{self.file}, line {self.line}: it {what}.", field="contacts")


@dataclass(frozen=True, slots=True)
class _Entry:
    contact: Contact
    line: int


def _contact(part: _Part) -> _Entry:
    told = part.table(_KEYS)
    if "name" not in told:
        raise part.bad("lacks a name")
    aliases = tuple(each.text() for each in told["aliases"].items()) if "aliases" in told else ()
    if "role" in told:
        told["role"].text()
    ways = told["channels"].table() if "channels" in told else {}
    for way in ways.values():
        _way(way)
    return _Entry(Contact(told["name"].text(), aliases, tuple(ways)), part.line)


def _way(part: _Part) -> None:
    """An address, or an address and the id that incoming messages are known by."""
    if isinstance(part.value, str):
        part.text()
        return
    told = part.table(_WAY_KEYS)
    if "address" not in told:
        raise part.bad("lacks an address")
    for each in told.values():
        each.text()


def _refuse_doubles(people: Collection[_Entry], file: str) -> None:
    seen: dict[str, int] = {}
    for person in people:
        name = fold(person.contact.name)
        if name in seen:
            said = f"{person.contact.name!r:.60} stands in line {seen[name]} too"
            raise _Part(file, person.line, "").bad(f"has a name that is taken: {said}")
        seen[name] = person.line


def _tree(node: object, file: str) -> _Part:
    """The file as plain values that know their lines."""
    import yaml  # noqa: PLC0415 - as above

    if node is None:
        return _Part(file, 1, [])
    assert isinstance(node, yaml.Node)  # noqa: S101 - composed by us
    line = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return _Part(file, line, [_tree(each, file) for each in node.value])
    if isinstance(node, yaml.MappingNode):
        return _Part(file, line, dict(_pairs(node.value, file)))
    return _Part(file, line, "" if node.tag == "tag:yaml.org,2002:null" else str(node.value))


def _pairs(pairs: Collection[tuple[object, object]], file: str) -> Iterator[tuple[str, _Part]]:
    seen: set[str] = set()
    for key, value in pairs:
        name, part = _tree(key, file), _tree(value, file)
        if name.text() in seen:
            raise name.bad(f"has {name.text()!r:.60} twice")
        seen.add(name.text())
        yield name.text(), _Part(file, name.line, part.value)


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
