"""Checks on written text, by their names in contracts."""

from collections.abc import Mapping
from typing import Final

from remit.ports import Check
from remit.verify.written.answers import AnswersCheck
from remit.verify.written.form import FormCheck, LengthCheck
from remit.verify.written.fresh import FreshnessCheck, SourcesCheck
from remit.verify.written.grounded import GroundedCheck
from remit.verify.written.language import LanguageCheck
from remit.verify.written.phrases import MentionsCheck, PaddingCheck, PlaceholderCheck
from remit.verify.written.request import RequestCheck

CHECKS: Final[Mapping[str, Check]] = {
    "answers": AnswersCheck(),
    "sources": SourcesCheck(),
    "grounded": GroundedCheck(),
    "fresh": FreshnessCheck(),
    "language": LanguageCheck(),
    "length": LengthCheck(),
    "form": FormCheck(),
    "mentions": MentionsCheck(),
    "request": RequestCheck(),
    "no-placeholder": PlaceholderCheck(),
    "no-padding": PaddingCheck(),
}
