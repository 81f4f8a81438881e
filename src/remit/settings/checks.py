"""Refuses values that a section of the settings may not have, each with a sentence."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from remit.errors import BadInput
from remit.model.permit import QuietHours
from remit.settings.parts import RecallSettings, SearchProvider, ServerSettings, WebSettings

_HOUR: Final = r"([01][0-9]|2[0-3]):[0-5][0-9]"
_ADDRESS: Final = r"http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?(/[!-~]*)?|https://[\w.-]+(:[0-9]+)?(/[!-~]*)?"
_POSTGRES: Final = r"postgres(ql)?://\S*/[^/\s]+"
# The pattern of a text by its section and name, and what would be right.
_FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "calendar.all_day_at": (_HOUR, "one looks like 09:00."),
    "notices.digest_at": (_HOUR, "one looks like 08:00."),
    "notices.link": (
        r"https?://[\w.:\[\]-]+(/[!-~]*)?",
        "one looks like https://remit.example.org.",
    ),
    "notices.push": ("bare|title", "it may be bare or title."),
    "notices.push_contact": (
        r"(mailto:[^\s@]+@|https://)[\w.-]+\.[\w-]+[!-~]*",
        "one looks like mailto:you@example.org.",
    ),
    "recall.embedder": (
        _ADDRESS,
        "it must be an address such as https://api.openai.com/v1, or http:// on this machine.",
    ),
    "recall.store": (
        f"embedded|qdrant|off|{_ADDRESS}",
        (
            "it may be embedded, qdrant, off, or the address of a Qdrant server: https://…,"
            " or http:// on this machine."
        ),
    ),
    "reflect.at": (_HOUR, "one looks like 03:00."),
    "server.public_url": (
        r"https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?",
        "it must be https:// and a name alone, such as https://remit.example.org.",
    ),
}


def check_form(section: str, key: str, value: str, where: str) -> None:
    """Refuse a text that is not of the form that this setting needs."""
    name = f"{section}.{key}"
    if name in _CHECKS:
        _CHECKS[name](value, where)
    elif name in _FORMS and not re.fullmatch(_FORMS[name][0], value):
        raise BadInput(f"{key} in {where} is {value!r:.80}; {_FORMS[name][1]}", field=key)


def _check_quiet(text: str, where: str) -> None:
    try:
        QuietHours.parse(text)
    except BadInput as bad:
        raise BadInput(f"quiet in {where}: {bad}", field="quiet") from None


def _check_zone(name: str, where: str) -> None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - only who sets one waits

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        sentence = f"zone in {where} is {name!r:.60}; one looks like Europe/Berlin."
        raise BadInput(sentence, field="zone") from None


def check_store_url(text: str, where: str) -> None:
    """Refuse what is no address of a Postgres database; it may hold a password, so show none."""
    if not re.fullmatch(_POSTGRES, text):
        sentence = (
            f"url in {where} is not the address of a Postgres database; one looks like"
            " postgresql://remit@db.example.org/remit."
        )
        raise BadInput(sentence, field="url")


_CHECKS: Final[Mapping[str, Callable[[str, str], None]]] = {
    ".zone": _check_zone,
    "deliver.quiet": _check_quiet,
    "store.url": check_store_url,
}


def check_recall(recall: RecallSettings) -> None:
    """Refuse an embedder without a model, and a model without an embedder."""
    if bool(recall.embedder) != bool(recall.model):
        lacks, has = ("model", "embedder") if recall.embedder else ("embedder", "model")
        sentence = f"[recall] names {has}, but not {lacks}; say both, or neither."
        raise BadInput(sentence, field=lacks)


def check_server(server: ServerSettings) -> None:
    """Refuse half a certificate, and one without the name that it is for."""
    if bool(server.tls_cert) != bool(server.tls_key):
        raise BadInput("[server] needs tls_cert and tls_key, or neither.", field="tls_cert")
    if server.tls_cert and not server.public_url:
        sentence = "[server] has tls_cert, but no public_url that browsers would open."
        raise BadInput(sentence, field="public_url")


def check_web(web: WebSettings) -> None:
    """Refuse SearXNG without its address, and an address that is none."""
    if web.search is SearchProvider.SEARXNG and not web.url:
        sentence = (
            '[web] search is "searxng"; give its address as url, such as http://127.0.0.1:8888.'
        )
        raise BadInput(sentence, field="url")
    if web.url and not re.fullmatch(r"https?://[\w.-]+(:[0-9]+)?(/[!-~]*)?", web.url):
        raise BadInput(f"[web] url is {web.url!r:.80}; it must be an address.", field="url")
