"""Whom the owner's words mean: somebody in the book, or nobody until the owner says so."""

from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.extraction import Question, QuestionTopic, channel_for, resolve
from remit.intake.plain_reader import read_plainly
from tests.intake.labelled import BOOK, NOW, ZONE
from tests.tables import for_each


@for_each(
    ("words", "name"),
    [
        ("Bob", "Bob"),
        ("bob", "Bob"),
        ("BOB", "Bob"),
        ("Anna Weber", "Anna Weber"),
        ("my mother", "Mum"),
        ("maria jose", "María José"),
        ("Jorg", "Jörg Meier"),
        ("Hanan", "Hanan"),
    ],
)
def test_a_name_in_the_book_is_that_person(words: str, name: str) -> None:
    found = resolve(words, BOOK)

    assert isinstance(found, Contact)
    assert found.name == name


@for_each("words", ["Zoe", "Bob's mother", "Bobs Mutter", "Bob Miller", "", "team"])
def test_a_name_that_is_not_in_the_book_is_asked_about(words: str) -> None:
    found = resolve(words, BOOK)

    assert isinstance(found, Question)
    assert found.about is QuestionTopic.RECIPIENT


def test_two_people_of_one_name_are_asked_about_by_their_full_names() -> None:
    found = resolve("Anna", BOOK)

    assert isinstance(found, Question)
    assert found.options == ("Anna Schmidt", "Anna Weber")


def test_a_channel_is_found_by_its_name_its_alias_or_its_kind() -> None:
    assert channel_for("ninas_whatsapp", "", BOOK) == channel_for("WhatsApp", "", BOOK)


def test_two_channels_of_a_kind_are_asked_about_unless_one_is_named() -> None:
    both = (ChannelName("work_mail", "email"), ChannelName("home_mail", "email"))
    book = ContactBook(Contact("Hanan"), both)

    assert channel_for("work_mail", "", book) == both[0]
    doubt = channel_for("email", "by email", book)
    assert isinstance(doubt, Question)
    assert doubt.options == ("work_mail", "home_mail")


def test_a_channel_that_is_not_there_is_asked_about() -> None:
    doubt = channel_for("telegram", "on Telegram", BOOK)

    assert isinstance(doubt, Question)
    assert doubt.about is QuestionTopic.CHANNEL


@for_each(
    ("text", "who"),
    [
        ('Send "the keys are under the mat" to Zelda', "Zelda"),
        ('send "hi" to zelda on whatsapp', "zelda"),
        ('text "hi" to zelda tomorrow at 9', "zelda"),
        ('email "hi" to zed@example.org', "zed@example.org"),
        ('text "hi" to her', "her"),
        ('schick "bin da" an den vermieter', "vermieter"),
        ('manda "ya voy" a zelda', "zelda"),
        ('dile "hola" a zelda', "zelda"),
    ],
)
def test_a_text_for_somebody_unknown_never_goes_to_the_owner(text: str, who: str) -> None:
    found = read_plainly(text, now=NOW, zone=ZONE, book=BOOK)

    assert [each.deliveries for each in found.tasks] == [()]
    assert [(each.about, who in each.sentence) for each in found.questions] == [
        (QuestionTopic.RECIPIENT, True)
    ]
