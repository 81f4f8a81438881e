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
from typing import Final, Generic, Protocol, TypeVar
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.reply import Prompt, Reply, Usage
from remit.ports import OnText
from remit.settings import BrainSettings

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

    @property
    def sees_pictures(self) -> bool:
        """Whether it takes pictures: the vendors' own models do, of other servers none is sure."""
        own = self.vendor is Vendor.OPENAI_RESPONSES and not self.base_url
        return self.vendor is Vendor.ANTHROPIC or own

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


class _VendorDefaults(Struct, frozen=True):
    prefix: str
    key: str
    url: str
    model: str | None = None  # used if only a key is set
    home: str | None = None  # the default address
    keyless: bool = False


_ANTHROPIC: Final = _VendorDefaults(
    "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", model="anthropic:claude-sonnet-5-5"
)
_OPENAI: Final = _VendorDefaults(
    "openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", model="openai:gpt-5.5"
)
_OLLAMA: Final = _VendorDefaults(
    "ollama", "OLLAMA_API_KEY", "OLLAMA_BASE_URL", home="http://localhost:11434/v1", keyless=True
)
_VENDORS: Final = {
    "anthropic": _ANTHROPIC,
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "ollama": _OLLAMA,
}
OWN_SERVER_KEY: Final = "MODEL_API_KEY"  # of a server that is no vendor's
KEY_NAMES: Final = (*(defaults.key for defaults in (_ANTHROPIC, _OPENAI, _OLLAMA)), OWN_SERVER_KEY)
NOTHING_THINKS: Final = "No language model is used: what needs one waits for you."
NO_MODEL: Final = (
    "No language model is set. Connect one with `remit setup brain` or under Settings, "
    "or set ANTHROPIC_API_KEY or OPENAI_API_KEY and start Remit again."
)


def key_name(model: str, key_env: str, *, own_server: bool) -> str:
    """Return the name under which the key of a model is stored: that of its variable."""
    if not model:
        sentence = (
            f"Name the model that the key is for, such as {_ANTHROPIC.model}, so that it goes to "
            "the right vendor."
        )
        raise BadInput(sentence, field="model")
    defaults, _, _ = _read("model", model)
    return key_env or (OWN_SERVER_KEY if own_server else defaults.key)


def choose_models(environ: Mapping[str, str], wanted: BrainSettings) -> ModelChoice:
    """Find a model for each role; a setting that cannot be read is refused by name."""
    if wanted.base_url and not wanted.model:
        raise BadInput(
            "[brain] base_url says where to ask, not whom; set model too.", field="model"
        )
    models: dict[ModelRole, ModelConfig] = {}
    lacks: dict[ModelRole, str] = {}
    for role in ModelRole:
        own: str = getattr(wanted, role.value)
        field_, spec = (role.value, own) if own else ("model", wanted.model)
        got = _model(field_, spec, environ, wanted) if spec else _customary(environ)
        if isinstance(got, ModelConfig):
            models[role] = got
        else:
            lacks[role] = got
    return ModelChoice(models, lacks, ModelLimits(wanted.time_limit, wanted.token_limit))


def _customary(environ: Mapping[str, str]) -> ModelConfig | str:
    """Return the model that a key in the environment implies, without settings."""
    for defaults in (_ANTHROPIC, _OPENAI, _OLLAMA):
        if defaults is not _ANTHROPIC and environ.get(defaults.url):
            return (
                f"{defaults.url} names a server, but no model is set. Write "
                f'model = "{defaults.prefix}:…" under [brain] in settings.toml, and start Remit '
                "again."
            )
        if defaults.model and environ.get(defaults.key):
            return _model("model", defaults.model, environ, None)
    return NO_MODEL


def _model(
    field_: str, spec: str, environ: Mapping[str, str], wanted: BrainSettings | None
) -> ModelConfig | str:
    """Return the model a setting names, or what it lacks."""
    defaults, prefix, name = _read(field_, spec)
    ours = wanted is not None and bool(wanted.model) and _read("model", wanted.model)[0] is defaults
    url, key_name = environ.get(defaults.url, ""), defaults.key
    if ours and wanted is not None:
        url = wanted.base_url or url
        # A vendor's key is only for that vendor: another server gets only the key named for it.
        key_name = wanted.key_env or (OWN_SERVER_KEY if wanted.base_url else key_name)
    base_url = _check_base_url(url, prefix) if url else defaults.home
    # OpenAI itself prefers responses; compatible servers support only chat.
    openai = Vendor.OPENAI_CHAT if base_url else Vendor.OPENAI_RESPONSES
    vendor = Vendor(prefix) if prefix != "openai" else openai
    model = ModelConfig(vendor, name, base_url, key_name, None)
    return _with_key(
        model, environ, needed=not (defaults.keyless or (base_url and defaults is _OPENAI))
    )


def _read(field_: str, spec: str) -> tuple[_VendorDefaults, str, str]:
    prefix, _, name = spec.partition(":")
    if prefix in _VENDORS and name.strip():
        return _VENDORS[prefix], prefix, name.strip()
    near = difflib.get_close_matches(prefix, _VENDORS, 1) or list(_VENDORS)
    raise BadInput(
        f"[brain] {field_} must be a vendor, a colon and a model's name, like "
        f'"{_ANTHROPIC.model}". Vendors: {", ".join(near)}.',
        field=field_,
    )


def _check_base_url(url: str, prefix: str) -> str:
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
        return (
            f"{model} needs a key: `remit setup brain` stores it, or set {model.key_name} and "
            "start Remit again."
        )
    return model


def _model_line(model: ModelConfig) -> str:
    if model.vendor is Vendor.LOCAL:
        return f"{model}, on this machine; all that it writes asks you first."
    key = f", with the key in {model.key_name}" if model.key else ", without a key"
    return f"{model}{key}."


T = TypeVar("T")


class FilledForm(Struct, Generic[T], frozen=True):
    """A form, filled in and valid."""

    form: T
    usage: Usage


class ModelConnection(Protocol):
    async def say(self, prompt: Prompt, session: str, on_text: OnText | None) -> Reply: ...

    async def fill(self, prompt: Prompt, form: type[T], session: str) -> FilledForm[T] | Reply: ...

    async def close(self) -> None: ...
