"""An entry is bound to all that was written before it."""

from hypothesis import assume, given
from hypothesis import strategies as st

from remit.model.codec import text_of
from remit.model.ids import encode
from remit.model.run import GENESIS, EventKind, chain
from remit.model.status import Actor
from tests.model.values import JSON, TEXT

Row = tuple[object, ...]

PLACES = st.integers(1, 2**63 - 1)
TASKS = st.none() | st.integers(0, 2**128 - 1).map(lambda number: "task-" + encode(number))
# As the journal writes it: where, whose, which, what, who, when, and the data last.
COLUMNS: tuple[st.SearchStrategy[object], ...] = (
    PLACES,
    TASKS,
    PLACES,
    st.sampled_from([kind.value for kind in EventKind]),
    st.sampled_from([actor.value for actor in Actor]),
    st.integers(0, 2**53),
    st.dictionaries(TEXT, JSON, max_size=3).map(text_of),
)
ROWS = st.tuples(*COLUMNS)


@given(ROWS)
def test_the_same_entry_after_the_same_past_gives_the_same_hash(row: Row) -> None:
    assert chain(GENESIS, row) == chain(GENESIS, tuple(row))
    assert len(chain(GENESIS, row)) == len(GENESIS) == 32


@given(ROWS, st.integers(0, len(COLUMNS) - 1), st.data())
def test_a_change_of_any_field_changes_the_hash(row: Row, place: int, data: st.DataObject) -> None:
    other = data.draw(COLUMNS[place])
    assume(other != row[place])

    assert chain(GENESIS, (*row[:place], other, *row[place + 1 :])) != chain(GENESIS, row)


@given(ROWS, ROWS)
def test_no_two_entries_read_alike(one: Row, other: Row) -> None:
    assert (chain(GENESIS, one) == chain(GENESIS, other)) is (one == other)


@given(st.lists(ROWS, min_size=2, max_size=4), st.data())
def test_what_was_written_before_cannot_be_changed_unseen(
    rows: list[Row], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    forged = data.draw(ROWS)
    assume(forged != rows[place])

    assert _last([*rows[:place], forged, *rows[place + 1 :]]) != _last(rows)
    assert _last([*rows[:place], *rows[place + 1 :]]) != _last(rows)


def _last(rows: list[Row]) -> bytes:
    last = GENESIS
    for row in rows:
        last = chain(last, row)
    return last
