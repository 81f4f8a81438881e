"""No word that another wrote counts as the writer's, whichever program repeats it, and how."""

import tomllib
from collections import Counter
from email.message import EmailMessage
from itertools import islice, product
from pathlib import Path

import pytest

from remit.channels.mail import receiving
from remit.channels.mail.quoted_text import SplitMail
from tests.channels.mail.mail_shapes_made import (
    ADDRESS,
    CLIENTS,
    NAME,
    OWN,
    STRANGER,
    STRANGER_WORDS,
    Case,
    cases,
    tongues,
)
from tests.channels.mail.mails import US, written
from tests.soak import SOAK
from tests.tables import for_each, table, text_table

STEP = 1 if SOAK else 29  # so that each client, language and place has its turn
MOST_DOUBTFUL = 0.05  # of all mails of the generator


def lacks(case: Case, found: SplitMail) -> bool:
    return not all(each in found.own_text for each in case.own)


def stolen(found: SplitMail) -> list[str]:
    own = found.own_text.casefold()
    return [word for word in STRANGER_WORDS if word.casefold() in own]


@pytest.mark.soak
def test_whoever_repeats_a_mail_in_whatever_language_the_words_stay_apart() -> None:
    wrong: list[str] = []
    doubtful: Counter[str] = Counter()
    every = 0
    for case in islice(cases(), 0, None, STEP):
        every += 1
        found = receiving.letter(case.raw, US).words
        name = f"{case.client}, {case.tongue}, {case.place}, {case.parts}"
        if stolen(found):
            wrong.append(f"{name}: {stolen(found)} in {found.own_text!r}")
        elif not found.certain:
            doubtful[f"{case.client}, {case.place}, {case.parts}"] += 1
        elif lacks(case, found):
            wrong.append(f"{name}: the writer's words are {found.own_text!r}")
    assert not wrong, f"{len(wrong)} of {every}:\n" + "\n".join(wrong[:30])
    assert sum(doubtful.values()) <= MOST_DOUBTFUL * every, doubtful.most_common(20)
    assert len(tongues()) >= 30
    assert len(CLIENTS) >= 20


def test_what_programs_write_in_answers_forwards_and_new_mails_stays_apart() -> None:
    """In doubt, no word counts; where nothing is in doubt, none of the writer's is lost."""
    path = Path(__file__).with_name("mail_programs.toml")
    programs = tomllib.loads(path.read_text(encoding="utf-8"))
    words = {"{own}": OWN, "{stranger}": STRANGER, "{name}": NAME, "{address}": ADDRESS}
    heads = ({"Subject": "Re: Lamps", **ANSWER}, {"Subject": "Fwd: Lamps"}, {"Subject": "Lamps"})
    wrong: list[str] = []
    doubtful = 0
    shapes = [(kind, *each) for kind, named in programs.items() for each in named.items()]
    for (kind, name, shape), head in product(shapes, heads):
        text = shape
        for sign, value in words.items():
            text = text.replace(sign, value)
        found = read(text, kind=kind, **head)
        doubtful += not found.certain
        if found.certain and (STRANGER in found.own_text or OWN not in found.own_text):
            wrong.append(f"{name}, {kind}, {head['Subject']}: {found.own_text!r}")
    assert wrong == []
    assert doubtful <= 135  # of 360: chats, heads without labels, new mails with a quote in them


def read(text: str, *, kind: str = "plain", **more: str) -> SplitMail:
    return receiving.letter(written(text, kind=kind, **more), US).words


ANSWER = {"In-Reply-To": "<lamps@evil.example>"}
DOUBTFUL = table(__file__, "doubtful")


@for_each(("text", "more"), DOUBTFUL)
def test_what_may_be_another_s_makes_the_whole_mail_doubtful(
    text: str, more: dict[str, str]
) -> None:
    assert not read(text, **more).certain


def both(plain: str, html: str) -> SplitMail:
    made = EmailMessage()
    made["From"] = "Hanan <hanan@example.test>"
    made["In-Reply-To"] = "<lamps@evil.example>"
    made.set_content(plain)
    made.add_alternative(html, subtype="html")
    return receiving.letter(made.as_bytes(), US).words


def test_parts_that_disagree_are_doubtful_and_html_settles_what_plain_text_leaves_open() -> None:
    assert not both("Do it.", "<p>Do it.</p><p>zandrix</p>").certain
    assert not both("Do it.\n> zandrix", "<p>Do it.</p><p>zandrix</p>").certain
    settled = both("Do it.\n\nzandrix", "<p>Do it.</p><blockquote>zandrix</blockquote>")
    assert (settled.own_text, settled.certain) == ("Do it.", True)


def test_a_mail_that_hangs_on_another_is_not_read() -> None:
    inner = EmailMessage()
    inner.set_content("zandrix")
    made = EmailMessage()
    made["From"] = "Hanan <hanan@example.test>"
    made.set_content("")
    made.add_attachment(inner)
    found = receiving.letter(made.as_bytes(), US)
    assert (found.text, found.words.own) == ("", ())
    assert [each["type"] for each in found.attachments] == ["message/rfc822"]


@for_each("text", table(__file__, "own_words"))
def test_what_the_owner_writes_himself_stays_the_owner_s(text: str) -> None:
    found = read(text, Subject="New work")
    assert (found.own_text, found.quoted, found.certain) == (text, "", True)


HEADS = ({"Subject": "Re: Lamps", **ANSWER}, {"Subject": "Lamps"})


@for_each(
    "html",
    [
        *(
            f'<div>{OWN}</div><div style="{each}">{STRANGER}</div>'
            for each in text_table(__file__, "hiding")
        ),
        *(
            f'<div>{OWN}</div>{sheet}<div class="x" id="x">{STRANGER}</div>'
            for sheet in text_table(__file__, "sheets")
        ),
        f"<div>{OWN}</div><font color=white>{STRANGER}</font>",
        f"<div>{OWN}</div><table bgcolor=#333><td><font color=#343434>{STRANGER}</font></table>",
    ],
)
def test_words_that_css_hides_are_never_the_writer_s(html: str) -> None:
    for head in HEADS:
        found = read(html, kind="html", **head)
        assert not found.certain or STRANGER not in found.own_text


@for_each("style", table(__file__, "showing"))
def test_words_that_can_be_seen_stay_the_writer_s(style: str) -> None:
    found = read(f'<div style="{style}">{OWN}</div>', kind="html", Subject="Lamps")
    assert (found.own_text, found.certain) == (OWN, True)


def test_html_that_is_built_to_be_slow_is_not_read() -> None:
    for tag in ("div", "blockquote", "b", "table"):
        found = read(f"<{tag}></x>" * 60_000, kind="html")
        assert found.own == ()
