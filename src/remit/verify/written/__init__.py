"""Checks on what was written, by the names that contracts call them."""

from collections.abc import Mapping
from typing import Final

from remit.ports import Check
from remit.verify.written.answers import Answers
from remit.verify.written.form import Form
from remit.verify.written.fresh import Fresh
from remit.verify.written.grounded import Grounded
from remit.verify.written.language import Language
from remit.verify.written.length import Length
from remit.verify.written.mentions import Mentions
from remit.verify.written.padding import NoPadding
from remit.verify.written.request import KeepsToRequest
from remit.verify.written.sources import Sources
from remit.verify.written.unfilled import NoPlaceholder

CHECKS: Final[Mapping[str, Check]] = {
    "answers": Answers(),
    "sources": Sources(),
    "grounded": Grounded(),
    "fresh": Fresh(),
    "language": Language(),
    "length": Length(),
    "form": Form(),
    "mentions": Mentions(),
    "request": KeepsToRequest(),
    "no-placeholder": NoPlaceholder(),
    "no-padding": NoPadding(),
}
