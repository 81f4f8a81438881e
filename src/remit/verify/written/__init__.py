"""Checks on written text, by their names in contracts."""

from collections.abc import Mapping
from typing import Final

from remit.ports import Check
from remit.verify.written.answers import judge_answers
from remit.verify.written.check import WrittenCheck
from remit.verify.written.form import judge_form, judge_length
from remit.verify.written.fresh import judge_freshness, judge_sources
from remit.verify.written.grounded import judge_grounded
from remit.verify.written.language import judge_language
from remit.verify.written.phrases import judge_mentions, judge_padding, judge_placeholders
from remit.verify.written.request import judge_request

CHECKS: Final[Mapping[str, Check]] = {
    name: WrittenCheck(name, judge)
    for name, judge in {
        "answers": judge_answers,
        "sources": judge_sources,
        "grounded": judge_grounded,
        "fresh": judge_freshness,
        "language": judge_language,
        "length": judge_length,
        "form": judge_form,
        "mentions": judge_mentions,
        "request": judge_request,
        "no-placeholder": judge_placeholders,
        "no-padding": judge_padding,
    }.items()
}
