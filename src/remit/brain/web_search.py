"""Asks a search provider. One row of a table for each: how it is asked, and where its results are.

This module loads the HTTP library; `web` imports it with the first search.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final, cast

import httpx2
from msgspec import Struct

from remit.model.codec import Json, JsonMap
from remit.settings.parts import SearchProvider, WebSettings
from remit.system import http_client

MAX_RESULTS: Final = 8
_MAX_SNIPPET_CHARACTERS: Final = 500
_MAX_ANSWER_BYTES: Final = 1_000_000
_SECONDS: Final = 20.0


class SearchApi(Struct, frozen=True):
    """How a provider is asked: a request made of address, key and query, and where its results are.

    `results` is the way to the list in the answer; `snippet` the field with a few lines of a page.
    """

    request: Callable[[str, str, str], httpx2.Request]
    results: tuple[str, ...] = ("results",)
    snippet: str = "content"
    url: str = ""  # the provider's own
    needs_key: bool = True


def _brave(url: str, key: str, query: str) -> httpx2.Request:
    wanted = {"q": query, "count": str(MAX_RESULTS)}
    headers = {"x-subscription-token": key, "accept": "application/json"}
    return httpx2.Request("GET", f"{url}/res/v1/web/search", params=wanted, headers=headers)


def _tavily(url: str, key: str, query: str) -> httpx2.Request:
    wanted = {"query": query, "max_results": MAX_RESULTS}
    headers = {"authorization": f"Bearer {key}"}
    return httpx2.Request("POST", f"{url}/search", json=wanted, headers=headers)


def _searxng(url: str, key: str, query: str) -> httpx2.Request:
    del key
    return httpx2.Request("GET", f"{url}/search", params={"q": query, "format": "json"})


_PROVIDERS: Final[Mapping[SearchProvider, SearchApi]] = {
    SearchProvider.BRAVE: SearchApi(
        _brave, ("web", "results"), "description", "https://api.search.brave.com"
    ),
    SearchProvider.TAVILY: SearchApi(_tavily, url="https://api.tavily.com"),
    SearchProvider.SEARXNG: SearchApi(_searxng, needs_key=False),
}
_REFUSED: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "does not take the key; the owner must set it again",
    HTTPStatus.FORBIDDEN: "refuses the request (for SearXNG, allow the format json)",
    HTTPStatus.PAYMENT_REQUIRED: "has no credit left",
    HTTPStatus.TOO_MANY_REQUESTS: "has had too many requests; try again later",
}


async def ask(settings: WebSettings, key: Callable[[], str], query: str) -> list[str] | str:
    """Return what the provider found, each as title, address and a few lines; or why nothing."""
    provider = _PROVIDERS[settings.search]
    value = key() if provider.needs_key else ""
    if provider.needs_key and not http_client.usable(value):
        name = settings.key
        return f"The search has no key; the owner sets it with `remit secrets set {name}`."
    url = (settings.url or provider.url).rstrip("/")
    request = provider.request(url, value, query)
    try:
        async with http_client.open_client(url) as client:
            answer = await _answer(client, request)
    except (httpx2.HTTPError, TimeoutError) as error:
        return f"The search at {request.url.host} failed ({type(error).__name__})."
    status, found = answer
    if status != HTTPStatus.OK:
        why = _REFUSED.get(status, f"answered with status {status}")
        return f"The search at {request.url.host} {why}."
    for name in provider.results:
        found = found.get(name) if isinstance(found, dict) else None
    listed = found if isinstance(found, list) else []
    results = [_result(each, provider.snippet) for each in listed if isinstance(each, dict)]
    return results[:MAX_RESULTS]


async def _answer(client: httpx2.AsyncClient, request: httpx2.Request) -> tuple[int, Json]:
    """Return the status and the JSON of an answer; one that is too long or no JSON is empty."""
    request.extensions = {"timeout": httpx2.Timeout(_SECONDS).as_dict()}
    answer = await client.send(request, stream=True)
    body = bytearray()
    try:
        async for piece in answer.aiter_raw():
            body += piece
            if len(body) > _MAX_ANSWER_BYTES:
                break
    finally:
        await answer.aclose()
    return answer.status_code, cast("Json", http_client.fields_of(bytes(body)))


def _result(found: JsonMap, snippet: str) -> str:
    names = ("title", "url", snippet)
    title, url, text = (" ".join(str(found.get(name) or "").split()) for name in names)
    return f"{title[:200]}\n   {url[:2000]}\n   {text[:_MAX_SNIPPET_CHARACTERS]}"
