"""Gzip for pages, except where their length could leak a secret.

A page mixes the owner's data with text from others. Somebody who sees lengths and can trigger
requests with chosen words could guess the rest (BREACH). Only a browser can fetch with the owner's
cookie, and it says for which site: so requests from another site, and answers with a secret that is
shown once, are not compressed.
"""

import gzip
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

LEAST: Final = 2_000  # bytes; less fits into two packets anyway
_LEVEL: Final = 1  # two milliseconds for a long list, and a tenth of the bytes
_OURS: Final = ("same-origin", "none")  # from our own page, or typed by the owner


def packed(request: Request, response: Response) -> Response:
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
    told = request.headers.get("accept-encoding", "").lower().replace(" ", "")
    ways = dict(part.partition(";q=")[::2] for part in told.split(","))
    # Without a weight it is accepted; with zero it is not.
    return ways.get("gzip", "0") not in ("0", "0.0", "0.00", "0.000")
