"""What each section of the settings asks for: one description for pages, questions and checks.

    form = form_for("channels.post", settings)
    values = form.parse({"host": "smtp.example.org", "port": "587"})

A section of one kind is a table such as `[budget]`; of the other kind there are many, such as
`[channels.post]`. The fields come from the classes that read the file, the words from `forms.toml`
or from the channel's own section.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final, cast

from msgspec import NODEFAULT, Struct, structs

from remit.errors import BadInput, NotFound
from remit.model.conversation import CONVERSATION, DIGEST, KINDS, PUSH
from remit.settings import Settings, projects
from remit.settings.channels import ChannelSettings, kinds, names_for_people
from remit.settings.doors import CalendarServer, FolderSettings, HookSettings, InboundRule

YOU: Final = "you"  # the settings above every table
MANY: Final[Mapping[str, type[Struct]]] = {
    "calendars": CalendarServer,
    "hooks": HookSettings,
    "doors": InboundRule,
    "folders": FolderSettings,
    "projects": projects.ProjectSettings,
}
CHANNELS: Final = "channels"
NOTICES: Final = "notices"
CONTACTS: Final = "contacts"
_LONG: Final = frozenset({"text"})  # what has more than one line
_YES: Final = frozenset({"true", "on", "yes", "y", "1"})
_NO: Final = frozenset({"false", "off", "no", "n", "0", ""})


class FieldKind(StrEnum):
    TEXT = "text"
    LONG = "long"
    NUMBER = "number"
    SWITCH = "switch"
    CHOICE = "choice"
    LIST = "list"
    SET = "set"  # some of a few words
    PAIRS = "pairs"
    SECRET = "secret"  # noqa: S105 - its value goes to the secret store


_KINDS: Final[Mapping[type, FieldKind]] = {
    bool: FieldKind.SWITCH,
    int: FieldKind.NUMBER,
    tuple: FieldKind.LIST,
    dict: FieldKind.PAIRS,
}


class SettingField(Struct, frozen=True, kw_only=True):
    name: str
    label: str
    help: str
    kind: FieldKind
    default: object  # None: it must be said
    choices: Mapping[str, str]
    stored: bool = True  # it stands in the file; a secret's name does, too

    @property
    def required(self) -> bool:
        return self.default is None and self.kind is not FieldKind.SECRET

    @property
    def required_secret(self) -> bool:
        return self.default is None and self.kind is FieldKind.SECRET and self.stored

    def parse(self, text: object) -> object:
        """Return what was typed as the file holds it; None: its default."""
        if not isinstance(text, str):
            return text
        text = text.strip()
        if self.kind is FieldKind.SWITCH:
            return self._switch(text)
        if self.kind is FieldKind.SET:
            return _list(self.label, text)
        return _PARSERS[self.kind](self.label, text) if text else None

    def _switch(self, text: str) -> bool:
        if text.lower() not in _YES | _NO:
            raise BadInput(f"{self.label} must be yes or no, not {text!r:.40}.", field=self.name)
        return text.lower() in _YES

    def show(self, value: object) -> str:
        """Return a value as it is typed."""
        if value is None or isinstance(value, Struct):  # the second model shows as its name
            return str(structs.astuple(value)[0]) if value else ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Mapping):
            return "\n".join(f"{name} = {each}" for name, each in value.items())
        if isinstance(value, Sequence) and not isinstance(value, str):
            return ", ".join(map(str, value))
        return str(value)


def _number(label: str, text: str) -> int:
    if not text.isdecimal():
        raise BadInput(f"{label} must be a whole number, not {text!r:.40}.")
    return int(text)


def _list(_: str, text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _pairs(_: str, text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _text(_: str, text: str) -> str:
    return text


_PARSERS: Final[Mapping[FieldKind, Callable[[str, str], object]]] = {
    **dict.fromkeys(FieldKind, _text),
    FieldKind.NUMBER: _number,
    FieldKind.LIST: _list,
    FieldKind.PAIRS: _pairs,
}


class ContactFields(Struct, frozen=True):
    """What is asked about a contact; it is kept in contacts.yaml, not in the settings."""

    name: str
    role: str = ""
    aliases: tuple[str, ...] = ()
    channel: str = ""
    address: str = ""


class SectionForm(Struct, frozen=True, kw_only=True):
    section: str  # `budget`, or `channels.post`
    title: str
    about: str
    fields: tuple[SettingField, ...]
    file: str = "settings.toml"  # where the same can be written
    fixed: Mapping[str, str] = {}  # what is not asked, such as the kind of a channel
    now: Mapping[str, object] = {}  # what the settings say
    exists: bool = True
    kept: frozenset[str] = frozenset()  # the fields whose secret is stored

    @property
    def table(self) -> str:
        return "" if self.section == YOU else self.section

    @property
    def name(self) -> str:
        return self.section.partition(".")[2]

    @property
    def removable(self) -> bool:
        return "." in self.section and self.exists

    def shown(self, field: SettingField) -> str:
        """Return what a form shows for a field; never the value of a secret."""
        if field.kind is FieldKind.SECRET:
            return ""
        return field.show(self.now.get(field.name, field.default))

    def parse(self, fields: Mapping[str, object]) -> tuple[dict[str, object], dict[str, str]]:
        """Return the values for the file, and the secrets by their fields."""
        values: dict[str, object] = {}
        secrets: dict[str, str] = {}
        known = {field.name: field for field in self.fields}
        for name, each in fields.items():
            field = known.get(name)
            if field is None:
                values[name] = each  # the file's own check knows it, or refuses it by name
            elif field.kind is FieldKind.SECRET:
                if str(each).strip():
                    secrets[name] = str(each).strip()
            elif isinstance(field.default, Struct):
                if str(each).strip() != self.shown(field):  # else its table in the file stays
                    values[name] = field.parse(each) or ""
            else:
                value = field.parse(each)
                if value is None and field.required:
                    raise BadInput(f"{field.label} is missing.", field=name)
                values[name] = field.default if value is None else value
        return values, secrets


def form_for(section: str, settings: Settings, kind: str = "") -> SectionForm:
    """Return the form of a section; a new channel needs its kind."""
    table, _, name = section.partition(".")
    if table == CHANNELS and name:
        return _channel_form(name, settings.channels.get(name), kind)
    words = form_words().get(table)
    if words is None or bool(name) != (table in MANY):
        raise NotFound("section", f"{section!r:.60}; there are {', '.join(sections())}")
    title, about = str(words["title"]), str(words["about"])
    if table in _CHOICES:
        words = {**words, "choices": _CHOICES[table](settings)}
    if table == CONTACTS:
        fields = tuple(_fields(ContactFields, words))
        return SectionForm(
            section=table, title=title, about=about, fields=fields, file="contacts.yaml"
        )
    if table in MANY:
        now = cast("Mapping[str, Struct]", getattr(settings, table)).get(name)
        fields = tuple(_fields(MANY[table], words))
        values = structs.asdict(now) if now else {}
        return SectionForm(
            section=section, title=title, about=about, fields=fields, now=values, exists=bool(now)
        )
    part = settings if table == YOU else cast("Struct", getattr(settings, table))
    fields = tuple(_fields(type(part), words))
    return SectionForm(
        section=section, title=title, about=about, fields=fields, now=structs.asdict(part)
    )


def _notice_choices(settings: Settings) -> dict[str, Mapping[str, str]]:
    """Return the ways of every kind of notice, and the kinds that may be urgent."""
    own = {CONVERSATION: "Conversation", PUSH: "Browser", DIGEST: "Digest"}
    named = names_for_people(settings.channels)
    asked = cast("Mapping[str, Sequence[str]]", form_words()[NOTICES]["fields"])
    kinds = {each.value: asked[each.value][0] for each in KINDS}
    ways: dict[str, Mapping[str, str]] = dict.fromkeys(kinds, own | named)
    return {**ways, "urgent": kinds, "digest_over": {CONVERSATION: "Conversation", **named}}


def _contact_choices(settings: Settings) -> dict[str, Mapping[str, str]]:
    return {"channel": {"": "None", **names_for_people(settings.channels)}}


_CHOICES: Final[Mapping[str, Callable[[Settings], dict[str, Mapping[str, str]]]]] = {
    NOTICES: _notice_choices,
    CONTACTS: _contact_choices,
}


def sections() -> tuple[str, ...]:
    """Return every section by the name that commands and addresses use."""
    named = (each for each in form_words() if each != CONTACTS)
    return (*(f"{each}.NAME" if each in MANY else each for each in named), "channels.NAME")


def names_in(table: str, settings: Settings) -> tuple[str, ...]:
    """Return the sections under a table, such as every hook."""
    return tuple(f"{table}.{name}" for name in getattr(settings, table))


def _channel_form(name: str, now: ChannelSettings | None, kind: str) -> SectionForm:
    found = type(now) if now else kinds().get(kind)
    if found is None:
        sentence = f"kind is {kind!r:.40}; it may be {', '.join(kinds())}."
        raise BadInput(sentence, field="kind")
    words: dict[str, object] = {
        "fields": {**found.asks, "aliases": ("What you also call it", "With commas between them.")},
        "choices": found.choices,
        "secrets": found.secret_fields,
    }
    return SectionForm(
        section=f"{CHANNELS}.{name}",
        title=_title(found),
        about=found.promise,
        fields=tuple(_fields(found, words)),
        fixed={"kind": found.kind},
        now=structs.asdict(now) if now else {},
        exists=now is not None,
    )


def _title(found: type[ChannelSettings]) -> str:
    same = found.kind == found.service.lower()
    return found.service if same else f"{found.service} ({found.kind})"


def _fields(kind: type[Struct], words: Mapping[str, object]) -> Iterator[SettingField]:
    """Yield the fields that are asked for, in the order of the words."""
    known = _defaults(kind)
    asked = cast("Mapping[str, Sequence[str]]", words.get("fields") or {})
    labelled = asked or {name: (name.replace("_", " ").capitalize(), "") for name in known}
    choices = cast("Mapping[str, Mapping[str, str]]", words.get("choices") or {})
    secrets = cast("Sequence[str]", words.get("secrets") or ())
    for name, (label, label_text) in labelled.items():
        default = known.get(name)
        one = FieldKind.SET if isinstance(default, tuple) else FieldKind.CHOICE
        fixed = FieldKind.SECRET if name in secrets else one if name in choices else None
        yield SettingField(
            name=name,
            label=label,
            help=label_text,
            kind=fixed or _kind_of(name, default, str(kind.__annotations__.get(name))),
            default=default,
            choices=choices.get(name, {}),
            stored=name in known,
        )


def _kind_of(name: str, default: object, annotation: str) -> FieldKind:
    if name in _LONG:
        return FieldKind.LONG
    if default is None and annotation.startswith("dict"):
        return FieldKind.PAIRS
    return _KINDS.get(type(default), FieldKind.TEXT)


def _defaults(kind: type[Struct]) -> dict[str, object]:
    """Return the default of each field; None if it must be said."""
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    every = (NODEFAULT,) * (len(names) - len(defaults)) + defaults
    return {
        name: None if each is NODEFAULT else getattr(each, "factory", lambda each=each: each)()
        for name, each in zip(names, every, strict=True)
    }


@cache
def form_words() -> Mapping[str, Mapping[str, object]]:
    """Return the words of every form; see `wiring.preload`."""
    return tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8"))
