"""Connects to a model through its vendor's SDK, and sorts its errors by who must act.

Transient: the engine tries again later. Permanent: a retry would fail the same way. Ask: the owner
must act. This module loads the vendors' library; import it only before asking a model.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Final, Protocol

from httpx2 import AsyncByteStream, AsyncHTTPTransport, SyncByteStream
from msgspec import Struct
from pydantic_ai import exceptions as their
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model as TheirModel
from pydantic_ai.models import create_async_httpx2_client
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import (
    OpenAIChatModel,
    OpenAIResponsesModel,
    OpenAIResponsesModelSettings,
)
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings, merge_model_settings

from remit.brain.choose import ModelConfig, ModelLimits, Secret, Vendor
from remit.errors import Permanent, RemitError, StepFailed, Transient
from remit.model.reply import Ask
from remit.model.status import Reason

RETRIES: Final = 2  # only by the vendor's SDK: a request is sent three times at most
MAX_BODY_BYTES: Final = 32_000_000  # of one HTTP answer; a stream needs about 300 per token
_SHORT_WAIT: Final = 20.0  # seconds; longer waits are left to the engine
_LOUD: Final = ("anthropic", "httpcore2", "httpx2", "openai", "pydantic_ai")

# A stream that stops without an end mark is broken.
_WHOLE: Final = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
_WHOLE_OLLAMA: Final = OpenAIModelProfile(
    openai_chat_streaming_requires_finish_reason=True,
    openai_chat_supports_max_completion_tokens=False,  # knows only the older name of the limit
)


class ModelAccess(Struct, frozen=True):
    """The model, its settings, and how to disconnect."""

    model: TheirModel
    settings: ModelSettings
    close: Callable[[], Awaitable[None]]


def connect(model: ModelConfig, limits: ModelLimits) -> ModelAccess:
    """Open a connection. Nothing is sent yet."""
    for name in _LOUD:  # keep prompts and answers out of the vendors' logs
        logging.getLogger(name).setLevel(logging.WARNING)
    # Requests to this machine bypass any proxy of the environment.
    straight = AsyncHTTPTransport() if model.vendor is Vendor.LOCAL else None
    http = create_async_httpx2_client(transport=straight)
    http.event_hooks["response"] += [_leave_long_waits_to_the_engine, _bound_body]
    key = model.key.reveal() if model.key else None
    theirs: TheirModel
    match model.vendor:
        case Vendor.ANTHROPIC:
            anthropic = AnthropicProvider(api_key=key, base_url=model.base_url, http_client=http)
            theirs = AnthropicModel(model.name, provider=anthropic)
        case Vendor.OLLAMA:
            # Without one its library would search for a key and send it anywhere.
            ollama = OllamaProvider(
                base_url=model.base_url, api_key=key or "none", http_client=http
            )
            theirs = OllamaModel(model.name, provider=ollama, profile=_WHOLE_OLLAMA)
        case Vendor.OPENAI_CHAT | Vendor.OPENAI_RESPONSES | Vendor.LOCAL:
            openai: OpenAIProvider | OpenAICompatibleProvider
            if model.base_url:
                openai = OpenAICompatibleProvider(
                    "openai-compatible", base_url=model.base_url, api_key=key, http_client=http
                )
            else:
                openai = OpenAIProvider(api_key=key, http_client=http)
            theirs = (
                _Foreground(model.name, provider=openai)
                if model.vendor is Vendor.OPENAI_RESPONSES
                else OpenAIChatModel(model.name, provider=openai, profile=_WHOLE)
            )
    return ModelAccess(theirs, _settings(model, limits), http.aclose)


def _settings(model: ModelConfig, limits: ModelLimits) -> ModelSettings:
    common = ModelSettings(
        max_tokens=limits.tokens,
        max_retries=RETRIES,
        timeout=limits.seconds,
        request_timeout=limits.seconds,
    )
    if model.vendor is Vendor.OPENAI_RESPONSES:
        # The vendor must not store the owner's words.
        private: ModelSettings = OpenAIResponsesModelSettings(openai_store=False)
        return merge_model_settings(common, private) or common
    if model.grammar:
        bound = ModelSettings(extra_body={"grammar": model.grammar})
        return merge_model_settings(common, bound) or common
    return common


class _Foreground(OpenAIResponsesModel):
    """Does not wait for background work: we never request it."""

    def continuation_delay(self, response: ModelResponse) -> float | None:
        if response.state == "suspended":
            raise UnexpectedModelBehavior("The vendor speaks of work that nobody asked for.")
        return super().continuation_delay(response)


class _Answer(Protocol):
    stream: SyncByteStream | AsyncByteStream

    @property
    def headers(self) -> MutableMapping[str, str]: ...


class _BoundedStream(AsyncByteStream):
    """The body of an answer, cut off at the size limit."""

    def __init__(self, body: AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._body:
            size += len(piece)
            if size > MAX_BODY_BYTES:
                raise Permanent(
                    f"The model's server sent more than {MAX_BODY_BYTES:,} bytes for one answer. "
                    "Check [brain] model and base_url."
                )
            yield piece

    async def aclose(self) -> None:
        await self._body.aclose()


async def _bound_body(answer: _Answer) -> None:
    if isinstance(answer.stream, AsyncByteStream):
        answer.stream = _BoundedStream(answer.stream)


async def _leave_long_waits_to_the_engine(answer: _Answer) -> None:
    """Tell the SDK not to sleep through a long Retry-After."""
    asked = answer.headers.get("retry-after", "").strip()
    # A date is not parsed: it names far-off times.
    if asked and not (asked.isdecimal() and int(asked) <= _SHORT_WAIT):
        answer.headers["x-should-retry"] = "false"


MAX_WAIT_SECONDS: Final = 3600.0  # a vendor that asks for more is asked again after so many seconds
_MAX_MESSAGE_CHARACTERS: Final = 200
_MAX_CAUSES: Final = 20
_SERVER: Final = 500
_PASSING: Final = frozenset({408, 409, 425, 429})  # not the request's fault


_LOOK: Final = "Check [brain] model and base_url."
_CHECK: Final = "If it happens again, check [brain] model and base_url."

# The first match counts, so narrower classes come first. `Ask`: the owner must act.
_TABLE: Final[tuple[tuple[type[Exception], type[Ask | StepFailed], str], ...]] = (
    (
        their.ModelAuthenticationError,
        Ask,
        "{model} refused {key}. Set another with `remit setup brain`; then approve.",
    ),
    (
        their.ModelQuotaExceededError,
        Ask,
        "{model} has no credit left. Add credit at its provider; then approve.",
    ),
    (their.ModelNotFoundError, Ask, f"{{model}} is not known there. {_LOOK} Then approve."),
    (
        their.ModelContextWindowExceededError,
        Permanent,
        "The prompt is longer than {model} can read.",
    ),
    (their.ModelRequestRejectedError, Permanent, "{model} rejected the request{said}."),
    (their.ModelRateLimitError, Transient, "{model} has had too many requests{said}."),
    (their.ModelRequestTimeout, Transient, "{model} took too long to answer."),
    (their.ModelTimeoutError, Transient, "{model} took too long to answer."),
    (their.ModelConnectionError, Transient, "The connection to {model} failed."),
    (their.ModelHTTPError, Transient, f"{{model}} answered {{status}}{{said}}. {_CHECK}"),
    (
        their.ModelAPIError,
        Transient,
        f"{{model}} sent something that is not an answer{{said}}. {_CHECK}",
    ),
    (their.UsageLimitExceeded, Permanent, "{model} was asked too often for one step."),
    (their.UserError, Permanent, "{model} cannot be asked like this: {error}."),
    (their.UnexpectedModelBehavior, Transient, f"{{model}} answered in an unknown form. {_CHECK}"),
    (Exception, Transient, "{model} failed in an unknown way ({kind}: {error})."),
)


def classify_error(error: Exception, model: ModelConfig) -> RemitError | Ask:
    """Return what an error means, in a sentence without secrets."""
    ours = _ours(error)
    if ours is not None:
        return ours
    acts, says = next((acts, says) for kind, acts, says in _TABLE if isinstance(error, kind))
    sentence = says.format(
        model=model,
        key=f"the key in {model.key_name}" if model.key else "a request without a key",
        status=getattr(error, "status_code", ""),
        said=_vendor_message(error, model.key),
        kind=type(error).__name__,
        error=_clean(str(error), model.key),
    )
    if acts is Ask:
        return Ask(Reason.AUTH, sentence)
    return _failure_of_error(error, sentence) if acts is Transient else Permanent(sentence)


def _ours(error: BaseException | None) -> RemitError | None:
    """Return our own error if the vendor's library only wrapped one."""
    for _ in range(_MAX_CAUSES):
        if error is None or isinstance(error, RemitError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _failure_of_error(error: Exception, sentence: str) -> StepFailed:
    """Return Transient, unless the status says that the request itself is wrong."""
    code = error.status_code if isinstance(error, their.ModelHTTPError) else _SERVER
    if code < _SERVER and code not in _PASSING:
        return Permanent(sentence)
    asked = error.retry_after if isinstance(error, their.ModelAPIError) else None
    return Transient(sentence, after=None if asked is None else min(asked, MAX_WAIT_SECONDS))


def _vendor_message(error: Exception, key: Secret | None) -> str:
    """The vendor's own words, if it found any."""
    body = error.body if isinstance(error, their.ModelAPIError) else None
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    words = body.get("message") if isinstance(body, dict) else None
    return f": {_clean(words, key)}" if isinstance(words, str) and words.strip() else ""


def _clean(text: str, key: Secret | None) -> str:
    """Return one short line without the key."""
    line = " ".join(text.split())
    line = key.scrub(line) if key else line
    return "".join(char for char in line if char.isprintable())[:_MAX_MESSAGE_CHARACTERS].rstrip(
        ". "
    )
