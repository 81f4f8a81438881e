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

LEAST: Final = 2_000  # bytes; less fits into two packets as it is
_LEVEL: Final = 1  # on a long list two milliseconds, and a tenth of the bytes
_OURS: Final = ("same-origin", "none")  # from a page of ours, or typed by the owner


def packed(request: Request, response: Response) -> Response:
    """The same answer, packed if the browser takes it so and it is safe."""
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
    """Whether whoever asks can unpack it."""
    told = request.headers.get("accept-encoding", "").lower().replace(" ", "")
    ways = dict(part.partition(";q=")[::2] for part in told.split(","))
    # Without a weight it is wanted; with one of nothing it is not.
    return ways.get("gzip", "0") not in ("0", "0.0", "0.00", "0.000")
