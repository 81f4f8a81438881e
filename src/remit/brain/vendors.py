"""Connects to a model through its vendor's SDK. This module loads the vendors' library."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Final, Protocol

from httpx2 import AsyncByteStream, AsyncHTTPTransport, SyncByteStream
from msgspec import Struct
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

from remit.brain.choose import ModelConfig, ModelLimits, Vendor
from remit.errors import Permanent

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
