"""Chooses a model for each role, from the settings or the environment, and hides its API key.

A model is named `vendor:name`, once for everything or for one role:

    [brain]
    model = "anthropic:claude-sonnet-5-5"
    score = "ollama:qwen3"

`openai:` means OpenAI's own service; with a `base_url` it means any server that speaks the same
chat protocol. `openai-chat:` and `openai-responses:` name the protocol outright.
"""

import difflib
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Protocol
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import BadInput

_MIN_TELLING_CHARACTERS: Final = 8  # so many characters of a key in a row are as good as told
_SHOWN: Final = "…"


class Secret:
    """Reveals itself only on an explicit call."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def scrub(self, text: str) -> str:
        """Remove the secret, and every longer piece of it, from a text."""
        text = text.replace(self._text, _SHOWN) if self._text else text
        for start in range(len(self._text) - _MIN_TELLING_CHARACTERS + 1):
            text = text.replace(self._text[start : start + _MIN_TELLING_CHARACTERS], _SHOWN)
        return text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("A secret is not stored.")


class ModelRole(StrEnum):
    """What a model is used for."""

    EXTRACT = "extract"
    THINK = "think"
    SCORE = "score"
    SUMMARISE = "summarise"


class Vendor(StrEnum):
    """The protocol of a model."""

    ANTHROPIC = "anthropic"
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    OLLAMA = "ollama"
    LOCAL = "local"  # our own process, with OpenAI's chat protocol


class BrainChoiceSettings(Protocol):
    """The `[brain]` settings. Every text may be empty."""

    @property
    def model(self) -> str: ...
    @property
    def extract(self) -> str: ...
    @property
    def think(self) -> str: ...
    @property
    def score(self) -> str: ...
    @property
    def summarise(self) -> str: ...
    @property
    def base_url(self) -> str: ...
    @property
    def key_env(self) -> str: ...
    @property
    def time_limit(self) -> int: ...
    @property
    def token_limit(self) -> int: ...


class ModelLimits(Struct, frozen=True):
    seconds: float = 300  # one request, including the SDK's retries
    tokens: int = 16_000  # one answer


class ModelConfig(Struct, frozen=True):
    vendor: Vendor
    name: str
    base_url: str | None  # None: the vendor's own
    key_name: str  # the environment variable that holds the key
    key: Secret | None
    grammar: str = ""  # the grammar its answers must follow, if the server supports it

    @property
    def has_tools(self) -> bool:
        """Whether it can call tools. A model that fits a laptop answers with prose instead."""
        return self.vendor is not Vendor.LOCAL

    def __str__(self) -> str:
        place = f" at {self.base_url}" if self.base_url and self.vendor is not Vendor.LOCAL else ""
        return f"{self.vendor}:{self.name}{place}"


class ModelChoice(Struct, frozen=True):
    """The result: a model for each role, or what that role lacks."""

    models: Mapping[ModelRole, ModelConfig]
    lacks: Mapping[ModelRole, str]
    limits: ModelLimits = ModelLimits()

    @property
    def ready(self) -> bool:
        return ModelRole.THINK in self.models

    @property
    def sentence(self) -> str:
        """The result, or what to set, for people."""
        groups: dict[str, list[str]] = {}
        for role in ModelRole:
            says = _model_line(self.models[role]) if role in self.models else self.lacks[role]
            groups.setdefault(says, []).append(role)
        if len(groups) == 1:
            return next(iter(groups))
        return " ".join(f"{', '.join(roles)}: {says}" for says, roles in groups.items())


class _Habit(Struct, frozen=True):
    """The defaults of a vendor."""

    prefix: str
    key: str
    url: str
    model: str | None = None  # used if only a key is set
    home: str | None = None  # the default address
    keyless: bool = False


_ANTHROPIC: Final = _Habit(
    "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", model="anthropic:claude-sonnet-5-5"
)
_OPENAI: Final = _Habit("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", model="openai:gpt-5.5")
_OLLAMA: Final = _Habit(
    "ollama", "OLLAMA_API_KEY", "OLLAMA_BASE_URL", home="http://localhost:11434/v1", keyless=True
)
_HABITS: Final = {
    "anthropic": _ANTHROPIC,
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "ollama": _OLLAMA,
}
_NOTHING: Final = (
    "No language model is set. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or write "
    'model = "ollama:…" under [brain] in settings.toml, and start Remit again.'
)


def choose_models(environ: Mapping[str, str], wanted: BrainChoiceSettings) -> ModelChoice:
    """Find a model for each role; a setting that cannot be read is refused by name."""
    if wanted.base_url and not wanted.model:
        raise BadInput(
            "[brain] base_url says where to ask, not whom; set model too.", field="model"
        )
    models: dict[ModelRole, ModelConfig] = {}
    lacks: dict[ModelRole, str] = {}
    for role in ModelRole:
        field_, spec = _setting_for(role, wanted)
        got = _model(field_, spec, environ, wanted) if spec else _customary(environ)
        if isinstance(got, ModelConfig):
            models[role] = got
        else:
            lacks[role] = got
    return ModelChoice(models, lacks, ModelLimits(wanted.time_limit, wanted.token_limit))


def _setting_for(role: ModelRole, wanted: BrainChoiceSettings) -> tuple[str, str]:
    """What the settings say for a role, and the setting that says it."""
    own = {
        ModelRole.EXTRACT: wanted.extract,
        ModelRole.THINK: wanted.think,
        ModelRole.SCORE: wanted.score,
        ModelRole.SUMMARISE: wanted.summarise,
    }[role]
    return (role.value, own) if own else ("model", wanted.model)


def _customary(environ: Mapping[str, str]) -> ModelConfig | str:
    """Return the model that a key in the environment implies, without settings."""
    for habit in (_ANTHROPIC, _OPENAI, _OLLAMA):
        if habit is not _ANTHROPIC and environ.get(habit.url):
            return (
                f"{habit.url} names a server, but no model is set. Write "
                f'model = "{habit.prefix}:…" under [brain] in settings.toml, and start Remit again.'
            )
        if habit.model and environ.get(habit.key):
            return _model("model", habit.model, environ, None)
    return _NOTHING


def _model(
    field_: str, spec: str, environ: Mapping[str, str], wanted: BrainChoiceSettings | None
) -> ModelConfig | str:
    """Return the model a setting names, or what it lacks."""
    habit, prefix, name = _read(field_, spec)
    ours = wanted is not None and bool(wanted.model) and _read("model", wanted.model)[0] is habit
    url, key_name = environ.get(habit.url, ""), habit.key
    if ours and wanted is not None:
        url = wanted.base_url or url
        # A vendor's key is only for that vendor: another server gets only the key named for it.
        key_name = wanted.key_env or ("" if wanted.base_url else key_name)
    base_url = _checked(url, prefix) if url else habit.home
    vendor = Vendor(prefix) if prefix != "openai" else _protocol(base_url)
    model = ModelConfig(vendor, name, base_url, key_name, None)
    return _with_key(model, environ, needed=not (habit.keyless or (base_url and habit is _OPENAI)))


def _protocol(base_url: str | None) -> Vendor:
    # OpenAI itself prefers responses; compatible servers support only chat.
    return Vendor.OPENAI_CHAT if base_url else Vendor.OPENAI_RESPONSES


def _read(field_: str, spec: str) -> tuple[_Habit, str, str]:
    prefix, _, name = spec.partition(":")
    if prefix in _HABITS and name.strip():
        return _HABITS[prefix], prefix, name.strip()
    near = difflib.get_close_matches(prefix, _HABITS, 1) or list(_HABITS)
    raise BadInput(
        f"[brain] {field_} must be a vendor, a colon and a model's name, like "
        f'"{_ANTHROPIC.model}". Vendors: {", ".join(near)}.',
        field=field_,
    )


def _checked(url: str, prefix: str) -> str:
    """Return an address without credentials, as the vendor's SDK wants it."""
    parts = _split(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput("[brain] base_url must start with http:// or https://.", field="base_url")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInput(
            "[brain] base_url must be an address alone, without user, password or query; "
            "a key goes into the environment, and key_env names it.",
            field="base_url",
        )
    path = parts.path.rstrip("/")
    if prefix == "anthropic":
        path = path.removesuffix("/v1")
    if prefix == "ollama":
        path = path or "/v1"
    return f"{parts.scheme}://{parts.netloc}{path}"


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for an invalid port
    except ValueError as error:
        sentence = f"[brain] base_url is no address: {error}."
        raise BadInput(sentence, field="base_url") from None
    return parts


def _with_key(model: ModelConfig, environ: Mapping[str, str], *, needed: bool) -> ModelConfig | str:
    value = environ.get(model.key_name, "").strip()
    if value and (not value.isascii() or not value.isprintable() or " " in value):
        return (
            f"The key in {model.key_name} holds a character that no key has. Set it again, "
            "and start Remit again."
        )
    if value:
        return replace(model, key=Secret(value))
    if needed and not model.key_name:
        return f"{model} needs a key: name the variable that holds it as key_env under [brain]."
    if needed:
        return f"{model} needs a key: set {model.key_name}, and start Remit again."
    return model


def _model_line(model: ModelConfig) -> str:
    if model.vendor is Vendor.LOCAL:
        return f"{model}, on this machine; all that it writes asks you first."
    key = f", with the key in {model.key_name}" if model.key else ", without a key"
    return f"{model}{key}."
