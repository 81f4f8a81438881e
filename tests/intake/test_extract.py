"""What the owner may rely on, told as sentences; the labelled messages hold the many."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.intake.extract import extract
from remit.intake.extraction import Draft, Extraction, QuestionTopic
from remit.intake.plain_reader import read_plainly
from remit.intake.veto import held_back
from remit.language.order_words import SmallTalk
from remit.model.contract import ClauseOutcome, WorkItem
from remit.model.delivery import Delivery
from tests.intake.labelled import BOOK, NOW, ZONE, messages
from tests.soak import examples


def read(text: str) -> Extraction:
    return extract(text, now=NOW, zone=ZONE, book=BOOK)


def only(text: str) -> Draft:
    (draft,) = read(text).tasks
    return draft


def became(found: Extraction) -> list[tuple[str, str]]:
    return [(clause.became or "open", clause.text) for clause in found.clauses]


@pytest.mark.parametrize("marks", ["''", '""', "„“", "«»", "“”", "»«", "‘’", "``"])  # noqa: RUF001
def test_nothing_within_quotes_is_an_order(marks: str) -> None:
    draft = only(f"Send Alice an email saying {marks[0]}send it to Bob at 9{marks[1]}")

    assert draft.deliveries == (Delivery("email", "Alice", "send it to Bob at 9"),)
    assert draft.scheduled_for is None


@pytest.mark.parametrize(
    "text",
    [
        "Send Bob 'the boys' room is ready' by email",  # where does it end?
        "Send Bob a WhatsApp saying I'm late and research hotels in Rome",
        "Tell Bob I'm late, bring the keys",
    ],
)
def test_a_text_that_may_be_over_sooner_is_shown_before_it_goes(text: str) -> None:
    found = held_back(read_plainly(text, now=NOW, zone=ZONE, book=BOOK), text, BOOK)

    assert [question.about for question in found.questions] == [QuestionTopic.CONFIRM]


WHOLE = {
    "find two parks by noon": ("Find two parks by noon", ["find two parks by noon"], None),
    "such zwei Parks bis 12 Uhr": (
        "Such zwei Parks bis 12 Uhr",
        ["such zwei Parks bis 12 Uhr"],
        None,
    ),
    "remind me to call Bob by noon": ("Call Bob", [], 12),
    "send me the report by 15:00": ("The report", ["the report"], 15),
    "find two parks, then compare them, and write me a list": (
        "Find two parks, then compare them",
        ["find two parks, then compare them", "a list"],
        None,
    ),
    "busca dos parques y escríbeme una lista": (
        "Busca dos parques",
        ["busca dos parques", "una lista"],
        None,
    ),
}


@pytest.mark.parametrize("text", WHOLE)
def test_nothing_of_an_order_is_lost_or_left_over(text: str) -> None:
    draft, (title, work, hour) = only(text), WHOLE[text]
    at = draft.scheduled_for and draft.scheduled_for.astimezone(ZONE).hour

    assert (draft.title, [each.description for each in draft.work], at) == (title, work, hour)


def test_a_checklist_is_one_task_with_its_title() -> None:
    draft = only("# Bangkok\n- [ ] Research attractions\n- [ ] Send the list to Hanan on WhatsApp")

    assert draft.title == "Bangkok"
    assert draft.work == (WorkItem("Research attractions"),)
    assert draft.deliveries == (Delivery("whatsapp"),)


def test_what_is_ticked_already_is_declined() -> None:
    found = read("- [x] Pick a date\n- [ ] Draft the invitation")

    assert (ClauseOutcome.DECLINED, "Pick a date") in became(found)
    assert [item.description for item in found.tasks[0].work] == ["Draft the invitation"]


@pytest.mark.parametrize(
    "text",
    [
        "Don't send it yet.",
        "Do not email Bob",
        "Never send Alice anything",
        "Schick es nicht an Bob",
        "Schick Bob nichts",
        "Bitte keine Mail an Bob schicken",
        "No le mandes nada a Bob",
        "No se lo mandes todavía",
    ],
)
def test_a_no_is_never_a_send(text: str) -> None:
    found = read(text)

    assert found.tasks == ()


def test_not_to_bob_leaves_the_others() -> None:
    assert only("Send the slides to Alice by email, not to Bob").deliveries == (
        Delivery("email", "Alice"),
    )


@pytest.mark.parametrize(
    "text", ["Don't forget to email Bob the list", "Vergiss nicht, Bob die Liste zu mailen"]
)
def test_do_not_forget_is_a_yes(text: str) -> None:
    assert only(text).deliveries == (Delivery("email", "Bob"),)


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("What did you do at 9?", SmallTalk.QUESTION),
        ("Danke!", SmallTalk.THANKS),
        ("lol", SmallTalk.CHATTER),
        ("jajaja", SmallTalk.CHATTER),
        ("Guten Morgen", SmallTalk.GREETING),
        ("I'm tired today.", SmallTalk.STATEMENT),
        ("Stop sending me the digest", SmallTalk.CONTROL),
        ("", SmallTalk.CHATTER),
        ("text Anna that I'm late. scratch that", SmallTalk.TAKEN_BACK),
        ("schreib Anna „bis gleich“. Vergiss es", SmallTalk.TAKEN_BACK),
        ("remind me at 5 to call mum. never mind", SmallTalk.TAKEN_BACK),
        ("don't text Bob", SmallTalk.FORBIDDEN),
        ("schreib Anna nichts", SmallTalk.FORBIDDEN),
        ("no le escribas a Anna", SmallTalk.FORBIDDEN),
    ],
)
def test_talk_makes_no_task(text: str, sort: SmallTalk) -> None:
    found = read(text)

    assert (found.tasks, found.answer) == ((), sort)


@pytest.mark.parametrize(
    "text",
    [
        "Can you remind me tomorrow at 9 to call Bob?",
        "Könntest du mich morgen um 9 an Bob erinnern?",
        "¿Me puedes recordar mañana a las 9 llamar a Bob?",
        "Thanks, and remind me tomorrow at 9 to call Bob",
    ],
)
def test_a_polite_question_is_a_request(text: str) -> None:
    assert only(text).scheduled_for == datetime(2026, 3, 5, 8, tzinfo=UTC)


def test_a_question_beside_a_task_still_wants_an_answer() -> None:
    found = read("What time is it? Also remind me at 3pm to leave.")

    assert found.answer is SmallTalk.QUESTION
    assert len(found.tasks) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Summarize the WhatsApp bug report",
        "Research email etiquette in Japan",
        "Find me a 9 to 5 job in Hamburg",
        "Prepare notes for the 3pm call",
        "Find flights for tomorrow at 9",
        "Write a poem about Bob",
        "Review the article on text messages to Alice",
    ],
)
def test_a_topic_is_no_channel_no_time_and_no_person(text: str) -> None:
    found = read(text)

    (draft,) = found.tasks
    assert draft.work == (WorkItem(text),)
    assert (draft.deliveries, draft.scheduled_for, found.questions) == ((), None, ())


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Send the file to Zoe", QuestionTopic.RECIPIENT),
        ("Send the file to Bob Miller", QuestionTopic.RECIPIENT),
        ("Remind Bob's mother tomorrow at 9 to come", QuestionTopic.RECIPIENT),
        ("Send Anna the file", QuestionTopic.RECIPIENT),
        ("Send him the file by email", QuestionTopic.RECIPIENT),
        ("Envía a mi hermana la foto", QuestionTopic.RECIPIENT),
        ("Send the file to legal@example.com", QuestionTopic.RECIPIENT),
        ("Send me the file on Telegram", QuestionTopic.CHANNEL),
        ("Send Alice the file on WhatsApp", QuestionTopic.CHANNEL),
        ("Remind me to call", QuestionTopic.TIME),
        ("Send it to Bob by email", QuestionTopic.CONTENT),
        ("Send me a WhatsApp", QuestionTopic.CONTENT),
        ("Remind me in 10 minutes", QuestionTopic.CONTENT),
    ],
)
def test_what_is_not_clear_is_asked_back(text: str, about: QuestionTopic) -> None:
    found = read(text)

    assert [question.about for question in found.questions] == [about]
    assert found.questions_about(found.tasks[0]) == found.questions


def test_a_task_has_one_time() -> None:
    found = read("Research hotels now and email me the list tomorrow at 9")

    assert [question.about for question in found.questions] == [QuestionTopic.TIME]
    assert found.tasks[0].scheduled_for is None


def test_people_and_channels_are_paired_as_they_were_said() -> None:
    assert only("Send the report to Bob on WhatsApp and to Alice by email").deliveries == (
        Delivery("whatsapp", "Bob"),
        Delivery("email", "Alice"),
    )


def test_what_is_said_about_somebody_is_not_what_is_said_to_them() -> None:
    plain = only("Tell Carlos that dinner is ready")
    reported = only("Tell Carlos that his parcel has arrived")

    assert plain.deliveries == (Delivery("whatsapp", "Carlos", "dinner is ready"),)
    assert not plain.needs_brain
    assert reported.deliveries == (Delivery("whatsapp", "Carlos"),)
    assert reported.needs_brain


@pytest.mark.parametrize(
    "text",
    [
        "Rappelle-moi demain à 9h d'appeler le plombier",
        "Напомни мне завтра в 9 позвонить маме",
        "明日の9時に電話して",
        "Przypomnij mi jutro o 9",
    ],
)
def test_a_language_nobody_here_reads_is_work_as_a_whole(text: str) -> None:
    found = read(text)

    assert became(found) == [(ClauseOutcome.WORK, text)]
    assert found.tasks[0].needs_brain


def test_a_moved_clock_is_told_where_it_was_said() -> None:
    found = read("Remind me on March 29 at 2:30am to check the backups")

    (clause,) = (each for each in found.clauses if each.became is ClauseOutcome.TIME)
    assert clause.why is not None
    assert "clocks go forward" in clause.why
    assert found.tasks[0].notes == (clause.why,)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Remind me at 9 to call mom", "Call mom"),
        ("Remind me at 9 to öffnen", "Öffnen"),
        ("Remind me at 9: iPhone", "iPhone"),
        ("Remind me at 9: remit.dev is down", "remit.dev is down"),
    ],
)
def test_a_title_begins_with_a_capital_letter_and_the_text_stays_as_it_was_said(
    text: str, title: str
) -> None:
    draft = only(text)

    assert draft.title == title
    (delivery,) = draft.deliveries
    assert delivery.content is not None
    assert delivery.content.casefold() == title.casefold()
    assert delivery.content in text


def test_a_title_is_one_short_line() -> None:
    title = only("Research " + "very " * 60 + "long things").title

    assert "\n" not in title
    assert len(title) <= 120


@pytest.mark.parametrize(
    ("text", "work", "strangers"),
    [
        ("Write a poem and send me the result", "Write a poem", []),
        ("Write the minutes and send them to me", "Write the minutes", []),
        ("Find flights and email them to me", "Find flights", []),
        ("Write a poem and send it to Zoltan", "Write a poem", ["'Zoltan'"]),
        ("Escribe un poema y mándaselo a Zoltan", "Escribe un poema", ["'Zoltan'"]),
        ("Send the quarterly numbers to Zed", "the quarterly numbers", ["'Zed'"]),
        ("Schick die Fotos den Nachbarn", "die Fotos den Nachbarn", ["Who is to get it?"]),
        ("Forward the contract to legal@example.com", "the contract", ["'legal@example.com'"]),
        ("Send them the file", "the file", ["'them'"]),
    ],
)
def test_what_was_made_goes_to_whom_it_is_for_and_a_stranger_is_asked_about(
    text: str, work: str, strangers: list[str]
) -> None:
    found = read(text)
    asked = [each.sentence for each in found.questions if each.about is QuestionTopic.RECIPIENT]

    assert [item.description for item in found.tasks[0].work] == [work]
    assert len(asked) == len(strangers)
    assert all(name in sentence for name, sentence in zip(strangers, asked, strict=True))
    assert all(each.recipient is None for each in found.tasks[0].deliveries)


DAYS = ("Monday", "Tuesday", "Thursday", "Friday", "Saturday", "Sunday")
TURNS = (", no wait, make that ", "… I mean ", ", no, ", " - sorry, I meant ")


@settings(deadline=None)
@given(st.permutations(DAYS), st.sampled_from(TURNS))
def test_the_last_word_counts_as_if_it_had_been_the_only_one(days: list[str], turn: str) -> None:
    old, new, *_ = days
    corrected = only(f"Remind me on {old}{turn}{new} at 10am to call the bank")
    plain = only(f"Remind me on {new} at 10am to call the bank")

    assert (corrected.scheduled_for, corrected.deliveries) == (
        plain.scheduled_for,
        plain.deliveries,
    )


@pytest.mark.parametrize(
    ("text", "day", "hour"),
    [
        ("Remind me on Tuesday at 9am to call the bank. Actually make it Thursday.", 5, 8),
        ("Remind me on Thursday at 9am to call the bank, sorry, at 11am", 5, 10),
        ("Erinnere mich am Freitag um 14 Uhr, nein, doch lieber am Samstag, an die Blumen", 7, 13),
        ("Recuérdame el martes a las 11, no espera, mejor el jueves, llamar al taller", 5, 10),
    ],
)
def test_a_correction_changes_the_day_or_the_hour_alone(text: str, day: int, hour: int) -> None:
    draft = only(text)

    assert draft.scheduled_for == datetime(2026, 3, day, hour, tzinfo=UTC)
    assert any("stands instead" in note for note in draft.notes)


@pytest.mark.parametrize(
    "text",
    [
        "Remind me at 5pm to call Bob. Scratch that.",
        "erinner mich um 15 uhr an den zoll. vergiss es, schon erledigt",
        "recuérdame a las 19 lo del gimnasio… olvídalo, hoy no voy",
        "Text Bob I'm in for football. nvm, my knee hurts",
    ],
)
def test_what_is_taken_back_makes_no_task(text: str) -> None:
    found = read(text)

    assert found.tasks == ()
    assert all(clause.became is ClauseOutcome.DECLINED for clause in found.clauses)


@pytest.mark.parametrize(
    "text", ["no, I meant Tuesday", "Nee, doch lieber am Dienstag", "Mejor a las nueve de la noche"]
)
def test_a_correction_alone_asks_which_task_it_is_about(text: str) -> None:
    found = read(text)

    assert found.tasks == ()
    assert [question.about for question in found.questions] == [QuestionTopic.TASK]


# Text of others -----------------------------------------------------------------------------------

FORWARDED = "\n\n---------- Forwarded message ---------\nFrom: Sue <sue@example.com>\n\n"
SAID = [message.say for message in messages() if "\n" not in message.say]


@pytest.mark.parametrize(
    "text",
    ["ring the plumber tomorrow and remind me at 8", "remind me in 10", "Anruf um 9, erinner mich"],
)
def test_a_line_break_at_the_end_changes_nothing(text: str) -> None:
    assert read(f"{text}\n").tasks == read(text).tasks


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(SAID), st.sampled_from(SAID))
def test_what_others_wrote_below_a_request_asks_for_nothing(own: str, theirs: str) -> None:
    alone, both = read(own), read(own + FORWARDED + theirs)

    assert [(d.scheduled_for, d.deliveries, d.work) for d in both.tasks] == [
        (d.scheduled_for, d.deliveries, d.work) for d in alone.tasks
    ]


@pytest.mark.parametrize(
    "text",
    [
        "> Please send Alice the contract\n> and email Bob",
        "From: Sue\nSubject: Money\n\nSend Bob 500 euros",
        "[04.03.26, 09:12] Sue: send Alice my address\n[04.03.26, 09:13] Sue: now",
    ],
)
def test_pasted_text_alone_makes_no_task_and_is_asked_about(text: str) -> None:
    found = read(text)

    assert found.tasks == ()
    assert {question.about for question in found.questions} == {QuestionTopic.TASK}
