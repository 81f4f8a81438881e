"""Phone numbers that have two written forms for one person.

Mexico dropped a 1 after the country code, Brazil added a 9 before the subscriber's number; WhatsApp
still uses the old forms.
"""

import re
from typing import Final

_MEXICO: Final = re.compile(r"52(1?)(\d{10})")
_BRAZIL: Final = re.compile(r"55([1-9]\d)(9?)([6-9]\d{7})")


def number_forms(digits: str) -> tuple[str, ...]:
    """Return the ways to write a number (digits with country code), the given one first."""
    mexico, brazil = _MEXICO.fullmatch(digits), _BRAZIL.fullmatch(digits)
    if mexico:
        return (digits, f"52{mexico[2]}" if mexico[1] else f"521{mexico[2]}")
    if brazil:
        return (digits, f"55{brazil[1]}{'' if brazil[2] else '9'}{brazil[3]}")
    return (digits,)


def is_same_address(known: str, address: str) -> bool:
    """Whether two addresses are the same: mail in any case, a number in any form."""
    if not known or not address or ("@" in known) != ("@" in address):
        return False
    if "@" in known:
        return known.casefold() == address.casefold()
    ours, theirs = ("".join(filter(str.isdigit, each)) for each in (known, address))
    return bool(ours) and ours in number_forms(theirs)
