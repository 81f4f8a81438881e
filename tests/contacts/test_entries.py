"""One entry of the contact book put in, changed or taken out; all else stays to the letter."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as runs
from hypothesis import strategies as st

from remit.contacts import edit
from remit.contacts.book import ContactAddress, ContactEntry, parse
from remit.errors import BadInput, NotFound
from remit.language.tokens import fold
from remit.model.reply import Policy
from tests.soak import examples

BOOK = """\
# Family first.

- name: Anna Weber   # my sister
  aliases: [Anna]
  channels: {whatsapp: "+491"}
# Bob moves often.
-
  name: Bob
  channels:
    email: bob@example.org
  policy:
    email: deny

# The end.
"""
ZOE = ContactEntry(
    "Zoe",
    ("Zo",),
    "friend",
    {"whatsapp": ContactAddress("+7", "7@lid"), "email": ContactAddress("z@x.org")},
)


def kept(path: Path, text: str = BOOK) -> Path:
    (path / "contacts.yaml").write_text(text)
    return path / "contacts.yaml"


def test_who_is_new_stands_behind_the_last_and_every_remark_stays(tmp_path: Path) -> None:
    path = kept(tmp_path)

    edit.put(path, ZOE)

    head, tail = BOOK.split("    email: deny\n")
    text = path.read_text()
    assert text.startswith(head + "    email: deny\n- name: Zoe\n")
    assert text.endswith(tail)
    assert parse(path.read_bytes())[-1] == ZOE
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["contacts.yaml"]


def test_who_is_in_already_gets_what_is_new_and_keeps_the_rest(tmp_path: Path) -> None:
    path = kept(tmp_path)

    edit.put(path, ContactEntry("bob", ("Bobby",), None, {"whatsapp": ContactAddress("+3")}))

    bob = parse(path.read_bytes())[1]
    assert bob.lines == {
        "email": ContactAddress("bob@example.org"),
        "whatsapp": ContactAddress("+3"),
    }
    assert (bob.name, bob.aliases, bob.policy) == ("Bob", ("Bobby",), {"email": Policy.DENY})
    text = path.read_text()
    assert "# Bob moves often.\n- name: Bob\n" in text
    assert "# my sister" in text
    assert text.endswith("\n# The end.\n")


def test_who_is_taken_out_takes_nobody_along(tmp_path: Path) -> None:
    path = kept(tmp_path)

    edit.drop(path, "anna weber")

    assert [each.name for each in parse(path.read_bytes())] == ["Bob"]
    assert "# Bob moves often." in path.read_text()
    with pytest.raises(NotFound, match="Anna Weber"):
        edit.drop(path, "Anna Weber")


def test_the_first_one_makes_the_file(tmp_path: Path) -> None:
    edit.put(tmp_path / "contacts.yaml", ZOE)

    assert parse((tmp_path / "contacts.yaml").read_bytes()) == (ZOE,)


@pytest.mark.parametrize("text", ["[{name: Bob}]\n", "--- [{name: Bob}]\n"])
def test_what_only_a_person_can_change_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = kept(tmp_path, text)

    with pytest.raises(BadInput, match="by hand"):
        edit.put(path, ZOE)
    assert path.read_text() == text


def test_a_book_that_is_wrong_already_is_not_written_over(tmp_path: Path) -> None:
    path = kept(tmp_path, "- colour: red\n")

    with pytest.raises(BadInput, match="line 1"):
        edit.put(path, ZOE)
    assert path.read_text() == "- colour: red\n"


words = st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=12
).filter(lambda word: word.strip() == word and word.isprintable())
people = st.builds(
    ContactEntry,
    name=words,
    aliases=st.lists(words, max_size=2, unique=True).map(tuple),
    role=st.none() | st.just("friend"),
    lines=st.dictionaries(words, st.builds(ContactAddress, words, st.none() | words), max_size=2),
    policy=st.dictionaries(words, st.sampled_from(Policy), max_size=2),
)


known = {fold("Anna Weber"), fold("Bob")}
crowds = st.lists(people, max_size=4, unique_by=lambda each: fold(each.name)).map(
    lambda found: [each for each in found if fold(each.name) not in known]
)


@given(crowd=crowds)
@runs(max_examples=examples(60), deadline=None)
def test_whoever_is_put_in_is_read_back_as_they_were(
    crowd: Sequence[ContactEntry], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = kept(tmp_path_factory.mktemp("book"))
    before = parse(path.read_bytes())

    for each in crowd:
        edit.put(path, each)
    full = parse(path.read_bytes())
    for each in crowd:
        edit.drop(path, each.name)

    assert full == (*before, *crowd)
    assert path.read_text() == BOOK
