"""Where vectors are kept: one contract for the index in memory, Qdrant's engine, and its client.

No server can run here. Its adapter is tried with the client's own local mode, which has the same
calls; what a real server would say beyond that, nobody has seen.
"""

import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import StoreTrouble
from remit.model.ids import Ids, SessionId, TaskId, encode
from remit.model.likeness import IndexedTask
from remit.model.task import Taint
from remit.ports import SnippetStore
from remit.recall import snippets
from remit.recall.edge import EdgeStore
from remit.recall.vectors import VectorIndex
from remit.testing import FrozenClock
from tests.soak import examples

if TYPE_CHECKING:
    from remit.recall.server import ServerStore

Opens: TypeAlias = Callable[[], SnippetStore]

IDS: Final = Ids(FrozenClock().now, lambda bits: (1 << bits) // 3)
A, B, C = (IDS.task() for _ in range(3))
CANARY: Final = "Zq4711-CANARY-Wx"  # nothing before it shares a part of it, so none is packed away


@pytest.fixture(params=["memory", "edge", "server"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SnippetStore]:
    opened: SnippetStore
    if request.param == "memory":
        opened = VectorIndex(4)
    elif request.param == "edge":
        opened = EdgeStore(tmp_path, 4)
    else:
        opened = _in_memory()(4)
    yield opened
    opened.close()


def _in_memory() -> "Callable[[int], ServerStore]":
    """Open stores of one client, each for vectors of so many numbers."""
    from qdrant_client import QdrantClient  # noqa: PLC0415 - takes a second

    from remit.recall.server import ServerStore  # noqa: PLC0415 - takes a second

    return partial(ServerStore, QdrantClient(":memory:"))


def some(task_id: TaskId, *vector: float, session: str = "ses-1", text: str = "") -> IndexedTask:
    beside = {"task_id": task_id, "session": session, "taint": "contact", "text": text}
    return IndexedTask(task_id, vector, dict(beside))


def test_the_nearest_comes_first_with_what_stands_beside_it(store: SnippetStore) -> None:
    store.put([some(A, 1, 0, 0, 0), some(B, 1, 1, 0, 0), some(C, 0, 0, 0, 1)])

    found = store.near((1, 0.1, 0, 0), 2)

    assert [each.task_id for each in found] == [A, B]
    assert found[0].score > found[1].score > 0.5
    assert (found[0].session_id, found[0].taint) == (SessionId("ses-1"), Taint.CONTACT)


def test_a_session_can_be_left_out(store: SnippetStore) -> None:
    store.put([some(A, 1, 0, 0, 0, session="ses-a"), some(B, 1, 1, 0, 0, session="ses-b")])

    assert [each.task_id for each in store.near((1, 0, 0, 0), 5, [SessionId("ses-a")])] == [B]


def test_only_what_ended_so_can_be_asked_for(store: SnippetStore) -> None:
    store.put([some(A, 1, 0, 0, 0), some(B, 1, 1, 0, 0)])
    store.mark(B, {"task_id": B, "session": "ses-2", "taint": "owner", "status": "completed"})

    assert [each.task_id for each in store.near((1, 0, 0, 0), 5, (), "completed")] == [B]
    store.mark(B, {"task_id": B, "session": "ses-2", "taint": "owner", "status": "failed"})
    assert store.near((1, 0, 0, 0), 5, (), "completed") == []


def test_the_same_task_twice_is_one_with_the_newer_words(store: SnippetStore) -> None:
    store.put([some(A, 1, 0, 0, 0)])
    store.put([some(A, 0, 0, 0, 1)])

    assert store.count() == 1
    assert store.near((0, 0, 0, 1), 1)[0].score > 0.99


def test_what_stands_beside_changes_and_the_vector_stays(store: SnippetStore) -> None:
    store.put([some(A, 1, 0, 0, 0)])

    store.mark(A, {"task_id": A, "session": "ses-2", "taint": "public"})

    (found,) = store.near((1, 0, 0, 0), 1)
    assert found.score > 0.99
    assert (found.session_id, found.taint) == (SessionId("ses-2"), Taint.PUBLIC)


def test_what_is_dropped_or_cleared_is_not_found(store: SnippetStore) -> None:
    store.put([some(A, 1, 0, 0, 0), some(B, 1, 1, 0, 0)])

    store.drop([A])
    assert [each.task_id for each in store.near((1, 0, 0, 0), 5)] == [B]

    store.clear()
    assert (store.count(), store.near((1, 0, 0, 0), 5)) == (0, [])
    store.put([some(C, 1, 0, 0, 0)])
    assert store.count() == 1


def test_what_a_point_does_not_say_of_itself_is_trusted_least(store: SnippetStore) -> None:
    store.put([IndexedTask(A, (1, 0, 0, 0), {"task_id": A, "taint": "friend"})])

    assert store.near((1, 0, 0, 0), 1)[0].taint is Taint.PUBLIC


def test_the_name_of_a_point_is_the_tasks_own_and_no_other(store: SnippetStore) -> None:
    assert len({snippets.point(each) for each in (A, B, C)}) == 3
    assert snippets.point(TaskId("task-" + "0" * 25 + "1")).endswith("-000000000001")


@given(st.integers(1, 400), st.integers(1, 40), st.integers(0, 2**32))
@settings(max_examples=examples(30), deadline=None)
def test_the_index_in_memory_finds_what_a_comparison_with_each_finds(
    count: int, most: int, seed: int
) -> None:
    chance = Random(seed)  # noqa: S311 - a test
    ids = [TaskId(f"task-{encode(n + 1)}") for n in range(count)]
    vectors = {each: [chance.choice((-1.0, 1.0)) for _ in range(40)] for each in ids}
    index = VectorIndex(40)
    index.put([some(each, *vectors[each]) for each in ids[: count // 2]])
    index.put([some(each, *vectors[each]) for each in ids[count // 2 :]])
    gone = set(ids[:: chance.randint(2, 9)])
    index.drop(list(gone))
    asked = [chance.choice((-1.0, 1.0)) for _ in range(40)]

    found = index.near(asked, most)

    def likeness(task_id: TaskId) -> float:
        return sum(a * b for a, b in zip(asked, vectors[task_id], strict=True)) / 40

    best = sorted((likeness(each) for each in ids if each not in gone), reverse=True)[:most]
    assert [each.score for each in found] == pytest.approx(best, abs=1e-4)
    assert [likeness(each.task_id) for each in found] == pytest.approx(best)
    assert gone.isdisjoint(each.task_id for each in found)
    assert index.count() == count - len(gone)


def test_what_is_closed_is_there_again_when_it_is_opened(tmp_path: Path) -> None:
    first = EdgeStore(tmp_path, 4)
    first.put([some(A, 1, 0, 0, 0)])
    first.close()

    second = EdgeStore(tmp_path, 4)

    assert (second.count(), second.began_anew) == (1, False)
    second.close()


def test_a_second_process_is_told_so_in_a_sentence(tmp_path: Path) -> None:
    first = EdgeStore(tmp_path, 4)

    with pytest.raises(StoreTrouble, match="Another process uses the index"):
        EdgeStore(tmp_path, 4)

    first.close()
    EdgeStore(tmp_path, 4).close()


def test_vectors_of_another_length_begin_anew(tmp_path: Path) -> None:
    EdgeStore(tmp_path, 4).close()
    first = EdgeStore(tmp_path, 4)
    first.put([some(A, 1, 0, 0, 0)])
    first.close()

    second = EdgeStore(tmp_path, 8)

    assert (second.count(), second.began_anew) == (0, True)
    second.close()


def test_what_was_dropped_is_gone_from_every_file_once_it_is_tidied(tmp_path: Path) -> None:
    store = EdgeStore(tmp_path, 4)
    store.put([some(A, 1, 0, 0, 0, text=CANARY), some(B, 1, 1, 0, 0, text="stays")])
    assert holding(tmp_path, CANARY)

    store.drop([A])
    store.tidy()

    assert holding(tmp_path, CANARY) == []
    assert holding(tmp_path, "stays")
    assert [each.task_id for each in store.near((1, 0, 0, 0), 5)] == [B]
    store.close()
    assert holding(tmp_path, CANARY) == []


def test_a_server_that_is_not_there_is_named_in_a_sentence() -> None:
    from remit.recall import server  # noqa: PLC0415 - takes a second

    with pytest.raises(StoreTrouble, match="Qdrant server cannot be opened"):
        server.ServerStore(server.client("http://127.0.0.1:9"), 4)


def test_a_collection_for_other_vectors_is_begun_anew() -> None:
    opens = _in_memory()
    opens(4).put([some(A, 1, 0, 0, 0)])

    again = opens(8)

    assert (again.began_anew, again.count()) == (True, 0)


def holding(folder: Path, text: str) -> list[str]:
    found = subprocess.run(
        ["grep", "-rla", text, str(folder)], capture_output=True, text=True, check=False
    )
    return found.stdout.split()


def test_the_index_in_memory_keeps_nearly_all_true_neighbours_among_many_alike() -> None:
    chance = np.random.default_rng(7)
    middles = chance.normal(size=(20, 256))
    vectors = middles[np.arange(4_000) % 20] + chance.normal(scale=0.9, size=(4_000, 256))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [TaskId(f"task-{encode(n + 1)}") for n in range(4_000)]
    index = VectorIndex(256)
    index.put([some(each, *vector) for each, vector in zip(ids, vectors.tolist(), strict=True)])

    kept = 0
    for asked in vectors[:100]:
        true = {ids[row] for row in np.argsort(-(vectors @ asked))[:5]}
        kept += len(true & {each.task_id for each in index.near(asked.tolist(), 5)})

    assert kept >= 0.95 * 500
