"""Messages that a closed pattern covers are read as they are meant; the others are asked about."""

import tomllib
from pathlib import Path

import remit
from remit.intake.extraction import Draft
from remit.intake.plain_reader import read_plainly
from remit.intake.veto import held_back
from remit.language.files import LANGUAGES, parse_word_lists
from tests.intake.labelled import BOOK, Expected, Message, messages
from tests.tables import for_each

MESSAGES = messages()
ACTS = [message for message in MESSAGES if not message.asks]
ASKS = [message for message in MESSAGES if message.asks]


def read(draft: Draft) -> Expected:
    sends = tuple((each.channel, each.recipient, each.content) for each in draft.deliveries)
    rule = draft.recurrence.rule if draft.recurrence else None
    return Expected(bool(draft.work), draft.scheduled_for, rule, sends)


def plain(task: Expected) -> Expected:
    """A task whose texts differ in the marks at their ends alone is the same."""
    sends = ((way, to or "", (text or "").casefold().rstrip(".!?")) for way, to, text in task.sends)
    return Expected(task.work, task.at, task.every, tuple(sorted(sends)))


@for_each("message", ACTS)
def test_a_message_that_a_pattern_covers_is_read_as_it_is_meant(message: Message) -> None:
    found = message.read()

    assert [plain(read(draft)) for draft in found.tasks] == [plain(each) for each in message.tasks]
    assert not found.questions


@for_each("message", ASKS)
def test_a_message_that_leaves_something_open_is_asked_about(message: Message) -> None:
    assert message.read().questions


LEADS = (
    "Remind me tomorrow at 9 to ",
    "Erinnere mich morgen um 9 daran, ",
    "Recuérdame mañana a las 9 ",
    "never ",
    "should I ",
    "Alice asked me to ",
)
SENDS = [
    message
    for message in ACTS
    if any(to for task in message.tasks for _, to, _ in task.sends)
    and not any(mark in message.say for mark in ("\n", ". ", "! ", "? ", ": ", "1.", "12."))
]


@for_each("lead", LEADS)
def test_what_one_is_reminded_of_forbidden_or_asked_to_do_reaches_nobody(lead: str) -> None:
    """A whole sentence that would send something, led in by words that change what it means."""
    for message in SENDS:
        text = lead + message.say[0].lower() + message.say[1:]
        found = held_back(
            read_plainly(text, now=message.now, zone=message.zone, book=BOOK), text, BOOK
        )
        acting = [draft for draft in found.tasks if not found.questions_about(draft)]
        reached = [each.recipient for draft in acting for each in draft.deliveries]
        assert found.veto or not any(reached), text


def test_word_lists_are_read_as_toml_reads_them() -> None:
    paths = Path(remit.__path__[0]).rglob("*.toml")
    files = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    read = {name: found for name, text in files.items() if (found := parse_word_lists(text))}

    assert [name for name, found in read.items() if found != tomllib.loads(files[name])] == []
    assert {*LANGUAGES, "foreign", "zones", "machine_talk", "sentences"} <= read.keys()


@for_each(
    "text",
    [
        "a = 1",
        'a = ["x"',
        'a = "\\u00e9"',
        "a = 'x'",
        '[a.b]\nc = "x"',
        'a = ["x", 1]',
        'a = ["x\ny"]',
    ],
)
def test_what_is_no_word_list_is_left_to_a_parser_of_toml(text: str) -> None:
    assert parse_word_lists(text) is None
