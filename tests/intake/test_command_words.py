"""A message that names a command of the settings, and nothing but that."""

from datetime import datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.command_words import CommandReader, named_command
from remit.intake.extraction import Extraction
from remit.testing import START
from tests.tables import for_each

BOOK = ContactBook(Contact("you"), (ChannelName("dashboard", "dashboard"),))
NAMES = ("backup", "Wochenbericht", "sync-photos")


@for_each(
    "text",
    [
        "run backup",
        "Run backup.",
        "Please run backup now",
        "run my backup",
        "run the backup command",
        "run the command `backup`",
        "start the job “backup”, please!",
        "execute 'backup'",
        "kick off backup",
        "führe backup aus",
        "Führe bitte den Befehl backup aus.",
        "starte backup",
        "lass backup laufen",
        "führe bitte mal backup durch",
        "ejecuta backup",
        "Ejecuta el comando «backup», por favor.",
        "¡lanza backup ahora!",
    ],
)
def test_a_verb_of_running_and_the_exact_name_is_an_order(text: str) -> None:
    assert named_command(text, NAMES) == "backup"


def test_a_name_may_be_any_word_of_the_owners() -> None:
    assert named_command("run sync-photos", NAMES) == "sync-photos"
    assert named_command("Starte Wochenbericht", NAMES) == "Wochenbericht"


@for_each(
    "text",
    [
        "",
        "backup",
        "run",
        "run Backup",  # not to the letter
        "run backups",
        "run wochenbericht",
        "run backup && rm -rf /",
        "run backup --force",
        "run backup and sync-photos",
        "run backup and tell mum",
        "don't run backup",
        "never run backup",
        "did you run backup?",
        "should I run backup",
        "write about the backup",
        "führe backup",  # half a verb
        "führe backup aus und schreib Mama",
        "nicht starte backup",
        "no ejecuta backup",
        "run rm",
        "Mum says: run backup",
        "run a backup of the laptop",
    ],
)
def test_anything_more_or_less_is_none(text: str) -> None:
    assert named_command(text, NAMES) is None


@given(st.text())
def test_no_message_names_a_command_that_is_not_in_the_settings(text: str) -> None:
    assert named_command(text, ()) is None
    assert named_command(f"run {text}", NAMES) in {None, *NAMES}


class Model:
    """A reader that asks a model, and counts how often."""

    def __init__(self) -> None:
        self.asked = 0

    async def read(self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook) -> Extraction:
        del text, now, zone, book
        self.asked += 1
        return Extraction((), (), None, (), ())


@for_each(
    ("text", "agents", "asked"),
    [
        ("run backup", ["command:backup"], 0),
        ("run backup every day at 03:00", ["command:backup"], 0),
        ("run backup in 10 minutes", ["command:backup"], 0),
        ("run a marathon", [], 1),
        ("run backup. Then write a poem about it.", [], 1),
    ],
)
async def test_no_model_reads_a_message_that_names_a_command(
    text: str, agents: list[str | None], asked: int
) -> None:
    model = Model()

    found = await CommandReader(model, NAMES).read(text, START, ZoneInfo("UTC"), BOOK)

    assert [draft.agent for draft in found.tasks] == agents
    assert model.asked == asked
    assert all(draft.needs_brain is (draft.agent is None) for draft in found.tasks)


async def test_without_commands_every_message_goes_to_the_reader() -> None:
    model = Model()

    await CommandReader(model, ()).read("run backup", START, ZoneInfo("UTC"), BOOK)

    assert model.asked == 1
