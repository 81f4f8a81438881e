"""What the error codes of WhatsApp mean: retry later, give up, or ask the owner."""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final

from msgspec import Struct

from remit.model.delivery import Locked, Refused, SendRetry


class _Comes(Enum):
    LATER = auto()
    NEVER = auto()
    OWNER = auto()


class _Meaning(Struct, frozen=True):
    comes: _Comes
    says: str
    after: float | None = None


def _later(says: str, after: float) -> _Meaning:
    return _Meaning(_Comes.LATER, says, after)


def _never(says: str) -> _Meaning:
    return _Meaning(_Comes.NEVER, says)


def _owner(says: str) -> _Meaning:
    return _Meaning(_Comes.OWNER, says)


_TOKEN: Final = _owner("WhatsApp does not take the access token. Renew it")
_RIGHT: Final = _owner(
    "The access token may not send messages. Give it whatsapp_business_messaging"
)
_SHUT: Final = _owner("WhatsApp has locked the business account. Look into the business settings")
_WRONG: Final = _never("WhatsApp did not take the request as it was made")
_TEMPLATE: Final = _never(
    "WhatsApp cannot send with this template. Check its name, language, state"
)

CODES: Final[Mapping[int, _Meaning]] = {
    # Definitely not sent; the message itself is fine.
    2: _later("WhatsApp is out of order for the moment", 60),
    4: _later("The app has made too many calls", 300),
    80007: _later("The business account has made too many calls", 300),
    130429: _later("Too many messages in a short time from this number", 10),
    131000: _later("WhatsApp failed without a reason", 60),
    131016: _later("WhatsApp is out of order for the moment", 60),
    131048: _later("WhatsApp holds this number back, for people marked its messages as spam", 3600),
    131056: _later("Too many messages in a short time to this person", 12),
    131057: _later("The business account is being worked on", 600),
    133004: _later("WhatsApp is out of order for the moment", 60),
    # The owner must act; then the same message may be sent.
    0: _TOKEN,
    190: _TOKEN,
    3: _RIGHT,
    10: _RIGHT,
    131005: _RIGHT,
    368: _SHUT,
    131031: _SHUT,
    131042: _owner("WhatsApp has a problem with the payment. Check the payment method"),
    131045: _owner("The sending number is not registered. Register it"),
    133010: _owner("The sending number is not registered. Register it"),
    # Never, in this form.
    100: _WRONG,
    131008: _WRONG,
    131009: _WRONG,
    131021: _never("The sender and the recipient are the same number. Take another recipient"),
    131026: _never("WhatsApp cannot reach this person. Check the number, and that it has WhatsApp"),
    131030: _never("The number is not on the list of the test account. Add it there"),
    131047: _never(
        "More than 24 hours passed since this person wrote last. Only a template may go"
    ),
    131049: _never(
        "WhatsApp held the message back to spare this person. Do not send it again soon"
    ),
    131050: _never("This person wants no such messages"),
    131051: _never("WhatsApp does not know this kind of message"),
    132000: _TEMPLATE,
    132001: _TEMPLATE,
    132005: _TEMPLATE,
    132007: _TEMPLATE,
    132012: _TEMPLATE,
    132015: _TEMPLATE,
    132016: _TEMPLATE,
}
_RIGHTS: Final = range(200, 300)  # each is a missing permission


def is_known(code: int) -> bool:
    """Whether a code alone says that the message was not sent."""
    return code in CODES or code in _RIGHTS


def means(code: int, text: str, after: float | None = None) -> SendRetry | Refused | Locked:
    """Return what a code means, with the provider's words.

    Every answer here means that the message was definitely not sent.
    """
    found = _RIGHT if code in _RIGHTS else CODES.get(code, _never("WhatsApp refused the message"))
    why = f"{found.says} (code {code}{f': {text}' if text else ''})."
    match found.comes:
        case _Comes.LATER:
            return SendRetry(why, found.after if after is None else after)
        case _Comes.OWNER:
            return Locked(why)
        case _Comes.NEVER:
            return Refused(why)
