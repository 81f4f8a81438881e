"""`[notices]`: for each kind its ways, and what is changed in the file from elsewhere."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.formats import toml_edit
from remit.model.conversation import KINDS, WAYS
from remit.settings import DEFAULT_FILE, NoticeSettings, load, sections

PHONE = '[channels.phone]\nkind = "bridge"\nurl = "http://127.0.0.1:9"\n'


def read(home: Path, text: str, **environ: str) -> NoticeSettings:
    (home / "settings.toml").write_text(text, encoding="utf-8")
    return load({"REMIT_HOME": str(home), **environ}).notices


def test_each_kind_has_its_ways(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        f"{PHONE}[notices]\nquestion = ['phone', 'push']\ndone = 'digest'\nfailed = 'none'\n"
        "lost = []\n"
        "urgent = ['question']\ndigest_over = ['phone', 'conversation']\ndigest_at = '07:30'\n",
        REMIT_NOTICES_MISSED="conversation, phone",
    )

    assert found.question == ("phone", "push")
    assert (found.done, found.failed, found.lost) == (("digest",), (), ())
    assert found.missed == ("conversation", "phone")
    assert (found.urgent, found.digest_over) == (("question",), ("phone", "conversation"))
    assert found.channels == ("phone",)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("done = ['pigeon']", "done in [notices] has 'pigeon'; it may be none alone, or some of"),
        ("done = ['none', 'push']", "says none and something else; choose one"),
        ("done = 3", 'must be a list such as ["conversation", "push"], or none'),
        ("done = [3]", 'must be a list such as ["conversation", "push"], or none'),
        ("urgent = ['tuesday']", "urgent in [notices] has 'tuesday'; it may be none, or some of"),
        ("digest_at = '8'", "digest_at in [notices]"),
        ("digest_over = ['push']", "digest_over in [notices] has 'push'; it may be one or more of"),
        ("digest_over = []\ndone = ['digest']", "digest_over in [notices] is empty"),
        ("link = 'nowhere'", "one looks like https://remit.example.org"),
        ("push = 'all'", "it may be bare or title"),
        ("asked = 'none'", "has no setting 'asked'"),
    ],
)
def test_a_wrong_value_is_refused_with_what_would_be_right(
    tmp_path: Path, said: str, sentence: str
) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, f"[notices]\n{said}\n")

    assert sentence in str(refused.value)


# Changed from elsewhere ---------------------------------------------------------------------------


def test_a_changed_value_stands_where_its_default_stood_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        DEFAULT_FILE + '\n[channels.phone]\nkind = "bridge"\nurl = "http://127.0.0.1:9"\n'
    )
    path.chmod(0o600)
    sections.set_values(path, {"notices": {"missed": ("phone",), "digest_at": "07:15", "done": ()}})
    sections.set_values(path, {"notices": {"missed": ("phone", "push")}})
    text = path.read_text()

    assert '\nmissed = ["phone", "push"]   # a run was missed, or left out by a rule\n' in text
    assert text.count("missed") == DEFAULT_FILE.count("missed")
    found = load({"REMIT_HOME": str(tmp_path)}).notices
    assert (found.missed, found.digest_at, found.done) == (("phone", "push"), "07:15", ())
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_without_the_table_or_no_file_at_all_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    sections.set_values(path, {"notices": {"done": ("push",)}}, 'owner = "Hanan"\n')

    assert path.read_text() == 'owner = "Hanan"\n\n[notices]\ndone = ["push"]\n'


@pytest.mark.parametrize(
    "text",
    [
        "[notices]\ndone = [\n",
        "notices = 3\n",
        "[notices]\nno_such_notice = 3\n",
    ],
)
def test_a_file_that_would_be_wrong_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(BadInput):
        sections.set_values(path, {"notices": {"done": ("conversation",)}})

    assert path.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["settings.toml"]


@given(
    st.dictionaries(
        st.sampled_from([news.value for news in KINDS]),
        st.lists(st.sampled_from(WAYS), unique=True).map(tuple),
    )
)
def test_whatever_is_written_is_read_back(values: dict[str, tuple[str, ...]]) -> None:
    text = toml_edit.set_values(DEFAULT_FILE, {"notices": values})
    found = tomllib.loads(text)["notices"]

    assert found == {name: list(ways) for name, ways in values.items()}
