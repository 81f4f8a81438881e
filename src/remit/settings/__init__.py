"""The settings: from file, then environment, then flags; read once, frozen."""

import os
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.task import SourceKind
from remit.settings.channels import NoticeSettings, words
from remit.settings.channels import check as check_notices
from remit.settings.checks import check_form, check_recall, check_server, check_web
from remit.settings.doors import CalendarServer, CalendarSettings
from remit.settings.doors import read as check_calendars
from remit.settings.parts import (
    MCP_SERVERS,
    BrainSettings,
    BudgetSettings,
    CommandSettings,
    ContractSettings,
    DeliverSettings,
    EngineSettings,
    LanguageChoice,
    McpSettings,
    PrioritySettings,
    RecallSettings,
    ReflectSettings,
    ScheduleSettings,
    ServerSettings,
    SettingsTable,
    StoreSettings,
    ToolSettings,
    WebSettings,
    read_fallback,
)
from remit.system.files import home_of

if TYPE_CHECKING:
    from remit.settings.channels import ChannelSettings
    from remit.settings.doors import FolderSettings, HookSettings, InboundRule
    from remit.settings.projects import ProjectSettings, SpecialistSettings

__all__ = [
    "DEFAULT_FILE",
    "BrainSettings",
    "BudgetSettings",
    "CalendarServer",
    "CalendarSettings",
    "CommandSettings",
    "ContractSettings",
    "DeliverSettings",
    "EngineSettings",
    "McpSettings",
    "NoticeSettings",
    "PrioritySettings",
    "RecallSettings",
    "ReflectSettings",
    "ScheduleSettings",
    "ServerSettings",
    "Settings",
    "StoreSettings",
    "ToolSettings",
    "WebSettings",
    "check_text",
    "load",
]

# What is written on first use: every setting with its default, as a comment.
DEFAULT_FILE: Final = Path(__file__).with_name("default.toml").read_text(encoding="utf-8")


class Settings(Struct, frozen=True):
    home: Path
    owner: str = "you"
    agent: str = "Remit"
    zone: str = ""  # an IANA name; empty: the machine's
    language: LanguageChoice = LanguageChoice.AUTO
    engine: EngineSettings = field(default_factory=EngineSettings)
    brain: BrainSettings = field(default_factory=BrainSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    deliver: DeliverSettings = field(default_factory=DeliverSettings)
    priority: PrioritySettings = field(default_factory=PrioritySettings)
    contracts: ContractSettings = field(default_factory=ContractSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    reflect: ReflectSettings = field(default_factory=ReflectSettings)
    notices: NoticeSettings = field(default_factory=NoticeSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    tools: ToolSettings = field(default_factory=ToolSettings)
    web: WebSettings = field(default_factory=WebSettings)
    commands: Mapping[str, CommandSettings] = field(default_factory=dict)
    mcp: Mapping[str, McpSettings] = field(default_factory=dict)
    channels: "Mapping[str, ChannelSettings]" = field(default_factory=dict)
    calendar: CalendarSettings = field(default_factory=CalendarSettings)
    calendars: Mapping[str, CalendarServer] = field(default_factory=dict)
    projects: "Mapping[str, ProjectSettings]" = field(default_factory=dict)
    specialists: "Mapping[str, SpecialistSettings]" = field(default_factory=dict)
    hooks: "Mapping[str, HookSettings]" = field(default_factory=dict)
    doors: "Mapping[str, InboundRule]" = field(default_factory=dict)
    folders: "Mapping[str, FolderSettings]" = field(default_factory=dict)

    @property
    def database(self) -> Path | str:
        """Where the store is: the file, or the address of a Postgres database."""
        return self.store.url or self.database_file

    @property
    def database_file(self) -> Path:
        return self.home / "agent.db"

    @property
    def models(self) -> Path:
        return self.home / "models"

    @property
    def work(self) -> Path:
        return self.home / "tasks" / "work"

    @property
    def files(self) -> Path:
        return self.home / "tasks" / "files"

    @property
    def logs(self) -> Path:
        return self.home / "tasks" / "logs"

    @property
    def backups(self) -> Path:
        return self.home / "backups"


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Load the settings; a wrong key or value is refused by name, with what would be right."""
    settings = Settings(home=home_of(environ))
    path = settings.home / "settings.toml"
    if path.exists():
        settings = _apply(settings, _parse(path.read_bytes(), path), str(path))
    return _consistent(_apply(settings, _from_environment(environ), "the environment"))


def check_text(text: str, path: Path) -> str:
    """The text, if a settings file may say this; else what is wrong with it is raised."""
    _consistent(_apply(Settings(home=path.parent), _parse(text.encode(), path), str(path)))
    return text


def _consistent(settings: Settings) -> Settings:
    """The settings, if no section contradicts another."""
    check_notices(settings.notices, settings.channels)
    check_recall(settings.recall)
    check_web(settings.web)
    check_server(settings.server)
    settings = _for_several(settings)
    if settings.doors:
        from remit.settings import doors  # noqa: PLC0415 - as below

        doors.check(settings.doors, settings.channels)
    return settings


def _for_several(settings: Settings) -> Settings:
    """Refuse what several processes cannot share; the own calendar server is off there."""
    if not settings.engine.is_shared:
        return settings
    for wrong, name, sentence in (
        (not settings.store.url, "url", "needs a Postgres database: name it in [store] url"),
        (settings.recall.store == "qdrant", "store", "needs a Qdrant server in [recall] store"),
        (
            not settings.engine.pages.startswith(("http://", "https://")),
            "ui",
            "needs an address that begins with http:// or https:// in [engine] ui, or none",
        ),
    ):
        if wrong:
            raise BadInput(f'[engine] kind = "temporal" {sentence}.', field=name)
    return replace(settings, calendar=replace(settings.calendar, own=False))


def _parse(content: bytes, path: Path) -> dict[str, object]:
    from remit.formats import parse_toml  # noqa: PLC0415 - who only asks where all is need not wait

    try:
        return parse_toml(content.decode())
    except ValueError as error:
        sentence = f"{path} is not valid TOML: {error}. Fix that line."
        raise BadInput(sentence) from None


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """Return values such as REMIT_ENGINE_PARALLEL=8, which is [engine] parallel = 8."""
    tree: dict[str, object] = {}
    for key, value in environ.items():
        name = key.removeprefix("REMIT_").lower()
        if not key.startswith("REMIT_") or name in _NOT_SETTINGS:
            continue
        part, _, rest = name.partition("_")
        if part in _PARTS and rest:
            section = tree.setdefault(part, {})
            assert isinstance(section, dict)  # noqa: S101 - made one line above
            section[rest] = _number_or_text(value)
        else:
            tree[name] = value
    return tree


def _number_or_text(value: str) -> int | str:
    if value in _SWITCH:
        return _SWITCH[value]
    return int(value) if value.isdecimal() else value


def _apply(settings: Settings, tree: Mapping[str, object], where: str) -> Settings:
    top: dict[str, object] = {}
    for key, value in tree.items():
        if key in _PARTS and isinstance(value, Mapping):
            part, place = getattr(settings, key), f"[{key}] in {where}"
            found = {
                name: _check_value(part, name, each, place, key) for name, each in value.items()
            }
            top[key] = replace(part, **found)
        else:
            top[key] = _check_value(settings, key, value, where)
    return replace(settings, **top)


def _check_value(part: Struct, key: str, value: object, where: str, section: str = "") -> object:
    known = [name for name in part.__struct_fields__ if name != "home"]
    if key not in known:
        import difflib  # noqa: PLC0415 - only for a mistyped name

        near = difflib.get_close_matches(key, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(known)}."
        raise BadInput(f"{where} has no setting {key!r}.{hint}", field=key)
    now = getattr(part, key)
    if key in _TABLES:
        return _TABLES[key](value, where)
    if isinstance(now, StrEnum):
        return _word(type(now), key, value, where)
    if isinstance(now, tuple):
        return words(key, value, where)
    if isinstance(now, Mapping):
        return _limits(key, value, where)
    if isinstance(value, str) and value:
        check_form(section, key, value, where)
    least = 0 if isinstance(part, BudgetSettings | DeliverSettings | ScheduleSettings) else 1
    if type(value) is not type(now) or (type(value) is int and value < least):
        kinds = _KINDS if least else _KINDS | {int: "a whole number, or 0"}
        kind = kinds.get(type(now), "a table")
        raise BadInput(f"{key} in {where} must be {kind}, not {value!r}.", field=key)
    return value


def _limits(key: str, value: object, where: str) -> Mapping[str, int]:
    if not isinstance(value, Mapping) or not all(type(n) is int and n > 0 for n in value.values()):
        raise BadInput(f"{key} in {where} must map names to whole numbers above 0.", field=key)
    for name in sorted(value.keys() - set(SourceKind)):
        known = ", ".join(SourceKind)
        raise BadInput(f"{key} in {where} has {name!r}; a source is {known}.", field=key)
    return dict(value)


def _commands(value: object, where: str) -> Mapping[str, CommandSettings]:
    if isinstance(value, Mapping):
        lists = {name: each for name, each in value.items() if not isinstance(each, Mapping)}
        value = {**value, **{name: {"argv": each} for name, each in lists.items()}}
    return _COMMANDS.read(value, where)


def _command_problems(command: CommandSettings) -> tuple[tuple[bool, str], ...]:
    return (
        (not command.argv or not command.argv[0], 'it needs a program: ["restic", "backup"]'),
        (any("\0" in word for word in command.argv), "its words may not hold a NUL"),
        (command.timeout < 1, "timeout must be a whole number above 0"),
        (bool(command.cwd) and not Path(command.cwd).is_absolute(), "cwd must be a full path"),
    )


_COMMANDS: Final = SettingsTable(
    CommandSettings,
    "commands",
    "commands",
    "argv",
    _command_problems,
    name=lambda name: re.fullmatch(r"\w[\w-]{0,39}", name) is not None,
    naming="its name must be one word of letters, digits, - and _",
)


def _word(kind: type[StrEnum], name: str, value: object, where: str) -> StrEnum:
    """Parse one of a few words."""
    if isinstance(value, str) and value in set(kind):
        return kind(value)
    sentence = f"{name} in {where} is {value!r:.60}; it may be {', '.join(kind)}."
    raise BadInput(sentence, field=name)


def _read_by(module: str, name: str = "read") -> Callable[[object, str], object]:
    """Import a reader only when its table is there."""

    def read(value: object, where: str) -> object:
        found: object = getattr(import_module(f"remit.settings.{module}"), name)(value, where)
        return found

    return read


_TABLES: Final[Mapping[str, Callable[[object, str], object]]] = {
    "commands": _commands,
    "mcp": MCP_SERVERS.read,
    "channels": _read_by("channels"),
    "calendars": check_calendars,
    "projects": _read_by("projects"),
    "specialists": _read_by("projects", "read_specialists"),
    "hooks": _read_by("doors", "hooks"),
    "doors": _read_by("doors", "doors"),
    "folders": _read_by("doors", "folders"),
    "fallback": read_fallback,
}
_KINDS: Final[dict[type, str]] = {int: "a whole number above 0", str: "text", bool: "true or false"}
_SWITCH: Final[Mapping[str, bool]] = {"true": True, "false": False}
_PARTS: Final = frozenset(
    name for name, kind in Settings.__annotations__.items() if hasattr(kind, "__struct_fields__")
)
_NOT_SETTINGS: Final = frozenset({"home", "debug", "failpoint", "token", "soak", "write_golden"})
