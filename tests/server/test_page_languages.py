"""Pages in German and Spanish: every sentence has its translation, and no page shows English."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Final, cast

import httpx2
import pytest

from remit import server
from remit.language.sentences import (
    TRANSLATED,
    page_sentences,
    prefer_language,
    text_in_language,
)
from remit.server import page_language, static
from remit.server.web import shell
from remit.server.web.review_kinds import SORTS
from remit.settings import Settings
from remit.settings.forms import form_words
from remit.settings.parts import LanguageChoice
from tests.browser.furnish import Furnished
from tests.browser.shots import pages
from tests.server.served import LIMIT, TOKEN, Loopback, Served
from tests.tables import for_each

ROOT: Final = Path(server.__file__).parent
PLACE: Final = re.compile(r"{\d?}")
LIKE_A_SENTENCE: Final = re.compile(
    r"(?:↑ )?(?:[A-Z][a-z']+|\d+|{\d})(?: [\w{}'-]+)+[.?!]?|[A-Z].* .*\.$"
)
SAYS: Final = {"say", "retell"}
NAMES: Final = {
    *("English", "Deutsch", "Español", "any", "standard", "github", "bearer"),
    *("Brave", "SearXNG", "Tavily"),
}
SHOWN: Final = {"aria-label", "title", "placeholder", "data-command"}


def _of_template(source: str) -> Iterator[str]:
    """Return every sentence of a template."""
    found = list[str]()
    page_language.translate_template(source, partial(_kept, found))
    yield from found
    yield from re.findall(r"\b_\('((?:[^'\\]|\\.)*)'", source)


def _of_script(source: str) -> Iterator[str]:
    """Return every string of a script that reads like a sentence."""
    found = list[str]()
    without_comments = re.sub(r"(?m)^\s*//.*", "", source)
    page_language.translate_script(without_comments, partial(_kept, found))
    yield from filter(LIKE_A_SENTENCE.fullmatch, found)


def _kept(found: list[str], sentence: str) -> str:
    found.append(sentence)
    return sentence


def _in_python() -> Iterator[str]:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            first = node.args[0] if node.args and node.func.id in SAYS else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


@cache
def _wanted() -> set[str]:
    """Return every sentence that the pages and their scripts can show."""
    found = set(_in_python())
    for source in shell.templates().values():
        found |= set(_of_template(source))
    for path in (static.FOLDER / "js").glob("*.js"):
        found |= set(_of_script(path.read_text("utf-8")))
    found |= set(_in_forms()) | set(_in_questions())
    return {each for each in found if re.search(r"[^\W\d_]{2}", PLACE.sub("", each))}


def _in_questions() -> Iterator[str]:
    """Yield the headline, the reason and the buttons of every kind of question."""
    for look in SORTS.values():
        yield from (look.title, look.why)
        yield from (text for button in look.acts for text in (button.word, button.asks))


def _in_forms() -> Iterator[str]:
    """Yield the title, the labels, the help and the choices of every form of the settings."""
    for words in form_words().values():
        yield from (str(words["title"]), str(words["about"]))
        for label in cast("Mapping[str, Sequence[str]]", words.get("fields") or {}).values():
            yield from label
        for choices in cast("Mapping[str, Mapping[str, str]]", words.get("choices") or {}).values():
            yield from (each for each in choices.values() if each not in NAMES)


@for_each("language", TRANSLATED)
def test_every_sentence_of_the_pages_is_in_the_catalogue(language: str) -> None:
    assert sorted(_wanted() - set(page_sentences(language))) == []


@for_each("language", TRANSLATED)
def test_a_translation_has_the_places_of_its_sentence(language: str) -> None:
    for english, other in page_sentences(language).items():
        assert sorted(PLACE.findall(english)) == sorted(PLACE.findall(other)), english
        assert not set(other) & set('<>"') - set(english), other  # it is put into markup as it is


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    with Furnished(tmp_path_factory.mktemp("furnished")) as app:
        app.furnish()
        yield app


class _Words(HTMLParser):
    """What a page says, and what its labels say."""

    def __init__(self) -> None:
        super().__init__()
        self.language = ""
        self.said: set[str] = set()
        self._tag = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        if tag == "html":
            self.language = dict(attrs)["lang"] or ""
        self.said |= {" ".join((value or "").split()) for name, value in attrs if name in SHOWN}

    def handle_data(self, data: str) -> None:
        if self._tag not in ("script", "style", "pre", "textarea"):
            self.said.add(" ".join(data.split()))


@for_each("language", TRANSLATED)
def test_no_page_shows_a_sentence_of_the_catalogue_in_english(
    app: Furnished, language: str
) -> None:
    known = page_sentences(language)
    english = {each for each, other in known.items() if other != each} - set(known.values())
    left: dict[str, set[str]] = {}
    with _browser(app, f"{language}, en;q=0.5") as browser:
        for name, address in pages(app).items():
            words = _Words()
            words.feed(browser.get(address).text)
            assert words.language == language, name
            if words.said & english:
                left[name] = words.said & english
    assert left == {}


def _browser(app: Furnished, accepted: str) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept-Language": accepted}
    return httpx2.Client(
        base_url=app.url,
        headers=headers,
        follow_redirects=True,
        transport=Loopback(),
        timeout=LIMIT,
    )


# Wrong input; `{letter}`, `{asked}` and `{task}` are things of the furnished app.
WRONG: Final[Sequence[tuple[str, dict[str, str]]]] = (
    ("/settings/edit", {"section": "contacts", "name": ""}),
    ("/settings/edit", {"section": "contacts", "name": "Bob", "channel": "post"}),
    ("/settings/edit", {"section": "contacts", "name": "Bob", "address": "a@example.org"}),
    (
        "/settings/edit",
        {"section": "contacts", "name": "Bob", "channel": "post", "address": "nope"},
    ),
    ("/settings/edit", {"section": "you", "zone": "Nowhere"}),
    ("/settings/edit", {"section": "you", "language": "fr"}),
    ("/settings/edit", {"section": "budget", "day_cents": "x"}),
    ("/settings/edit", {"section": "deliver", "quiet": "25"}),
    ("/settings/edit", {"section": "server", "public_url": "http://x"}),
    ("/settings/edit", {"section": "notices", "digest_at": "x"}),
    ("/settings/edit", {"section": "channels", "kind": "email", "name": "A B"}),
    ("/settings/edit", {"section": "channels", "kind": "email", "name": ""}),
    ("/settings/edit", {"section": "channels", "kind": "email", "name": "neu"}),
    ("/settings/edit", {"section": "calendars", "name": "neu", "url": "x"}),
    ("/settings/edit", {"section": "projects", "name": "neu", "path": "x"}),
    ("/settings/tokens", {"name": ""}),
    ("/settings/password", {"password": "x"}),
    ("/settings/contacts/policy", {"contact": "Nobody", "channel": "post", "policy": "allow"}),
    ("/settings/notices/test", {"way": "nowhere"}),
    ("/tasks/{task}/edit", {"title": "", "priority": "low", "version": "1"}),
    ("/tasks/{task}/pause", {"x": ""}),
    ("/inbox/{letter}", {"answer": "back", "text": ""}),
    ("/inbox/{letter}", {"answer": "approve", "text": "Hi", "digest": "other"}),
    ("/inbox/{asked}", {"answer": "answer", "text": ""}),
    ("/inbox/{letter}/later", {"at": "2020-01-01T08:00"}),
    ("/inbox/{letter}/later", {"at": "nonsense"}),
    ("/new", {"text": " "}),
)
ENGLISH: Final = re.compile(
    r"\b(?:the|is|of|not|you|your|it|its|has|have|must|there|what|when|from|give|choose|write|missing)"
    r"\b",
    re.IGNORECASE,
)
ALERT: Final = re.compile(
    r'(?:role="alert"|class="anywhere").*?>([^<]+)</(?:span|div|p)>', re.DOTALL
)


@for_each("language", TRANSLATED)
def test_no_refused_form_says_an_english_sentence(app: Furnished, language: str) -> None:
    places = {
        "letter": app.review_about("Bangkok"),
        "asked": app.review_about("Phuket"),
        "task": app.task_about("Bangkok"),
    }
    left = []
    with _browser(app, language) as browser:
        for path, fields in WRONG:
            answer = browser.post(path.format(**places), data=fields, headers={"Origin": app.url})
            assert answer.status_code in (400, 404, 409, 422), (path, fields)
            told = ALERT.search(answer.text)
            assert told, (path, fields)
            plain = re.sub(r"'[^']*'|`[^`]*`|\S+\.toml|task-\w+", "", unescape(told[1]))
            if ENGLISH.search(plain):
                left.append((path, fields, told[1]))

    assert left == []


def test_a_setting_decides_before_the_browser_and_before_the_message(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, language=LanguageChoice.GERMAN)
    try:
        with Served(tmp_path, settings=settings, works=True) as served:
            headers = {"Authorization": f"Bearer {TOKEN}", "Accept-Language": "es"}
            page = served.client.get(f"{served.url}/inbox", headers=headers).text
            made = served.post("/api/messages", {"text": "Send Ann the list by pigeon"})
        assert 'lang="de"' in page
        assert "Wer" in str(made["questions"])
    finally:
        prefer_language(LanguageChoice.AUTO)


ACCEPTED: Final = {
    "": "en",
    "de-DE,de;q=0.9,en;q=0.8": "de",
    "es": "es",
    "fr, es;q=0.7, en;q=0.8": "en",
    "fr, es;q=0.7": "es",
    "de;q=0": "en",
    "nonsense;q=x, de": "de",
}


@for_each("accepted", ACCEPTED)
def test_the_browser_says_which_language(accepted: str) -> None:
    assert page_language.preferred_language(accepted) == ACCEPTED[accepted]


def test_a_script_is_translated_and_imports_translated_ones() -> None:
    script = static.files()["de/js/dialogs.js"].raw.decode()

    assert "Keine Verbindung. Nichts wurde gesendet" in script
    assert f"./toast.js?v={static.files()['de/js/toast.js'].digest}" in script


def test_each_of_several_questions_is_translated_behind_its_number() -> None:
    asked = "2 things are open. 1: Who is 'Ben'? Nobody in your contacts is called that. 2: When?"
    shown = text_in_language(asked, "de", pages=True)
    assert shown.startswith("2 Dinge sind offen. 1: Wer ist 'Ben'? In deinen Kontakten heißt")


@for_each(
    ("english", "german", "spanish"),
    [
        (
            "Every Monday, Wednesday and Friday at 09:00",
            "Jeden Montag, Mittwoch und Freitag um 09:00",
            "Cada lunes, miércoles y viernes a las 09:00",
        ),
        (
            "Every Monday and Thursday at 07:45",
            "Jeden Montag und Donnerstag um 07:45",
            "Cada lunes y jueves a las 07:45",
        ),
        (
            "Every day at 08:00 and 17:00",
            "Jeden Tag um 08:00 und 17:00",
            "Cada día a las 08:00 y 17:00",
        ),
        (
            "Every month, on the first Monday at 09:00",
            "Jeden Monat am ersten Montag um 09:00",
            "Cada mes, el primer lunes a las 09:00",
        ),
        (
            "Every year, on day 3 of March at 10:00",
            "Jedes Jahr am 3. März um 10:00",
            "Cada año, el 3 de marzo a las 10:00",
        ),
        ("Salt, Pepper and Monday", "Salt, Pepper and Monday", "Salt, Pepper and Monday"),
    ],
)
def test_the_days_of_a_series_are_in_the_readers_language(
    english: str, german: str, spanish: str
) -> None:
    assert text_in_language(english, "de", pages=True) == german
    assert text_in_language(english, "es", pages=True) == spanish
