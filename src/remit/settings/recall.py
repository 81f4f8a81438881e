"""Validates `[recall]`: its form, and that an embedder is complete."""

import re
from typing import Final

from remit.errors import BadInput
from remit.settings.parts import RecallSettings

_LOCAL: Final = re.compile(r"http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?(/[!-~]*)?")
_SAFE: Final = re.compile(r"https://[\w.-]+(:[0-9]+)?(/[!-~]*)?")
WORDS: Final = ("embedded", "qdrant", "off")


def check_store(text: str, where: str) -> None:
    if text not in WORDS and not _is_address(text):
        sentence = (
            f"store in {where} is {text!r:.80}; it may be embedded, qdrant, off, or the address of"
            " a Qdrant server: https://…, or http:// on this machine."
        )
        raise BadInput(sentence, field="store")


def check_embedder(text: str, where: str) -> None:
    if not _is_address(text):
        sentence = (
            f"embedder in {where} is {text!r:.80}; it must be an address such as"
            " https://api.openai.com/v1, or http:// on this machine."
        )
        raise BadInput(sentence, field="embedder")


def check(recall: RecallSettings) -> None:
    """Refuse an embedder without a model, and a model without an embedder."""
    if bool(recall.embedder) != bool(recall.model):
        lacks, has = ("model", "embedder") if recall.embedder else ("embedder", "model")
        sentence = f"[recall] names {has}, but not {lacks}; say both, or neither."
        raise BadInput(sentence, field=lacks)


def _is_address(text: str) -> bool:
    return bool(_LOCAL.fullmatch(text) or _SAFE.fullmatch(text))
