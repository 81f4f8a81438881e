"""Mails as programs write them: by client, language, place of the answer, and parts."""

import html
import random
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Final

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
    head: tuple[str, str, str, str]
    wrote: str
    divider: str
    date: str

    def introduction(self) -> str:
        return self.wrote.format(name=NAME, address=ADDRESS, date=self.date)

    def values(self, *, address: bool) -> list[tuple[str, str]]:
        who = f"{NAME} <{ADDRESS}>" if address else NAME
        said = (who, self.date, "Hanan <hanan@example.test>" if address else "Hanan", "Lamps")
        return list(zip(self.head, said, strict=True))


def tongues() -> list[Tongue]:
    """Return every language of the data file, and some invented ones."""
    path = Path(__file__).with_name("mail_languages.toml")
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    known = [
        Tongue(name, tuple(each["head"]), each["wrote"], each["divider"], each["date"])
        for name, each in read.items()
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
    return (
        _block(tongue, place).replace("\nyestrall", "\nyestrall")
        if place == "nested"
        else (
            "\n".join(
                f"*{line.partition(':')[0]}:*{line.partition(':')[2]}"
                if line.partition(":")[0] in tongue.head
                else line
                for line in _block(tongue, place).split("\n")
            )
        )
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


def _quoting(
    before: str, opens: str, closes: str = "</blockquote>", behind: str = ""
) -> Callable[[Tongue, str], str]:
    return lambda tongue, place: _in_quote(tongue, place, before, opens, closes, behind)


def _heading(opens: str, closes: str, *, address: bool = True) -> Callable[[Tongue, str], str]:
    return lambda tongue, place: _outlook(tongue, place, opens, closes, address=address)


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


_ABOVE: Final = ("above", "forwarded", "nested", "signed")
_REPLIES: Final = ("above", "below", "inline", "nested", "signed")
CLIENTS: Final = (
    Client("gmail", _wrapped, _gmail),
    Client(
        "apple",
        _prefixed,
        _quoting(
            "<div><br>",
            '<blockquote type="cite">',
            behind="</div>",
        ),
    ),
    Client(
        "thunderbird",
        _prefixed,
        _quoting(
            '<div class="moz-cite-prefix">{said}<br></div>', '<blockquote type="cite" cite="mid:x">'
        ),
    ),
    Client(
        "outlook desktop",
        _block,
        _heading(
            "<div style='border:none;border-top:solid #E1E1E1 1.0pt'><p class=MsoNormal>",
            "</p></div>",
        ),
        _ABOVE,
    ),
    Client(
        "outlook desktop, names alone",
        lambda tongue, place: _block(tongue, place, address=False),
        _heading(
            "<div style='border:none;border-top:solid #E1E1E1 1.0pt'><p class=MsoNormal>",
            "</p></div>",
            address=False,
        ),
        _ABOVE,
    ),
    Client(
        "outlook web",
        _underlined,
        _heading(
            '<div id="appendonsend"></div><hr><div id="divRplyFwdMsg" dir="ltr"><font>',
            "</font><div>&nbsp;</div></div>",
        ),
        _ABOVE,
    ),
    Client(
        "outlook mobile",
        _underlined,
        _heading(
            '<div id="mail-editor-reference-message-container"><div style="border-top: 1px solid">',
            "</div></div>",
        ),
        _ABOVE,
    ),
    Client(
        "outlook, passed through another",
        _starred,
        _heading('<hr><div id="x_divRplyFwdMsg">', "</div>"),
        _ABOVE,
    ),
    Client(
        "a table for a head",
        _dashed,
        lambda tongue, place: (
            _outlook(tongue, place, "<table><tr><td>", "</td></tr></table>")
            .replace("<br><b>", "</td></tr><tr><td><b>")
            .replace("</b> ", "</b></td><td>")
        ),
        _ABOVE,
    ),
    Client("yahoo", _unmarked, _yahoo, _ABOVE),
    Client(
        "proton",
        _prefixed,
        _quoting(
            '<div class="protonmail_quote">{said}<br>',
            '<blockquote class="protonmail_quote" type="cite">',
            behind="</div>",
        ),
    ),
    Client(
        "k-9",
        _wrapped,
        _quoting(
            '<div class="gmail_quote">{said}<br>',
            '<blockquote class="gmail_quote">',
            behind="</div>",
        ),
    ),
    Client("fairemail", _prefixed, _quoting("<p>{said}</p>", '<blockquote dir="auto">')),
    Client("gmx", _block, _gmx, _ABOVE),
    Client(
        "zoho",
        lambda tongue, place: _prefixed(tongue, place, f"---- {tongue.introduction()} ----"),
        _quoting(
            '<div class="zmail_extra"><div>---- {said} ----</div></div>', '<blockquote id="x">'
        ),
    ),
    Client("tutanota", _prefixed, _quoting("{said}<br>", '<blockquote class="tutanota_quote">')),
    Client(
        "upper case",
        _prefixed,
        _quoting("<P>{said}</P>", "<BLOCKQUOTE STYLE='x'>", "</BLOCKQUOTE>"),
    ),
    Client(
        "in a table",
        _prefixed,
        _quoting(
            "<table><tr><td>{said}</td></tr><tr><td>", "<blockquote>", behind="</td></tr></table>"
        ),
    ),
    Client(
        "in a paragraph",
        _prefixed,
        _quoting("<p>{said}<p>", "<blockquote class=x><p>", "</p></blockquote>"),
    ),
    Client("unclosed", _prefixed, _quoting("<div>{said}</div>", "<div><blockquote>", ""), _ABOVE),
    Client(
        "unclosed table",
        _prefixed,
        _quoting("<div>{said}</div>", "<blockquote><table><tr><td>", "</blockquote>"),
        _REPLIES,
    ),
    Client(
        "a line at the left",
        _prefixed,
        _quoting(
            "<div>{said}</div>", '<div style="border-left: 3px solid blue; padding: 4px">', "</div>"
        ),
        _REPLIES,
    ),
    Client(
        "plain in html",
        _prefixed,
        lambda tongue, place: f"<pre>{html.escape(_prefixed(tongue, place))}</pre>",
    ),
    Client(
        "hidden",
        _prefixed,
        _quoting("<div>{said}</div>", '<div style="display:none">', "</div>"),
        _REPLIES,
    ),
)
