"""What the operator may turn: file, then environment, then flags; read once, frozen."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.model.task import SourceKind

DEFAULT_FILE: Final = """\
# Remit's settings. Every line is optional; what is commented out shows the default.

# owner = "you"               # what the agent calls you
# agent = "Remit"             # what you call the agent

[engine]
# parallel = 64               # tasks at work at once
# step_limit = 600            # seconds one step may take
# attempts = 5                # tries before a task fails
# stop_limit = 20             # seconds a stop waits for running steps

[engine.sources]              # at most so many at once from one source
# caldav = 8

[brain]
# kind = "auto"               # auto: a key in the environment decides (ANTHROPIC_API_KEY or
#                             # OPENAI_API_KEY); or none, or scripted (answers from a file)
# model = ""                  # vendor:name, such as anthropic:claude-sonnet-5-5 or ollama:qwen3
# extract = ""                # another model for one role alone: this, and the next three
# think = ""
# score = ""
# summarise = ""
# base_url = ""               # any server that speaks OpenAI's chat protocol
# key_env = ""                # the variable that holds that server's key
# time_limit = 300            # seconds for one request
# token_limit = 16000         # tokens of one answer
# script = "brain.yml"

[server]
# port = 7316                 # on loopback only
"""


@dataclass(frozen=True, slots=True)
class Engine:
    parallel: int = 64
    step_limit: int = 600
    attempts: int = 5
    stop_limit: int = 20
    ageing: int = 900  # seconds of waiting that outweigh one level of priority
    sources: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Brain:
    kind: str = "auto"
    script: str = "brain.yml"
    model: str = ""  # `vendor:name`, for every role that has none of its own
    extract: str = ""
    think: str = ""
    score: str = ""
    summarise: str = ""
    base_url: str = ""
    key_env: str = ""
    time_limit: int = 300
    token_limit: int = 16_000


@dataclass(frozen=True, slots=True)
class Server:
    port: int = 7316


@dataclass(frozen=True, slots=True)
class Settings:
    home: Path
    owner: str = "you"
    agent: str = "Remit"
    engine: Engine = Engine()
    brain: Brain = Brain()
    server: Server = Server()

    @property
    def database(self) -> Path:
        return self.home / "agent.db"

    @property
    def logs(self) -> Path:
        return self.home / "tasks" / "logs"

    @property
    def backups(self) -> Path:
        return self.home / "backups"


def home_of(environ: Mapping[str, str]) -> Path:
    """Where everything lies: REMIT_HOME, or ~/.remit."""
    named = environ.get("REMIT_HOME")
    return Path(named).expanduser().absolute() if named else Path.home() / ".remit"


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings; a wrong key or value is refused by name, with what would be right."""
    settings = Settings(home=home_of(environ))
    path = settings.home / "settings.toml"
    if path.exists():
        settings = _apply(settings, _parse(path), str(path))
    return _apply(settings, _from_environment(environ), "the environment")


def _parse(path: Path) -> dict[str, object]:
    import tomllib  # noqa: PLC0415 - who only asks where everything lies need not wait for it

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        sentence = f"{path} is not valid TOML: {error}. Mend that line; nothing was started."
        raise BadInput(sentence) from None


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """REMIT_ENGINE_PARALLEL=8 is [engine] parallel = 8."""
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
    return int(value) if value.isdecimal() else value


def _apply(settings: Settings, tree: Mapping[str, object], where: str) -> Settings:
    top: dict[str, object] = {}
    for key, value in tree.items():
        if key in _PARTS and isinstance(value, Mapping):
            top[key] = _section(getattr(settings, key), value, f"[{key}] in {where}")
        else:
            top[key] = _checked(settings, key, value, where)
    return replace(settings, **top)  # type: ignore[arg-type]


def _section(part: object, tree: Mapping[str, object], where: str) -> object:
    found = {key: _checked(part, key, value, where) for key, value in tree.items()}
    return replace(part, **found)  # type: ignore[type-var]


def _checked(part: object, key: str, value: object, where: str) -> object:
    known = [f.name for f in fields(part) if f.name != "home"]  # type: ignore[arg-type]
    if key not in known:
        import difflib  # noqa: PLC0415 - only for who mistyped

        near = difflib.get_close_matches(key, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(known)}."
        raise BadInput(f"{where} has no setting {key!r}.{hint}", field=key)
    now = getattr(part, key)
    if isinstance(now, Mapping):
        return _limits(key, value, where)
    if type(value) is not type(now) or (isinstance(value, int) and value < 1):
        kind = _KINDS.get(type(now), "a table")
        raise BadInput(f"{key} in {where} must be {kind}, not {value!r}.", field=key)
    return value


def _limits(key: str, value: object, where: str) -> Mapping[str, int]:
    if not isinstance(value, Mapping) or not all(type(n) is int and n > 0 for n in value.values()):
        raise BadInput(f"{key} in {where} must map names to whole numbers above 0.", field=key)
    for name in value.keys() - set(SourceKind):
        known = ", ".join(SourceKind)
        raise BadInput(f"{key} in {where} has {name!r}; a source is {known}.", field=key)
    return dict(value)


_KINDS: Final[Mapping[type, str]] = {int: "a whole number above 0", str: "text"}
_PARTS: Final = ("engine", "brain", "server")
_NOT_SETTINGS: Final = frozenset({"home", "debug", "failpoint", "token", "soak", "write_golden"})
