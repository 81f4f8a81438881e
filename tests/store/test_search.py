"""Lists of tasks: words, finished or not, and pages that show each task once."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.errors import BadInput, NotFound
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.status import Status
from remit.model.task import Priority
from remit.store import search, task_filter, tasks
from remit.store.search import TaskFilter
from tests.soak import examples
from tests.store.scene import Scene
from tests.tables import for_each


def found(scene: Scene, **wanted: object) -> list[str]:
    page = search.page(scene.tx, replace(TaskFilter(), **wanted))
    return [task.title for task in page.tasks]


# Filters ------------------------------------------------------------------------------------------


def test_a_page_shows_each_task_with_its_own_deliveries(scene: Scene) -> None:
    for n in range(4):
        sends = [Delivery("outbox", f"to {n}.{m}", id=scene.ids.delivery()) for m in range(n)]
        scene.admit(f"task {n}", delivery=tuple(sends))

    for task in search.page(scene.tx, TaskFilter()).tasks:
        n = int(task.title[-1])
        assert [each.recipient for each in task.delivery] == [f"to {n}.{m}" for m in range(n)]


@for_each("limit", [-1, 0, search.MOST + 1])
def test_a_page_has_a_size(scene: Scene, limit: int) -> None:
    with pytest.raises(BadInput, match="between 1 and 500"):
        search.page(scene.tx, TaskFilter(limit=limit))


def test_a_page_after_a_task_that_is_not_there_is_refused(scene: Scene) -> None:
    with pytest.raises(NotFound, match="no task task-x"):
        search.page(scene.tx, TaskFilter(before=TaskId("task-x")))


# Pages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wanted",
    [
        TaskFilter(limit=7),
        TaskFilter(limit=7, statuses=(Status.NEW, Status.READY)),
        TaskFilter(limit=7, text="task"),
        TaskFilter(limit=1, priority=Priority.LOW),
        TaskFilter(limit=50),
        TaskFilter(limit=51),
    ],
    ids=["all", "statuses", "words", "one at a time", "exactly", "more than there is"],
)
def test_pages_show_each_task_once_while_others_come_in(scene: Scene, wanted: TaskFilter) -> None:
    there = [(scene.ready if n % 3 else scene.admit)(f"task {n}").id for n in range(50)]
    seen: list[TaskId] = []
    while True:
        page = search.page(scene.tx, wanted)
        assert len(page.tasks) <= wanted.limit
        seen += [task.id for task in page.tasks]
        if page.next is None:
            break
        wanted = replace(wanted, before=page.next)
        for n in range(3):
            scene.admit(f"task that came meanwhile {n}")

    assert seen == list(reversed(there))


# Words --------------------------------------------------------------------------------------------


def test_words_are_found_in_title_text_and_result(scene: Scene) -> None:
    scene.admit("Call Ana", instructions="Ask about the Café Müller booking.")
    claim = scene.running("Find beaches")
    scene.finish(claim, "done", Status.COMPLETED, summary="Sanur is calm and shallow.")

    assert found(scene, text="ana") == ["Call Ana"]
    assert found(scene, text="cafe muller") == ["Call Ana"]
    assert found(scene, text="Sanur") == ["Find beaches"]
    assert found(scene, text="sha") == ["Find beaches"]  # the last word may be unfinished
    assert found(scene, text="sha calm") == []  # the others may not
    assert found(scene, text="calm beaches") == ["Find beaches"]
    assert found(scene, text="calm ana") == []


def test_what_is_found_follows_what_is_written(scene: Scene) -> None:
    claim = scene.running("Find beaches")
    scene.finish(claim, "retry", Status.RUNNING, due_at=scene.now, summary="Nothing yet.")
    (claim,) = scene.claim()
    scene.finish(claim, "done", Status.COMPLETED, summary="Sanur.")

    assert found(scene, text="nothing") == []
    assert found(scene, text="sanur") == ["Find beaches"]


@for_each("text", ["", " ", '"', "*", "()", "NEAR(", "- -", "🌊", "🌊🌊 *", "\x00"])
def test_a_search_without_a_word_is_refused_with_a_sentence(scene: Scene, text: str) -> None:
    if text == "NEAR(":
        assert found(scene, text=text) == []
        return
    with pytest.raises(BadInput, match="at least one word"):
        found(scene, text=text)


STRANGE = [
    'say "hello"',
    "NEAR(ana bob, 3)",
    "ana AND OR NOT",
    "title:ana",
    "ana*bob*",
    "^ana",
    "{title} : ana",
    "ana -bob",
    "o'brien",
    "snake_case_word",
    "___",
    "_ ana _",
    "ครับผม",
    "ที่นี่ กรุงเทพฯ",
    "日本語 の テスト",
    "مرحبا بالعالم",
    "naïve Ünïcödé",
    "ana 🌊",
    "²³½ ⅷ",
    "a" * 5000,
    " ".join(f"w{n}" for n in range(3000)),
    "ana\x00bob",
    "ana\ud800",
    "'; DROP TABLE tasks; --",
]


@pytest.mark.parametrize("text", STRANGE)
def test_whatever_is_typed_is_words_and_nothing_else(scene: Scene, text: str) -> None:
    # Postgres cannot hold a NUL.
    written = text.encode(errors="replace").decode().replace("\0", "\ufffd")
    scene.admit(written)
    scene.admit("Something else")

    shown = found(scene, text=text)

    assert shown in ([written], [])
    assert "Something else" not in shown


def test_thai_and_underscores_are_found_as_they_are_written(scene: Scene) -> None:
    scene.admit("ซื้อตั๋ว ไปกรุงเทพ")
    scene.admit("rename snake_case_word")

    assert found(scene, text="กรุงเทพ") == []  # it stands inside a word, and nobody cuts Thai
    assert found(scene, text="ไปกรุง") == ["ซื้อตั๋ว ไปกรุงเทพ"]
    assert found(scene, text="snake_case_word") == ["rename snake_case_word"]
    assert found(scene, text="case_w") == ["rename snake_case_word"]


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(max_size=40))
def test_no_text_at_all_breaks_the_search(scene: Scene, text: str) -> None:
    try:
        page = search.page(scene.tx, TaskFilter(text=text))
    except BadInput:
        return
    assert page.tasks == ()


# Ids ----------------------------------------------------------------------------------------------


def test_the_shortest_part_of_an_id_that_is_enough_finds_it(scene: Scene) -> None:
    made = [scene.admit().id for _ in range(5)]

    assert tasks.ids_like(scene.tx, made[0]) == [made[0]]
    assert tasks.ids_like(scene.tx, made[0][:10]) == sorted(made)[:3]
    assert tasks.ids_like(scene.tx, "task-7") == []


# Unfinished words ---------------------------------------------------------------------------------

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
        patch.setattr(task_filter, "_ENDINGS", 10**6)
        finished = search.ids(shelf.tx, TaskFilter(text=said))
        patch.setattr(task_filter, "_ENDINGS", 0)
        unfinished = search.ids(shelf.tx, TaskFilter(text=said))

    assert finished == unfinished


@pytest.mark.only_sqlite("Postgres finds words by their beginning itself")
def test_of_many_words_that_begin_alike_none_is_listed(scene: Scene) -> None:
    for n in range(task_filter._ENDINGS):
        scene.admit(f"w{n}")
    assert task_filter.read_words(scene.tx, "w").terms == task_filter._ENDINGS

    scene.admit("wx")

    assert task_filter.read_words(scene.tx, "w") == task_filter.SearchWords('"w"*')
    assert len(search.ids(scene.tx, TaskFilter(text="w"))) == task_filter._ENDINGS + 1


@for_each("said", ["über", "snake_case", "_ w", "日本", "ครับ w"])
def test_a_word_that_the_index_may_fold_otherwise_is_left_to_it(scene: Scene, said: str) -> None:
    assert task_filter.read_words(scene.tx, said).terms is None


@pytest.mark.only_sqlite("Postgres finds words by their beginning itself")
def test_a_word_is_common_beyond_a_number_of_tasks(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_filter, "MANY_TASKS", 3)
    for _ in range(3):
        scene.admit("pear")
    assert not task_filter.read_words(scene.tx, "pear").is_common

    scene.admit("pears")

    assert task_filter.read_words(scene.tx, "pear").is_common


@pytest.mark.only_sqlite("Postgres finds words by their beginning itself")
def test_a_rare_state_among_common_words_is_looked_up_and_no_word_is_walked(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_filter, "MANY_TASKS", 1)
    for _ in range(5):
        scene.admit("pear")
    wanted = search.prepare_filter(scene.tx, TaskFilter(text="pear", asks=True))

    (lead,) = search._rarest(scene.tx, wanted)

    assert lead.tables.startswith("(SELECT DISTINCT task_id FROM reviews")
    assert "tasks_text.rowid = tasks.no" in lead.tables
