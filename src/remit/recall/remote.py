"""An embedder at any address that speaks OpenAI's protocol: another model, or another language.

What it is given leaves this machine, unless the address is on it. Secrets are taken out before.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

import httpx2

from remit.errors import Permanent, Transient
from remit.system.tls import trusted_authorities

TIMEOUT: Final = 20.0  # seconds for one answer
MOST_TEXTS: Final = 64  # in one request


class RemoteEmbedder:
    def __init__(self, url: str, model: str, key: str | None) -> None:
        self._url = url.rstrip("/") + "/embeddings"
        self._model = model
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        tls = trusted_authorities(trust_env=False)
        self._line = httpx2.AsyncClient(
            headers=headers, timeout=TIMEOUT, trust_env=False, verify=tls
        )

    @property
    def name(self) -> str:
        return f"{self._model} at {self._url}"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        found: list[list[float]] = []
        for start in range(0, len(texts), MOST_TEXTS):
            found += await self._some(list(texts[start : start + MOST_TEXTS]))
        return found

    async def close(self) -> None:
        await self._line.aclose()

    async def _some(self, texts: list[str]) -> list[list[float]]:
        try:
            answer = await self._line.post(self._url, json={"model": self._model, "input": texts})
        except httpx2.HTTPError as error:
            raise Transient(f"The embedder at {self._url} does not answer: {error}.") from error
        if answer.status_code != HTTPStatus.OK:
            said = f"The embedder at {self._url} answered with {answer.status_code}."
            temporary = answer.status_code in _TEMPORARY or answer.status_code >= _THEIRS
            raise Transient(said) if temporary else Permanent(said)
        return _read(answer, len(texts))


def _read(answer: httpx2.Response, count: int) -> list[list[float]]:
    """One vector for each text, in the order of the texts, all of one length."""
    try:
        rows = sorted(answer.json()["data"], key=lambda row: int(row["index"]))
        found = [[float(number) for number in row["embedding"]] for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise Permanent("The embedder's answer is none of OpenAI's protocol.") from error
    if len(found) != count or len({len(each) for each in found}) != 1 or not found[0]:
        raise Permanent("The embedder answered with other vectors than it was asked for.")
    return found


_TEMPORARY: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
_THEIRS: Final = 500
