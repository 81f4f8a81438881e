"""The tools that read the web: `fetch` a page, and `search` with a provider of the settings.

What they return is public text: data, never an order. A task that has read such text and also holds
something private may only follow addresses that it has seen, because an address that a model makes
up could carry the private part away; otherwise the owner is asked.
"""

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final, TypeAlias, cast

from msgspec import Struct

from remit.brain.prompt import is_owners
from remit.brain.tools import TOOLS, OwnTool, text_argument
from remit.errors import BadInput
from remit.model.codec import Json, JsonMap
from remit.model.reply import Policy, ToolCall, ToolResult
from remit.model.task import Taint, Task
from remit.settings.parts import SearchProvider, WebSettings
from remit.store import runs
from remit.store.database import Database

MAX_PAGE_CHARACTERS: Final = 40_000

Key: TypeAlias = Callable[[], str]  # the provider's key; empty if it is not set


class WebUsage(Struct, frozen=True):
    """What a task has read of the web in this round, and whether it holds something private."""

    pages: int = 0
    size: int = 0  # bytes
    texts: tuple[str, ...] = ()
    private: bool = False


class WebTools:
    """The tools on offer: `fetch`, and `search` if a provider is set."""

    def __init__(self, settings: WebSettings, db: Database, key: Key = str) -> None:
        self._settings = settings
        self._db = db
        self._key = key

    def tools(self, fetch: Policy, search: Policy) -> list[OwnTool]:
        found = [OwnTool(TOOLS["fetch"], fetch, self._fetch, for_call=self._fetch_policy)]
        if self._settings.search is not SearchProvider.NONE:
            found.append(OwnTool(TOOLS["search"], search, self._search))
        return found

    async def _fetch(self, task: Task, call: ToolCall) -> ToolResult:
        used = await self._usage(task)
        limits = self._settings
        if used.pages >= limits.task_pages or used.size >= limits.task_bytes:
            sentence = (
                f"This task has read {used.pages} pages and {used.size:,} bytes of the web; "
                f"[web] task_pages ({limits.task_pages}) and task_bytes ({limits.task_bytes:,}) "
                "allow no more. Work with what you have."
            )
            raise BadInput(sentence)
        from remit.system import web  # noqa: PLC0415 - the HTTP library, for those who read pages

        most = web.WebLimits(limits.seconds, limits.page_bytes, limits.own_hosts)
        page = await web.read_page(text_argument(call, "url"), most)
        if isinstance(page, web.WebFailure):
            return ToolResult(call.id, page.why, failed=True, taint=Taint.PUBLIC)
        words = _part(page.text, call.args.get("part"))
        shown = f"Address: {page.url}\n\n{words}"
        return ToolResult(
            call.id, shown, taint=Taint.PUBLIC, read_from=page.url, read_bytes=page.size
        )

    async def _search(self, task: Task, call: ToolCall) -> ToolResult:
        del task
        query = text_argument(call, "query")
        found = await search_web(self._settings, self._key, query)
        if isinstance(found, str):
            return ToolResult(call.id, found, failed=True, taint=Taint.PUBLIC)
        lines = [f"{n}. {each}" for n, each in enumerate(found, 1)]
        shown = "\n".join(lines) or "Nothing was found."
        return ToolResult(call.id, shown, taint=Taint.PUBLIC, read_from=f"search: {query}")

    async def _fetch_policy(self, task: Task, call: ToolCall) -> Policy:
        """Ask before an address is fetched that could carry private data away."""
        if task.taint is Taint.OWNER:
            return Policy.ALLOW
        used = await self._usage(task)
        url = str(call.args.get("url", "")).partition("#")[0]
        owner = (task.request.text if task.request else "", task.instructions, *task.owner_notes)
        seen = (*used.texts, *(owner if is_owners(task) else ()))
        private = used.private or not is_owners(task)
        return Policy.ASK if private and not any(url in each for each in seen) else Policy.ALLOW

    async def _usage(self, task: Task) -> WebUsage:
        steps = await self._db.read(runs.steps, task)
        results = [
            output
            for name, output in steps.items()
            if name.startswith("use:") and isinstance(output, dict) and not output.get("failed")
        ]
        pages = [each for each in results if each.get("read_bytes")]
        size = sum(n for each in pages if isinstance(n := each["read_bytes"], int))
        texts = tuple(str(each.get("text")) for each in results if each.get("read_from"))
        memory = steps.get("retrieve_context")
        recalled = isinstance(memory, dict) and any(
            memory.get(part) for part in ("snippets", "runs", "summary", "reported", "alike")
        )
        others = any(each.get("text") and not each.get("read_from") for each in results)
        return WebUsage(len(pages), size, texts, private=recalled or others)


def _part(page: str, wanted: Json) -> str:
    """Return one part of a long page, and how many there are."""
    n = wanted if isinstance(wanted, int) else 1
    parts = -(-len(page) // MAX_PAGE_CHARACTERS)
    if n > parts:
        raise BadInput(f"The page has {parts} parts; there is no part {n}.", field="part")
    words = page[(n - 1) * MAX_PAGE_CHARACTERS : n * MAX_PAGE_CHARACTERS]
    return words if parts == 1 else f"(Part {n} of {parts}.)\n{words}"


# Search -------------------------------------------------------------------------------------------


MAX_RESULTS: Final = 8
_MAX_SNIPPET_CHARACTERS: Final = 500
_MAX_ANSWER_BYTES: Final = 1_000_000
_SECONDS: Final = 20.0


class SearchApi(Struct, frozen=True):
    """How a provider is asked, and where its results are.

    `results` is the way to the list in the answer; `snippet` the field with a few lines of a page.
    """

    path: str = "/search"
    method: str = "GET"
    query: str = "q"  # the field with what is looked for
    more: Mapping[str, str | int] = {}
    key: tuple[str, str] | None = None  # a header, and what stands before the key in it
    results: tuple[str, ...] = ("results",)
    snippet: str = "content"
    url: str = ""  # the provider's own


_PROVIDERS: Final[Mapping[SearchProvider, SearchApi]] = {
    SearchProvider.BRAVE: SearchApi(
        "/res/v1/web/search",
        more={"count": MAX_RESULTS},
        key=("x-subscription-token", ""),
        results=("web", "results"),
        snippet="description",
        url="https://api.search.brave.com",
    ),
    SearchProvider.TAVILY: SearchApi(
        method="POST",
        query="query",
        more={"max_results": MAX_RESULTS},
        key=("authorization", "Bearer "),
        url="https://api.tavily.com",
    ),
    SearchProvider.SEARXNG: SearchApi(more={"format": "json"}),
}
_REFUSED: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "does not take the key; the owner must set it again",
    HTTPStatus.FORBIDDEN: "refuses the request (for SearXNG, allow the format json)",
    HTTPStatus.PAYMENT_REQUIRED: "has no credit left",
    HTTPStatus.TOO_MANY_REQUESTS: "has had too many requests; try again later",
}


async def search_web(settings: WebSettings, key: Key, query: str) -> list[str] | str:
    """Return what the provider found, each as title, address and a few lines; or why nothing."""
    import httpx2  # noqa: PLC0415 - as above

    from remit.system import http_client  # noqa: PLC0415

    provider = _PROVIDERS[settings.search]
    value = key() if provider.key else ""
    if provider.key and not http_client.is_header_safe(value):
        name = settings.key
        return f"The search has no key; the owner sets it with `remit secrets set {name}`."
    url = (settings.url or provider.url).rstrip("/") + provider.path
    headers = {provider.key[0]: provider.key[1] + value} if provider.key else {}
    fields = {provider.query: query, **provider.more}
    by_post = provider.method == "POST"
    params, body = (None, fields) if by_post else (fields, None)
    request = httpx2.Request(provider.method, url, headers=headers, params=params, json=body)
    host = request.url.host
    try:
        async with http_client.open_client(url) as client, asyncio.timeout(_SECONDS):
            answer = await client.send(request, stream=True)
            content = await http_client.read_body(answer, _MAX_ANSWER_BYTES)
            await answer.aclose()
    except (httpx2.HTTPError, TimeoutError) as error:
        return f"The search at {host} failed ({type(error).__name__})."
    if answer.status_code != HTTPStatus.OK:
        why = _REFUSED.get(answer.status_code, f"answered with status {answer.status_code}")
        return f"The search at {host} {why}."
    return _results(cast("Json", http_client.fields_of(content or b"")), provider)


def _results(found: Json, provider: SearchApi) -> list[str]:
    for name in provider.results:
        found = found.get(name) if isinstance(found, dict) else None
    listed = found if isinstance(found, list) else []
    results = [_result(each, provider.snippet) for each in listed if isinstance(each, dict)]
    return results[:MAX_RESULTS]


def _result(found: JsonMap, snippet: str) -> str:
    names = ("title", "url", snippet)
    title, url, words = (" ".join(str(found.get(name) or "").split()) for name in names)
    return f"{title[:200]}\n   {url[:2000]}\n   {words[:_MAX_SNIPPET_CHARACTERS]}"
