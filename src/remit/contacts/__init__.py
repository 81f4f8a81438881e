"""People, their addresses, and what the owner allows: `contacts.yaml` and the permissions.

Here: the people and channels that the owner's words may name, found by name.
"""

from collections.abc import Iterable

from msgspec import Struct

from remit.language.files import Phrases, words_in_all
from remit.language.tokens import fold


class ChannelName(Struct, frozen=True):
    """A channel: its name in Remit, its kind (whatsapp, email, …), and the owner's other names."""

    name: str
    kind: str
    aliases: tuple[str, ...] = ()

    @property
    def folded_names(self) -> tuple[str, ...]:
        return tuple(fold(name) for name in (self.name, *self.aliases))


class Contact(Struct, frozen=True):
    """A person, and the names of the channels that reach them."""

    name: str
    aliases: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()


class ContactBook:
    """All people and all channels that Remit knows; `home` is where the owner reads."""

    def __init__(
        self,
        owner: Contact,
        channels: tuple[ChannelName, ...],
        contacts: tuple[Contact, ...] = (),
        home: str = "dashboard",
        assistant: str = "",  # what the owner calls the assistant
    ) -> None:
        self.owner = owner
        self.channels = channels
        self.contacts = contacts
        self.home = home
        self.assistant = assistant
        self.people = _people((owner, *contacts))
        self.ways = Phrases({name: name for each in channels for name in each.folded_names})

    def with_home(self, home: str) -> "ContactBook":
        """Return the same book for an owner who reads elsewhere."""
        return ContactBook(self.owner, self.channels, self.contacts, home, self.assistant)


def _people(everyone: Iterable[Contact]) -> Phrases[tuple[Contact, ...]]:
    """Index people by name, alias and first name; one name may mean several."""
    named: dict[str, list[Contact]] = {}
    for person in everyone:
        calls = (person.name, *person.aliases, *person.name.split()[:1])
        for name in {fold(each) for call in calls for each in _spellings(call)}:
            if name.strip():
                named.setdefault(name, []).append(person)
    return Phrases({name.replace("|", " "): tuple(people) for name, people in named.items()})


def _spellings(name: str) -> Iterable[str]:
    """Return a name and its inflected forms: "meiner Schwester" for "meine Schwester"."""
    first, _, rest = name.partition(" ")
    yield name
    if rest and fold(first) in words_in_all("words", "my"):
        yield from (f"{my} {rest}" for my in words_in_all("words", "my"))
