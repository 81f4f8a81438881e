"""Makes readable text of a web page, in a process of its own that a hostile page cannot hold up.

The process may use little memory and time and is killed after that. One order on stdin, the text on
stdout.
"""

import json
import os
import resource
import sys
from typing import Final

from remit.system.process import ask_worker

MAX_TEXT_BYTES: Final = 2_000_000
_MEMORY_BYTES: Final = 1_000_000_000
_CPU_SECONDS: Final = 20
_WORKER: Final = (sys.executable, "-I", "-m", "remit.system.readable_text")


async def extract(html: bytes, url: str, charset: str, seconds: float) -> str:
    """Return the text of a page; empty if there is none, or if it took too long."""
    head = json.dumps({"url": url, "charset": charset}).encode() + b"\n"
    environ = {"PATH": os.defpath}
    answer = await ask_worker(_WORKER, head + html, seconds, MAX_TEXT_BYTES, environ)
    return answer.output.decode("utf-8", "ignore").strip()


def page_text(html: bytes, url: str, charset: str) -> str:
    """Return the main text of a page as Markdown with its links, or all of its text."""
    import trafilatura  # noqa: PLC0415 - only for the process that reads a page
    from trafilatura.utils import decode_file  # noqa: PLC0415

    page = _decode_page(html, charset) or decode_file(html)
    if "<body" not in page.lower():  # else the extractor takes it for no page
        page = f"<html><body>{page}</body></html>"
    about = trafilatura.extract_metadata(page, default_url=url)
    main = trafilatura.extract(
        page,
        url=url,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_comments=False,
        favor_recall=True,
    )
    body = main or trafilatura.html2txt(page) or ""
    title, date = (about.title or "", about.date or "")
    head = [title if title not in body[:500] else "", f"Dated {date}" if date else ""]
    return "\n".join([*filter(None, head), "", body]).strip()


def _decode_page(html: bytes, charset: str) -> str | None:
    """Return the page as text if the server said how it is encoded; else the extractor guesses."""
    try:
        return html.decode(charset, "replace") if charset else None
    except LookupError:
        return None


def _main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ours = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    order = json.loads(sys.stdin.buffer.readline())
    text = page_text(sys.stdin.buffer.read(), order["url"], order["charset"])
    ours.write(text.encode("utf-8", "ignore")[:MAX_TEXT_BYTES])
    ours.close()


if __name__ == "__main__":
    _main()
