"""Language, length, form, holes, padding: what can be seen without having read anything else."""

from remit.language.order_words import language_names
from remit.model.contract import Result
from remit.verify.written.language import language_of
from tests.tables import for_each
from tests.verify.written.desk import look

SAMPLES = {
    "en": "The keys are on the table and the bread is in the kitchen, so there is all you need.",
    "de": "Die Schlüssel sind auf dem Tisch und das Brot ist in der Küche, alles für dich.",
    "es": "Las llaves están en la mesa y el pan está en la cocina, así que no te falta de nada.",
    "fr": "Les clés sont sur la table et le pain est dans la cuisine, vous avez tout ici.",
    "it": "Le chiavi sono sul tavolo e il pane è in cucina, così non ti manca nulla per la sera.",
    "pt": "As chaves estão em cima da mesa e o pão está na cozinha, não falta nada para você.",
    "nl": "De sleutels zijn op de tafel en het brood is in de keuken, er is van alles voor je.",
    "pl": "Klucze są na stole i chleb jest w kuchni, nie ma się o co martwić, to dla was.",
    "sv": "Nycklarna är på bordet och brödet är i köket, det finns allt som du behöver.",
    "tr": "Anahtarlar masada ve ekmek mutfakta, bu ev için her şey var ama daha çok gibi bir yer.",
    "ru": "Ключи лежат на столе, хлеб на кухне.",
    "uk": "Ключі лежать на столі, хліб на кухні, їжі вистачить.",
    "ja": "鍵はテーブルの上にあります。",
    "zh": "钥匙在桌子上,面包在厨房里。",
    "ko": "열쇠는 탁자 위에 있습니다.",
    "el": "Είναι στο τραπέζι της κουζίνας.",
    "ar": "المفاتيح على الطاولة.",
    "he": "המפתחות על השולחן.",
    "hi": "चाबियाँ मेज़ पर हैं।",
    "th": "กุญแจอยู่บนโต๊ะ",
}


@for_each("code", SAMPLES)
async def test_a_language_is_known_by_its_letters_or_its_small_words(code: str) -> None:
    other, names = "de" if code != "de" else "en", language_names()

    right = await look("language", SAMPLES[code], pattern=code)
    wrong = await look("language", SAMPLES[code], pattern=other)

    assert language_of(SAMPLES[code]) == code
    assert right.result is Result.PASS
    assert wrong.error == f"it is in {names[code]}, not in {names[other]}"


async def test_of_a_short_text_nobody_can_be_sure() -> None:
    found = await look("language", "Sanur, Ubud, Kuta", pattern="de")

    assert (found.result, found.error) == (
        Result.SKIPPED,
        "not verified: too short to tell its language",
    )


LIST = "Here:\n\n- one\n- two\n  - deeper\n- three\n\nBye, all of you."


@for_each(
    ("text", "pattern", "error"),
    [
        ("Sanur.", "2-20", None),
        ("Sanur.", "20-2000", "6 characters, not 20-2000"),
        ("one two three", "<=3 words", None),
        ("one two three four", "<=3 words", "4 words, not <=3"),
        ("**one** [two](https://town.example/a/very/long/way)", "<=2 words", None),
        ("Yes. It is so.", ">=3 sentences", "2 sentences, not >=3"),
        ("One.\n\nTwo.", "2 paragraphs", None),
        (LIST, "3 items", None),
        (LIST, "4 items", None),
        (LIST, "5 items", "3 items, not 5"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "2 items", None),
        ("Bread, milk and salt", "3 items", None),
        ("Sanur.", "some words", "the pattern must look like 20-2000, <=200 words or 5 items"),
        ("Sanur.", "٢-٢٠", None),
    ],
)
async def test_length_is_counted(text: str, pattern: str, error: str | None) -> None:
    assert (await look("length", text, pattern=pattern)).error == error


TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"


@for_each(
    ("text", "pattern", "passes"),
    [
        (TABLE, "table", True),
        ("a is 1, b is 2", "table", False),
        (TABLE, "no-table", False),
        ("- a\n- b", "list", True),
        ("a and b", "list", False),
        ("Sun hats, sandals, swimming things, one warm layer for the plane.", "list", True),
        ("You need: sun hats; sandals; a book", "list", True),
        ("We went there, which was fine, and came back.", "list", False),
        ("- a\n- b", "points", True),
        ("Sun hats, sandals, swimming things, a book", "points", False),
        ('{"a": [1, 2]}', "json", True),
        ('```json\n{"a": 1}\n```', "json", True),
        ("[" * 100_000, "json", False),
        ("a,b\n1,2", "csv", True),
        ("a,b\n1", "csv", False),
        ("<b>Sanur</b>", "no-html", False),
        ("use `<b>` for bold, if 2 < 3 > 1", "no-html", True),
        ("[Sanur](https://bali.example)", "no-links", False),
        ("# Sanur", "no-headings", False),
        ("**Sanur**", "no-markdown", False),
        ("Sanur * 2", "no-markdown no-html", True),
        ("Sanur", "pretty", False),
        ("Sanur", "", False),
    ],
)
async def test_form_is_what_was_agreed(text: str, pattern: str, *, passes: bool) -> None:
    found = await look("form", text, pattern=pattern)

    assert (found.result is Result.PASS) is passes, found.error


HOLES = [
    *("Dear [Name],", "Dear [tenant name],", "Yours, [Ihr Name]", "Estimada {{nombre}}:"),
    *("Hi <name>!", "at XX:XX", "It costs €XX", "XXX", "am ____", "TODO: ask Ben"),
    *("Lorem ipsum dolor", "insert your address here", "hier Betrag einfügen"),
    *("As an AI language model, I cannot", "Als KI-Sprachmodell kann ich"),
    *("Como modelo de lenguaje no puedo", "${amount}"),
]
WHOLE = [
    "See [the plan](https://town.example) and [1].",
    "- [x] done\n- [ ] open",
    "Todo incluido, todo el día.",
    "TODO INCLUIDO",
    "The set {1, 2} and a_b__c",
    "He said [sic] nothing.",
    "Es war einmal [...] und so weiter",
    "if a < b and b > c",
]


@for_each("text", HOLES)
async def test_what_was_never_filled_in_is_seen(text: str) -> None:
    found = await look("no-placeholder", text)

    assert found.result is Result.FAIL
    assert "was left in" in (found.error or "")


@for_each("text", WHOLE)
async def test_brackets_and_capitals_are_no_holes(text: str) -> None:
    found = await look("no-placeholder", text)

    assert found.result is Result.PASS, found.error


async def test_who_asks_for_a_template_gets_one() -> None:
    template = await look("no-placeholder", "Dear [Name],", ask="Make a template for a letter")
    quoted = await look("no-placeholder", "It says [Name].", ask="What does [Name] mean?")

    assert (template.result, quoted.result) == (Result.PASS, Result.PASS)


async def test_what_is_said_twice_is_padding() -> None:
    said = "Paper bags are better for nature than plastic ones. "

    found = await look("no-padding", said * 3 + "They can be used again by everyone.")

    assert found.result is Result.FAIL
    assert "is said again" in (found.error or "")


async def test_filler_is_padding_even_if_it_is_never_the_same() -> None:
    text = (
        "It is important to note that bread matters to many. In conclusion, ovens are quite hot. "
        "Needless to say, flour comes from a mill. Our shop opens early in the morning."
    )

    found = await look("no-padding", text)

    assert found.result is Result.FAIL
    assert "are filler" in (found.error or "")


@for_each(
    "text",
    [
        "The ferry to Rock costs 4 pounds a trip. The ferry to Fowey costs 6 pounds a trip.",
        "Oh, the sea.\nThe wind is in my sails\nOh, the sea.\nMy heart is light\nOh, the sea.",
        "It is important to note that the pool is closed. Everything else is open as ever.",
        "",
    ],
)
async def test_a_refrain_or_two_facts_in_one_wording_are_no_padding(text: str) -> None:
    found = await look("no-padding", text)

    assert found.result is Result.PASS, found.error


async def test_what_must_be_mentioned_is_looked_for() -> None:
    assert (await look("mentions", "Go to SANUR", pattern="Sanur")).result is Result.PASS
    assert (await look("mentions", "Go home", pattern="Sanur")).error == "'Sanur' does not occur"
