"""Static files for the browser, identified by their content, and gzip for answers.

Under an address with the content's hash (`?v=…`) a browser caches a file for good. A page mixes the
owner's data with text from others, so its compressed length could leak a secret (BREACH): requests
from another site, and answers with a secret that is shown once, are not compressed.
"""

import gzip
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from remit.language.sentences import DEFAULT_LANGUAGE, TRANSLATED
from remit.server import problem
from remit.server.page_language import catalogue, translate_script
from remit.server.problem import Problem

LEAST: Final = 2_000  # bytes; less fits into two packets anyway
_LEVEL: Final = 5  # a few milliseconds for a long list, and a tenth of the bytes
_OURS: Final = ("same-origin", "none")  # from our own page, or typed by the owner


def compress(request: Request, response: Response) -> Response:
    """Return the answer, compressed if the browser accepts it and it is safe."""
    raw = bytes(response.body)
    asked_by = request.headers.get("sec-fetch-site", "")
    if len(raw) < LEAST or asked_by not in _OURS or not takes_gzip(request):
        return response
    response.body = gzip.compress(raw, _LEVEL, mtime=0)
    response.headers["Content-Length"] = str(len(response.body))
    response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding, Sec-Fetch-Site"
    return response


def takes_gzip(request: Request) -> bool:
    """Whether the client accepts gzip."""
    encodings = request.headers.get("accept-encoding", "").lower().replace(" ", "")
    ways = dict(part.partition(";q=")[::2] for part in encodings.split(","))
    # Without a weight it is accepted; with zero it is not.
    return ways.get("gzip", "0") not in ("0", "0.0", "0.00", "0.000")


FOLDER: Final = Path(__file__).parent / "static"
DIGITS: Final = 12
_IMPORT: Final = re.compile(r'\b((?:from|import) )"\./([\w-]+\.js)"')
_FOR_GOOD: Final = "public, max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"
_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".json": "application/json",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".md": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
_PACKED_ALREADY: Final = frozenset({".png", ".woff2", ".ico"})


class StaticFile(Struct, frozen=True):
    raw: bytes
    packed: bytes | None  # gzipped, if that is worth it
    kind: str
    digest: str


@cache
def files() -> Mapping[str, StaticFile]:
    """Return every file by its name under `/static/`; no other can be requested."""
    found = (path for path in sorted(FOLDER.rglob("*")) if path.is_file() and path.suffix in _KINDS)
    paths = {path.relative_to(FOLDER).as_posix(): path for path in found}
    known = {name: _read(path) for name, path in paths.items()}
    scripts = {name: path for name, path in paths.items() if path.suffix == ".js"}
    return known | {
        f"{language}/{name}": _read(path, language)
        for language in TRANSLATED
        for name, path in scripts.items()
    }


def _versioned_script(path: Path, language: str) -> bytes:
    """Return a script in a language, whose imports name the version of what they import.

    So a change anywhere changes the address of every module that depends on it.
    """
    text = translate_script(path.read_text("utf-8"), catalogue(language))
    return _IMPORT.sub(lambda found: _address(path, found, language), text).encode()


def _address(path: Path, found: re.Match[str], language: str) -> str:
    return f'{found[1]}"./{found[2]}?v={_read(path.parent / found[2], language).digest}"'


async def fetch(request: Request) -> Response:
    file = files().get(request.path_params["path"])
    if file is None:
        return problem.response(Problem("not-found", "There is no such file."))
    packs = file.packed is not None and takes_gzip(request)
    named = request.query_params.get("v") == file.digest
    headers = {
        "Cache-Control": _FOR_GOOD if named else _ASK_AGAIN,
        "ETag": f'"{file.digest}{"-gz" if packs else ""}"',
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if packs:
        headers["Content-Encoding"] = "gzip"
    body = file.packed if packs and file.packed is not None else file.raw
    return Response(body, headers=headers | {"Content-Type": file.kind})


ROUTE: Final = Route("/static/{path:path}", fetch, methods=["GET"])


@cache
def _read(path: Path, language: str = DEFAULT_LANGUAGE) -> StaticFile:
    raw = _versioned_script(path, language) if path.suffix == ".js" else path.read_bytes()
    packed = None if path.suffix in _PACKED_ALREADY else gzip.compress(raw, 9, mtime=0)
    digest = hashlib.sha256(raw).hexdigest()[:DIGITS]
    worth = packed if packed is not None and len(packed) < len(raw) else None
    return StaticFile(raw, worth, _KINDS[path.suffix], digest)
