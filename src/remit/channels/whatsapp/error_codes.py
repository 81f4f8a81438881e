"""Maps error codes of WhatsApp to answers: retry later, give up, or ask the owner."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct, convert
from msgspec.structs import replace

from remit.language.files import read_toml
from remit.model.delivery import Locked, Refused, SendRetry

NotSent: TypeAlias = SendRetry | Refused | Locked
_RIGHTS: Final = range(200, 300)  # each is a missing permission, as 10 is
_MISSING_RIGHT: Final = 10


class _Meaning(Struct, frozen=True):
    codes: tuple[int, ...]
    why: str
    after: float | None = None  # seconds


def _load() -> Mapping[int, NotSent]:
    found = convert(read_toml("error_codes", "remit.channels.whatsapp"), dict[str, list[_Meaning]])
    return {
        **{code: SendRetry(each.why, each.after) for each in found["retry"] for code in each.codes},
        **{code: Locked(each.why) for each in found["locked"] for code in each.codes},
        **{code: Refused(each.why) for each in found["refused"] for code in each.codes},
    }


CODES: Final = _load()


def is_known(code: int) -> bool:
    """Whether a code alone says that the message was not sent."""
    return code in CODES or code in _RIGHTS


def means(code: int, text: str, after: float | None = None) -> NotSent:
    """Return what a code means, with the provider's words and the pause that it asks for.

    Every answer here means that the message was definitely not sent.
    """
    listed = _MISSING_RIGHT if code in _RIGHTS else code
    found = CODES.get(listed, Refused("WhatsApp refused the message"))
    why = f"{found.why} (code {code}{f': {text}' if text else ''})."
    if isinstance(found, SendRetry) and after is not None:
        return replace(found, why=why, after=after)
    return replace(found, why=why)
