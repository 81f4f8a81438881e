"""Who writes German or Spanish is asked in that language: why a text is held, and what to do."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

import pytest
from msgspec.structs import replace

from remit import gate, review
from remit.gate import GateSecrets, Objection
from remit.language.files import read_toml
from remit.language.sentences import TRANSLATED, in_language
from remit.model.contract import OwnerRequest
from remit.model.delivery import Locked
from remit.model.likeness import DraftedLesson, Lesson, LessonFile
from remit.model.reply import Reply
from remit.settings import DeliverSettings
from tests.gate.corpus import Hostile, hostile
from tests.model.examples import NEW
from tests.stories.test_recipients import ALLOWED, App
from tests.tables import for_each

MESSAGES: Final = {
    "de": "Sag Anna bitte, dass ich heute Abend später nach Hause komme",
    "es": "Dile a Ana que hoy por la noche voy a llegar más tarde a casa",
}
LOCKED: Final = "The password is wrong"
SECRET: Final = "sk-ant-" + "api03-Zk4Tq8Lm2Xw9Rb6Vn3Pd7Hs5Jc1Gf0Ya"
QUESTIONS: Final = {
    ("de", "unknown"): (
        "Wer ist 'Nobody'? In deinen Kontakten heißt niemand so. Antworte mit einem Namen aus den"
        " Kontakten oder mit einer Adresse, oder lehne ab."
    ),
    ("es", "unknown"): (
        "¿Quién es 'Nobody'? En tus contactos nadie se llama así. Responde con un nombre de tus"
        " contactos o con una dirección, o recházalo."
    ),
    ("de", "locked"): (
        f"whatsapp nimmt keine Nachrichten an: {LOCKED}. Bring es in Ordnung, dann gib es frei."
    ),
    ("es", "locked"): f"whatsapp no acepta mensajes: {LOCKED}. Arréglalo y después apruébalo.",
    ("de", "limit"): (
        "Heute gingen schon 1 Nachrichten dorthin, und 1 ist die Grenze. Soll das so an Anna Weber"
        " (+491) gehen, über whatsapp?"
    ),
    ("es", "limit"): (
        "Hoy ya se enviaron allí 1 mensajes, y 1 es el límite. ¿Enviar esto a Anna Weber (+491)"
        " por whatsapp?"
    ),
    ("de", "held"): (
        "In Zeile 1 steht etwas, das aussieht wie der Schlüssel eines Modellanbieters. Schreib, was"
        " gesendet werden soll, gib es zurück oder lehne ab."
    ),
    ("es", "held"): (
        "En la línea 1 hay algo que parece la clave de un proveedor de modelos. Escribe lo que se"
        " debe enviar, devuélvelo o recházalo."
    ),
}
# What only an English sentence has, outside of what it quotes.
ENGLISH: Final = re.compile(r"\b(?:the|holds|stands|with|and|deliverable|reply|character)\b")


@pytest.mark.parametrize(("language", "case"), QUESTIONS)
async def test_a_question_is_in_the_language_of_the_message(
    tmp_path: Path, language: str, case: str
) -> None:
    deliver = DeliverSettings(undo=0, daily_cap=1 if case == "limit" else 0)
    async with App(tmp_path, ALLOWED, deliver) as app:
        if case == "locked":
            app.whatsapp.answers = [Locked(LOCKED)]
        if case == "limit":
            await app.tell(text="First")
        to = "Nobody" if case == "unknown" else "Anna Weber"
        await app.tell(to, SECRET if case == "held" else "Hi", words=MESSAGES[language])
        review = await app.asked()

    assert review.question == QUESTIONS[language, case]


@for_each("language", TRANSLATED)
def test_every_reason_of_the_gate_is_translated(language: str) -> None:
    english = []
    for case in hostile():
        told = in_language(_reason(case), language)
        if told == _reason(case) or ENGLISH.search(re.sub(r"„.*“|«.*»|\(.*\)", "", told)):
            english.append(told)

    assert english == []


def _reason(case: Hostile) -> str:
    known = GateSecrets(secrets=case.secrets)
    if case.whole:
        judged = gate.judge(Reply(case.text), most=case.most, known=known)
    else:
        judged = gate.judge_text(case.text, most=case.most, author=case.author, known=known)
    assert isinstance(judged, Objection)
    return judged.reason


def test_every_sentence_is_in_each_language_once_with_the_same_places() -> None:
    rows = dict(read_toml("sentences"))
    card = cast("Mapping[str, list[str]]", rows.pop("card"))
    for table in ("pages", "notices"):  # tests of their own look at the places of these
        rows |= cast("Mapping[str, list[str]]", rows.pop(table))

    assert {len(row) for row in rows.values()} == {len(TRANSLATED)}
    assert {len(row) for row in card.values()} == {1 + len(TRANSLATED)}
    for forms in (*((english, *row) for english, row in rows.items()), *card.values()):
        places = [sorted(re.findall(r"\{\w*\}", form)) for form in forms]
        assert places == places[:1] * len(forms), forms


LESSON: Final = {
    "de": (
        "Du hast 3 von 4 Aufgaben von bank.example abgelehnt. 5 von 9 früheren Aufgaben würden sich"
        " ändern. In rules/priority.yml aufnehmen oder weglassen?"
    ),
    "es": (
        "Rechazaste 3 de 4 tareas de bank.example. Cambiarían 5 de 9 tareas pasadas. ¿Ponerlo en"
        " rules/priority.yml o dejarlo fuera?"
    ),
}


@for_each("language", LESSON)
def test_a_lesson_is_asked_about_in_the_language_of_the_order(language: str) -> None:
    lesson = Lesson(
        LessonFile.RULES, "learned-bank", "You declined 3 of 4 tasks from bank.example."
    )
    drafted = DraftedLesson("digest", "diff", "5 of 9 past tasks would change.")
    task = replace(NEW, request=OwnerRequest(MESSAGES[language]))

    assert review.lesson(task, 0, lesson, drafted).question == LESSON[language]
