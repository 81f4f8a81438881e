"""A TOML text is changed in one place, and its comments, order and layout stay."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.formats.toml_edit import remove_table, set_values
from remit.settings import DEFAULT_FILE
from tests.tables import for_each, table

NOTICES = {"notices": {"done": ["conversation"]}}


@for_each(("text", "changed"), table(__file__, "changes"))
def test_one_value_changes_and_the_rest_stays(text: str, changed: str | None) -> None:
    result = set_values(text, NOTICES)

    before = tomllib.loads(text)
    expected = {**before, "notices": {**before.get("notices", {}), **NOTICES["notices"]}}
    assert tomllib.loads(result) == expected
    assert result == changed or changed is None
    assert all(line in result for line in text.splitlines() if line.startswith("# failed"))


LINES = st.sampled_from(
    [
        *("[notices]", "  [ notices ]  # why", "# [notices]", "[server]", "[engine.sources]", ""),
        *('done = ["push"]  # for now', "done=[]", '# done = ["none"]', "port = 7316"),
    ]
)


@given(st.lists(LINES, max_size=8))
def test_whatever_the_text_looks_like_nothing_else_changes(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    after = tomllib.loads(set_values(text, NOTICES))

    assert after == {**before, "notices": {**before.get("notices", {}), **NOTICES["notices"]}}


def test_a_table_is_added_at_the_end_and_taken_out_without_a_trace() -> None:
    tables: dict[str, dict[str, object]] = {
        "hooks.shop": {"secret": "hook_shop", "text": 'Say "yes"\nor no'},
        "projects.a-b": {"path": "/x", "commands": {"tests": [["make", "test"], ["tox"]]}},
    }
    text = set_values(DEFAULT_FILE, tables)
    added = tomllib.loads(text)

    assert text.startswith(DEFAULT_FILE)
    assert added["hooks"] == {"shop": tables["hooks.shop"]}
    assert added["projects"] == {"a-b": tables["projects.a-b"]}
    assert remove_table(remove_table(text, "projects.a-b"), "hooks.shop") == DEFAULT_FILE


@for_each("text", ["[notices\n", "notices = 3\n", "notices = []\n", "[[notices]]\n"])
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        set_values(text, NOTICES)
