"""What stands in a message is told by its kind, in three languages; no word of it comes out."""

from hypothesis import given
from hypothesis import strategies as st

from remit.reflect import harvest
from remit.reflect.harvest import BULLETS, CLOSING, EMOJI, EXCLAMATION, GREETING, HEADINGS
from tests.tables import for_each

KINDS = (GREETING, CLOSING, BULLETS, HEADINGS, EMOJI, EXCLAMATION)


@for_each(
    ("text", "kinds"),
    [
        ("Dear Anna,\n\nit rains.\n\nBest wishes\nHanan", (GREETING, CLOSING)),
        ("Hi Anna, it rains again in the whole of the north and it will for days.", (GREETING,)),
        ("Liebe Anna,\nes regnet.\nViele Grüße", (GREETING, CLOSING)),
        ("Hola Anna:\nllueve.\nSaludos", (GREETING, CLOSING)),
        ("Sehr geehrte Frau Weber,\nes regnet.", (GREETING,)),
        ("It rains.", ()),
        ("Highlands are wet.\nThey always are.", ()),
        ("Best of all: it rains.", ()),
        ("- one\n- two", (BULLETS,)),
        ("1. one\n2. two", (BULLETS,)),
        ("- one alone", ()),
        ("# Weather\nIt rains.", (HEADINGS,)),
        ("It rains 🌧", (EMOJI,)),
        ("It rains!", (EXCLAMATION,)),
        ("", ()),
    ],
)
def test_what_stands_in_a_text_is_told_by_its_kind(text: str, kinds: tuple[str, ...]) -> None:
    assert harvest.kinds(text) == kinds


def test_words_are_counted_as_people_count_them() -> None:
    assert harvest.count("It's a well-known beach, isn't it?") == 6


@given(st.text(max_size=400))
def test_nothing_but_kinds_comes_out_of_a_text(text: str) -> None:
    assert set(harvest.kinds(text)) <= set(KINDS)
    assert harvest.count(text) <= len(text)
