"""The contact book: read strictly, with the line of what is wrong; the last good one stays."""

import os
from pathlib import Path

import pytest

from remit.contacts.book import Contacts, load
from remit.errors import BadInput
from remit.intake.recipients import Question, QuestionTopic, way_to

GOOD = """\
- name: Anna Weber
  aliases: [my sister]
  role: family
  channels:
    whatsapp: {id: "49151", address: "+49151"}
    email: anna@example.org
- name: Bob
"""


def book_of(path: Path, text: str) -> Contacts:
    (path / "contacts.yaml").write_text(text)
    return Contacts(path / "contacts.yaml", "Hanan", ("dashboard", "email"))


def test_people_are_known_by_name_alias_and_first_name(tmp_path: Path) -> None:
    book = book_of(tmp_path, GOOD).book()

    assert [person.name for person in book.contacts] == ["Anna Weber", "Bob"]
    assert book.people.at(("my", "sister"), 0) == ((book.contacts[0],), 2)
    assert book.people.at(("anna",), 0) == ((book.contacts[0],), 1)


def test_without_a_file_there_is_the_owner_alone(tmp_path: Path) -> None:
    book = Contacts(tmp_path / "contacts.yaml", "Hanan", ("dashboard",)).book()

    assert (book.owner.name, book.contacts) == ("Hanan", ())


def test_a_channel_that_the_app_lacks_is_asked_about_not_used(tmp_path: Path) -> None:
    text = "- {name: Bob, channels: {whatsapp: '+1'}}"
    book = book_of(tmp_path, text).book()

    way = way_to(book.contacts[0], None, book)
    by_mail = way_to(book.contacts[0], book.channels[1], book)

    assert isinstance(way, Question)
    assert way.about is QuestionTopic.CHANNEL
    assert "whatsapp, which is not set up." in way.sentence
    assert isinstance(by_mail, Question)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("- name: Bob\n  colour: red", 2, "has 'colour'; known are name, aliases, role, channels"),
        ("- name: Bob\n- role: boss", 2, "lacks a name"),
        ("name: Bob", 1, "must be a list"),
        ("- Bob", 1, "must be a table"),
        ("- name: [Bob]", 1, "must be text"),
        ("- name: ''", 1, "must be text"),
        ("- name:", 1, "must be text"),
        ("- name: Bob\n  aliases: Bobby", 2, "must be a list"),
        ("- name: Bob\n  channels: [email]", 2, "must be a table"),
        ("- name: Bob\n  channels:\n    email: {id: 7}", 3, "lacks an address"),
        ("- name: Bob\n  channels:\n    email: {to: x}", 3, "has 'to'; known are id, address"),
        ("- name: Bob\n- name: Zoe\n- name: BOB", 3, "stands in line 1 too"),
        ("- name: Bob\n  name: Zoe", 2, "has 'name' twice"),
        ("- name: 'Bob", 1, "found unexpected end of stream"),
        ("- &a {name: Bob}\n- *a", 1, "points elsewhere"),
        ("- !!python/object/apply:os.system [ls]", 1, "has the tag"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    with pytest.raises(BadInput) as refused:
        book_of(tmp_path, text).book()

    assert f"contacts.yaml, line {line}: " in str(refused.value)
    assert what in str(refused.value)


def test_a_file_that_is_no_text_or_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "contacts.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="not UTF-8"):
        load(path)
    path.write_text("#" * 1_000_001)
    with pytest.raises(BadInput, match="too long"):
        load(path)


def test_while_a_app_runs_the_last_good_book_stays(tmp_path: Path) -> None:
    contacts = book_of(tmp_path, GOOD)
    assert len(contacts.book().contacts) == 2

    (tmp_path / "contacts.yaml").write_text("- nonsense")
    os.utime(tmp_path / "contacts.yaml", ns=(1, 1))
    kept = contacts.book()
    complaint = contacts.complaint
    (tmp_path / "contacts.yaml").write_text("- name: Zoe")
    os.utime(tmp_path / "contacts.yaml", ns=(2, 2))

    assert len(kept.contacts) == 2
    assert complaint is not None
    assert "line 1" in complaint
    assert [person.name for person in contacts.book().contacts] == ["Zoe"]
    assert contacts.complaint is None


def test_a_book_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    contacts = book_of(tmp_path, GOOD)

    assert contacts.book() is contacts.book()
