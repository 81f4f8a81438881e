"""What the error codes of WhatsApp mean: retry later, give up, or ask the owner."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec.structs import replace

from remit.model.delivery import Locked, Refused, SendRetry

NotSent: TypeAlias = SendRetry | Refused | Locked

_TOKEN: Final = Locked("WhatsApp does not take the access token. Renew it")
_RIGHT: Final = Locked(
    "The access token may not send messages. Give it whatsapp_business_messaging"
)
_SHUT: Final = Locked("WhatsApp has locked the business account. Look into the business settings")
_WRONG: Final = Refused("WhatsApp did not take the request as it was made")
_TEMPLATE: Final = Refused(
    "WhatsApp cannot send with this template. Check its name, language, state"
)

CODES: Final[Mapping[int, NotSent]] = {
    # Definitely not sent; the message itself is fine.
    2: SendRetry("WhatsApp is out of order for the moment", 60),
    4: SendRetry("The app has made too many calls", 300),
    80007: SendRetry("The business account has made too many calls", 300),
    130429: SendRetry("Too many messages in a short time from this number", 10),
    131000: SendRetry("WhatsApp failed without a reason", 60),
    131016: SendRetry("WhatsApp is out of order for the moment", 60),
    131048: SendRetry(
        "WhatsApp holds this number back, for people marked its messages as spam", 3600
    ),
    131056: SendRetry("Too many messages in a short time to this person", 12),
    131057: SendRetry("The business account is being worked on", 600),
    133004: SendRetry("WhatsApp is out of order for the moment", 60),
    # The owner must act; then the same message may be sent.
    0: _TOKEN,
    190: _TOKEN,
    3: _RIGHT,
    10: _RIGHT,
    131005: _RIGHT,
    368: _SHUT,
    131031: _SHUT,
    131042: Locked("WhatsApp has a problem with the payment. Check the payment method"),
    131045: Locked("The sending number is not registered. Register it"),
    133010: Locked("The sending number is not registered. Register it"),
    # Never, in this form.
    100: _WRONG,
    131008: _WRONG,
    131009: _WRONG,
    131021: Refused("The sender and the recipient are the same number. Take another recipient"),
    131026: Refused(
        "WhatsApp cannot reach this person. Check the number, and that it has WhatsApp"
    ),
    131030: Refused("The number is not on the list of the test account. Add it there"),
    131047: Refused(
        "More than 24 hours passed since this person wrote last. Only a template may go"
    ),
    131049: Refused(
        "WhatsApp held the message back to spare this person. Do not send it again soon"
    ),
    131050: Refused("This person wants no such messages"),
    131051: Refused("WhatsApp does not know this kind of message"),
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


def means(code: int, text: str, after: float | None = None) -> NotSent:
    """Return what a code means, with the provider's words and the pause that it asks for.

    Every answer here means that the message was definitely not sent.
    """
    found = _RIGHT if code in _RIGHTS else CODES.get(code, Refused("WhatsApp refused the message"))
    why = f"{found.why} (code {code}{f': {text}' if text else ''})."
    if isinstance(found, SendRetry) and after is not None:
        return replace(found, why=why, after=after)
    return replace(found, why=why)
