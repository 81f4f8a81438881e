"""The words of a search: an unfinished one is finished, and finds what it found before."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.store import search, words
from remit.store.search import TaskFilter
from tests.soak import examples
from tests.store.scene import Scene
from tests.tables import for_each

SAID = ("inv", "INVOICE", "Lisbon inv", "müller in", "a", "a1", "in voice", "straße stra", "zz")
LETTERS = st.sampled_from("abAB1é²ßøЖ日-_. ")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    scene = Scene(tmp_path_factory.mktemp("words") / "agent.db")
    for title in (
        *("Invoice", "invoices Lisbon", "Invóice!", "in-voice", "inv_oice", "Müller invests"),
        *("a", "a1", "A1a", "ab", "straße", "Strasse strand", "strand straße", "ÅngStröm", "日本"),
    ):
        scene.admit(title)
    yield scene
    scene.close()


def _whole_walk(scene: Scene, match: str) -> list[int]:
    """What SQLite itself finds for an unfinished word."""
    found = scene.sql("SELECT rowid AS no FROM tasks_text WHERE tasks_text MATCH ?", match)
    return sorted(int(str(row["no"])) for row in found)


@pytest.mark.parametrize("said", SAID)
def test_a_finished_word_finds_what_the_unfinished_one_does(shelf: Scene, said: str) -> None:
    read = words.read(shelf.tx, said)
    *whole, last = said.split()

    assert read.terms is not None
    unfinished = " ".join(f'"{word}"' for word in whole) + f' "{last}"*'
    assert _whole_walk(shelf, read.match) == _whole_walk(shelf, unfinished)


@settings(
    max_examples=examples(200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(title=st.text(LETTERS, min_size=1, max_size=12), said=st.text("abAB1 é", max_size=5))
def test_whatever_letters_a_word_has_it_is_found_by_how_it_begins(
    shelf: Scene, title: str, said: str
) -> None:
    if not said.split():
        return
    shelf.admit(title)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_ENDINGS", 10**6)
        finished = search.ids(shelf.tx, TaskFilter(text=said))
        patch.setattr(words, "_ENDINGS", 0)
        unfinished = search.ids(shelf.tx, TaskFilter(text=said))

    assert finished == unfinished


@pytest.mark.only_sqlite("Postgres finds words by their beginning itself")
def test_of_many_words_that_begin_alike_none_is_listed(scene: Scene) -> None:
    for n in range(words._ENDINGS):
        scene.admit(f"w{n}")
    assert words.read(scene.tx, "w").terms == words._ENDINGS

    scene.admit("wx")

    assert words.read(scene.tx, "w") == words.SearchWords('"w"*')
    assert len(search.ids(scene.tx, TaskFilter(text="w"))) == words._ENDINGS + 1


@for_each("said", ["über", "snake_case", "_ w", "日本", "ครับ w"])
def test_a_word_that_the_index_may_fold_otherwise_is_left_to_it(scene: Scene, said: str) -> None:
    assert words.read(scene.tx, said).terms is None


@pytest.mark.only_sqlite("Postgres finds words by their beginning itself")
def test_a_word_is_common_beyond_a_number_of_tasks(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "MANY", 3)
    for _ in range(3):
        scene.admit("pear")
    assert not words.read(scene.tx, "pear").is_common

    scene.admit("pears")

    assert words.read(scene.tx, "pear").is_common


@pytest.mark.only_sqlite("Postgres finds words by their beginning itself")
def test_a_rare_state_among_common_words_is_looked_up_and_no_word_is_walked(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "MANY", 1)
    for _ in range(5):
        scene.admit("pear")
    wanted = search.prepared(scene.tx, TaskFilter(text="pear", asks=True))

    (lead,) = search._rarest(scene.tx, wanted)

    assert lead.tables.startswith("(SELECT DISTINCT task_id FROM reviews")
    assert "tasks_text.rowid = tasks.no" in lead.tables
