"""Whole sentences of a known form, in three languages; everything else is left to others."""

from remit.converse import meaning
from remit.converse.meaning import (
    Correction,
    QueryKind,
    StatusQuery,
    TaskAction,
    TaskCommand,
    TaskReference,
)
from tests.tables import for_each


@for_each(
    ("text", "act", "thing"),
    [
        ("pause the bangkok thing", TaskAction.PAUSE, TaskReference(("bangkok",), named=True)),
        ("Can you cancel it, please?", TaskAction.CANCEL, TaskReference(pointed=True)),
        ("cancel", TaskAction.CANCEL, TaskReference(pointed=True)),
        ("put the flight watch on hold", TaskAction.PAUSE, TaskReference(("flight", "watch"))),
        ("run it now", TaskAction.RUN, TaskReference(pointed=True)),
        ("go on with the newsletter", TaskAction.RESUME, TaskReference(("newsletter",))),
        ("pause everything", TaskAction.PAUSE, TaskReference(all=True)),
        ("Brich das ab", TaskAction.CANCEL, TaskReference(pointed=True)),
        ("Pausiere die Bangkok-Sache", TaskAction.PAUSE, TaskReference(("bangkok",), named=True)),
        ("setze die Recherche fort", TaskAction.RESUME, TaskReference(("recherche",))),
        (
            "reanuda la tarea del viaje",
            TaskAction.RESUME,
            TaskReference(("del", "viaje"), named=True),
        ),
    ],
)
def test_an_order_about_a_task_is_read(text: str, act: TaskAction, thing: TaskReference) -> None:
    read = meaning.read(text)

    assert isinstance(read, TaskCommand)
    assert (read.act, read.thing) == (act, thing)


@for_each(
    ("text", "look"),
    [
        ("what is running?", QueryKind.RUNNING),
        ("What are you doing right now?", QueryKind.RUNNING),
        ("was läuft gerade?", QueryKind.RUNNING),
        ("¿Qué estás haciendo?", QueryKind.RUNNING),
        ("what's next?", QueryKind.PLANNED),
        ("was steht an?", QueryKind.PLANNED),
        ("what needs me?", QueryKind.WAITING),
        ("what failed?", QueryKind.FAILED),
    ],
)
def test_a_look_at_the_records_is_read(text: str, look: QueryKind) -> None:
    assert meaning.read(text) == StatusQuery(look)


def test_what_was_done_is_asked_with_a_time_and_a_thing() -> None:
    read = meaning.read("What did you do at 8 with the newsletter?")

    assert read == StatusQuery(QueryKind.DID, TaskReference(("newsletter",)), ("at", "8"))
    assert meaning.read("Was hast du gestern gemacht?") == StatusQuery(
        QueryKind.DID, when=("gestern",)
    )


@for_each(
    ("text", "words", "firm"),
    [
        ("make it 5", "5", True),
        ("No wait, make that Thursday", "Thursday", True),
        ("Thursday instead", "Thursday", True),
        ("actually at 6pm", "at 6pm", False),
        ("lieber um 17 Uhr", "um 17 Uhr", False),
        ("mejor el jueves", "el jueves", False),
        ("no, I meant Friday.", "Friday", True),
        ("no problem", "problem", False),
    ],
)
def test_a_correction_is_what_stands_behind_its_opening(text: str, words: str, firm: bool) -> None:
    assert meaning.read(text) == Correction(words, firm)


@for_each(
    "text",
    [
        "Research hotels in Bangkok",
        "no",
        "",
        "cancel my trip and then book a new one",
        "cancel\nit",
        "pause " + "very " * 20 + "long",
        "continue",
        "x" * 400,
    ],
)
def test_everything_else_is_for_others(text: str) -> None:
    assert meaning.read(text) is None


def test_a_letter_that_folds_to_two_does_not_cut_the_words() -> None:
    assert meaning.read("make it Straße ß") is None or isinstance(
        meaning.read("make it Straße ß"), Correction
    )
