"""Mails as programs write them: by client, language, place of the answer, and parts."""

import html
import random
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

OWN: Final = "Ask Mirko whether the lamps arrived"
SECOND: Final = "And water the yellow flowers"
STRANGER_WORDS: Final = ("zandrix", "quolmer", "brupvik", "yestrall", "Wexley", "Zoltrune")
STRANGER: Final = "Zandrix quolmer all brupvik"
OLDER: Final = "Yestrall before that"
NAME: Final = "Wexley Zoltrune"
ADDRESS: Final = "wexley@evil.example"
POSITIONS: Final = ("above", "below", "inline", "forwarded", "nested", "signed")
PARTS: Final = ("plain", "html", "both")
_SIGNATURE: Final = "Kind regards"


@dataclass(frozen=True, slots=True)
class Tongue:
    """What a language's programs write: labels, an introduction, a divider, a date."""

    name: str
    head: tuple[str, ...]
    wrote: str
    divider: str
    date: str

    def introduction(self) -> str:
        return self.wrote.format(name=NAME, address=ADDRESS, date=self.date)

    def values(self, *, address: bool) -> list[tuple[str, str]]:
        who = f"{NAME} <{ADDRESS}>" if address else NAME
        said = (who, self.date, "Hanan <hanan@example.test>" if address else "Hanan", "Lamps")
        return list(zip(self.head, said, strict=True))


def _read(name: str) -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def tongues() -> list[Tongue]:
    """Return every language of the data file, and some invented ones."""
    known = [
        Tongue(name, tuple(each["head"]), each["wrote"], each["divider"], each["date"])
        for name, each in _read("mail_languages.toml").items()
    ]
    return [*known, *_made_up()]


def _made_up() -> Iterator[Tongue]:
    """Yield random words, in scripts without a language in the data file."""
    scripts = {"armenian": (0x561, 0x586), "georgian": (0x10D0, 0x10F0), "tamil": (0xB95, 0xBB9)}
    scripts |= {"ethiopic": (0x1200, 0x1246), "cherokee": (0x13A0, 0x13F4), "latin": (0x61, 0x7A)}
    for name, (first, last) in scripts.items():
        chance = random.Random(name)  # noqa: S311 - the same words at every run

        def word(chance: random.Random = chance, first: int = first, last: int = last) -> str:
            return "".join(chr(chance.randint(first, last)) for _ in range(chance.randint(2, 9)))

        head = (word(), f"{word()} {word()}", word(), word())
        wrote = f"{word()} {{date}} {word()} {{name}} <{{address}}> {word()}:"
        yield Tongue(name, head, wrote, f"{word()} {word()}", f"2 {word()} 2026 9:00")


@dataclass(frozen=True, slots=True)
class Client:
    """How a program makes a reply and a forwarded mail, as plain text and as HTML.

    `places` are the places of a reply that it can make and that can be recognised afterwards.
    """

    name: str
    plain: Callable[[Tongue, str], str]
    html: Callable[[Tongue, str], str]
    places: tuple[str, ...] = POSITIONS


@dataclass(frozen=True, slots=True)
class Case:
    client: str
    tongue: str
    place: str
    parts: str
    raw: bytes
    own: tuple[str, ...]


def cases() -> Iterator[Case]:
    """Yield every client in every language with every place; the parts alternate."""
    for n, tongue in enumerate(tongues()):
        for client in CLIENTS:
            for place in client.places:
                own = (OWN, SECOND) if place == "inline" else (OWN,)
                parts = PARTS[(n + POSITIONS.index(place)) % len(PARTS)]
                raw = _mail(client, tongue, place, parts)
                yield Case(client.name, tongue.name, place, parts, raw, own)


def _mail(client: Client, tongue: Tongue, place: str, parts: str) -> bytes:
    made = EmailMessage()
    made["From"] = "Hanan <hanan@example.test>"
    made["Subject"] = "Fwd: Lamps" if place == "forwarded" else "Re: Lamps"
    made["Message-ID"] = "<answer@example.test>"
    if place != "forwarded":
        made["In-Reply-To"] = "<lamps@evil.example>"
    if parts in ("plain", "both"):
        made.set_content(client.plain(tongue, place))
    if parts == "html":
        made.set_content(client.html(tongue, place), subtype="html")
    elif parts == "both":
        made.add_alternative(client.html(tongue, place), subtype="html")
    return made.as_bytes()


# Plain text ---------------------------------------------------------------------------------------


def _prefixed(tongue: Tongue, place: str, introduction: str = "") -> str:
    """Return an introduction, and the older mail with a mark before each line."""
    said = introduction or tongue.introduction()
    if place == "forwarded":
        return _dashed(tongue, place)
    older = f"> {said}\n>> {OLDER}\n" if place == "nested" else ""
    quote = f"{said}\n\n> {STRANGER}\n>\n{older}> yestrall"
    return _placed(quote, place, f"{said}\n\n> {STRANGER}", "> yestrall")


def _placed(quote: str, place: str, first: str, second: str) -> str:
    return {
        "below": f"{quote}\n\n{OWN}.\n",
        "inline": f"{first}\n\n{OWN}.\n\n{second}\n\n{SECOND}.\n",
        "signed": f"{OWN}.\n\n{_SIGNATURE},\nHanan\n\n{quote}\n",
    }.get(place, f"{OWN}.\n\n{quote}\n")


def _block(tongue: Tongue, place: str, *, address: bool = True, rule: str = "") -> str:
    """Return lines of `label: value`, as Outlook writes them, and the older mail without marks."""
    head = "\n".join(f"{name}: {value}" for name, value in tongue.values(address=address))
    older = f"\n\n{rule}{head}\n\n{OLDER}" if place == "nested" else ""
    signed = f"\n\n{_SIGNATURE},\nHanan" if place == "signed" else ""
    return f"{OWN}.{signed}\n\n{rule}{head}\n\n{STRANGER}\n\nyestrall{older}\n"


def _dashed(tongue: Tongue, place: str) -> str:
    return _block(tongue, place, rule=f"---------- {tongue.divider} ----------\n")


def _underlined(tongue: Tongue, place: str) -> str:
    return _block(tongue, place, rule="_" * 32 + "\n")


def _unmarked(tongue: Tongue, place: str) -> str:
    """Return an introduction, and the older mail without marks, as Yahoo writes it."""
    if place == "forwarded":
        return _dashed(tongue, place)
    older = f"\n\n{tongue.introduction()}\n{OLDER}" if place == "nested" else ""
    signed = f"\n\n{_SIGNATURE},\nHanan" if place == "signed" else ""
    return f"{OWN}.{signed}\n\n{tongue.introduction()}\n\n{STRANGER}\nyestrall{older}\n"


def _wrapped(tongue: Tongue, place: str) -> str:
    """Return the same as with marks, the introduction wrapped at 60 characters."""
    words, lines = tongue.introduction().split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 60:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return _prefixed(tongue, place, "\n".join(lines))


def _starred(tongue: Tongue, place: str) -> str:
    block = _block(tongue, place)
    if place == "nested":
        return block
    parted = (line.partition(":") for line in block.split("\n"))
    return "\n".join(
        f"*{name}:*{value}" if name in tongue.head else f"{name}{colon}{value}"
        for name, colon, value in parted
    )


# HTML ---------------------------------------------------------------------------------------------


def _in_quote(
    tongue: Tongue, place: str, before: str, opens: str, closes: str, behind: str = ""
) -> str:
    """Return some kind of blockquote.

    `before` introduces it; `behind` closes what `before` opened.
    """
    if place == "forwarded":
        head = "<br>".join(_html_head(tongue))
        dash = f"---------- {html.escape(tongue.divider)} ---------<br>"
        lead = before.replace("{said}", dash + head)
        body = f"{opens}<div>{STRANGER}</div>yestrall{closes}{behind}"
        return f"<p>{OWN}.</p>{lead}<br><br>{body}"
    said = html.escape(tongue.introduction())
    older = f"<div>{said}</div>{opens}{OLDER}{closes}" if place == "nested" else ""
    quote = f"{opens}<div>{STRANGER}</div>{older}<p>yestrall</p>{closes}"
    lead = before.replace("{said}", said)
    made = {
        "below": f"{lead}{quote}<div><br></div><div>{OWN}.</div>{behind}",
        "inline": (
            f"{lead}{opens}<p>{STRANGER}</p>{closes}<div>{OWN}.</div>"
            f"{opens}yestrall{closes}<div>{SECOND}.</div>{behind}"
        ),
        "signed": f"<div>{OWN}.</div><p>{_SIGNATURE},<br>Hanan</p>{lead}{quote}{behind}",
    }
    body = made.get(place, f"<div>{OWN}.</div><br>{lead}{quote}{behind}")
    return f"<html><body>{body}</body></html>"


def _html_head(tongue: Tongue, *, address: bool = True) -> list[str]:
    said = tongue.values(address=address)
    return [f"<b>{html.escape(name)}:</b> {html.escape(value)}" for name, value in said]


def _outlook(tongue: Tongue, place: str, opens: str, closes: str, *, address: bool = True) -> str:
    head = "<br>".join(_html_head(tongue, address=address))
    signed = f"<p>{_SIGNATURE},</p><p>Hanan</p>" if place == "signed" else ""
    older = f"{opens}{head}{closes}<p>{OLDER}</p>" if place == "nested" else ""
    return (
        f"<html><head><title>x</title></head><body><div class=WordSection1>"
        f"<p class=MsoNormal>{OWN}.<o:p></o:p></p>{signed}{opens}{head}{closes}"
        f"<p class=MsoNormal>{STRANGER}</p>"
        f"<p>yestrall</p>{older}</div></body></html>"
    )


def _gmail(tongue: Tongue, place: str) -> str:
    opens = '<blockquote class="gmail_quote" style="margin:0 0 0 .8ex;border-left:1px solid #ccc">'
    lead = '<div class="gmail_quote gmail_quote_container"><div class="gmail_attr">{said}<br></div>'
    if place == "forwarded":
        opens, closes = "<u></u><div>", "</div>"
        return _in_quote(tongue, place, lead, opens, closes, "</div>")
    return _in_quote(tongue, place, lead, opens, "</blockquote>", "</div>")


def _yahoo(tongue: Tongue, place: str) -> str:
    head = html.escape(tongue.introduction())
    if place == "forwarded":
        head = "<br>".join(["----- x y -----", *_html_head(tongue)])
    older = f"<div>{head}</div><div>{OLDER}</div>" if place == "nested" else ""
    signed = f"<div>{_SIGNATURE},</div><div>Hanan</div>" if place == "signed" else ""
    return (
        f'<div>{OWN}.</div>{signed}<div id="ydp1yahoo_quoted_9" class="ydp1yahoo_quoted">'
        f"<div>{head}</div><div><br></div><div>{STRANGER}</div>{older}<div>yestrall</div></div>"
    )


def _gmx(tongue: Tongue, place: str) -> str:
    head = "<br>".join(_html_head(tongue))
    signed = f"<div>{_SIGNATURE},<br>Hanan</div>" if place == "signed" else ""
    older = f'<div name="quote"><div>{head}</div>{OLDER}</div>' if place == "nested" else ""
    return (
        f"<div>{OWN}.</div>{signed}<div>&nbsp;</div>"
        '<div name="quote" style="margin:10px 5px;border-left: 2px solid #C3D9E5">'
        f'<div style="margin:0">{head}</div><div name="quoted-content">{STRANGER}{older}'
        "<p>yestrall</p></div></div>"
    )


def _table(tongue: Tongue, place: str) -> str:
    rows = _outlook(tongue, place, "<table><tr><td>", "</td></tr></table>")
    return rows.replace("<br><b>", "</td></tr><tr><td><b>").replace("</b> ", "</b></td><td>")


Shape: TypeAlias = Callable[[Tongue, str], str]
_PLAIN: Final[Mapping[str, Shape]] = {
    "prefixed": _prefixed,
    "wrapped": _wrapped,
    "block": _block,
    "names": lambda tongue, place: _block(tongue, place, address=False),
    "underlined": _underlined,
    "starred": _starred,
    "dashed": _dashed,
    "unmarked": _unmarked,
    "between_dashes": lambda tongue, place: _prefixed(
        tongue, place, f"---- {tongue.introduction()} ----"
    ),
}
_HTML: Final[Mapping[str, Shape]] = {
    "gmail": _gmail,
    "yahoo": _yahoo,
    "gmx": _gmx,
    "table": _table,
    "pre": lambda tongue, place: f"<pre>{html.escape(_prefixed(tongue, place))}</pre>",
}
_PLACES: Final = {
    "anywhere": POSITIONS,
    "above": ("above", "forwarded", "nested", "signed"),
    "replies": ("above", "below", "inline", "nested", "signed"),
}


def _client(name: str, row: Mapping[str, object]) -> Client:
    places = _PLACES[str(row.get("places", "anywhere"))]
    return Client(name, _PLAIN[str(row["plain"])], _html_shape(row), places)


def _html_shape(row: Mapping[str, object]) -> Shape:
    match row:
        case {"quote": [str(before), str(opens), *rest]}:
            closes, behind = map(str, (*rest, *("</blockquote>", "")[len(rest) :]))
            return partial(_in_quote, before=before, opens=opens, closes=closes, behind=behind)
        case {"head": [str(opens), str(closes)]}:
            address = row.get("address") is not False
            return partial(_outlook, opens=opens, closes=closes, address=address)
        case _:
            return _HTML[str(row["html"])]


CLIENTS: Final = tuple(_client(*each) for each in _read("mail_clients.toml").items())
