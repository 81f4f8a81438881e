"""One strict reader for every YAML file: hostile ones are refused after a few events."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from remit.brain import scripted
from remit.contacts import book, edit
from remit.errors import BadInput
from remit.formats.yaml import MAX_DEPTH, load_yaml
from remit.plan import activities, priority
from remit.plan.activities import RulesFile
from remit.verify import critic

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "brackets": ("[" * 5_000, "nested too deep"),
    "braces": ("{" * 5_000, "nested too deep"),
    "dashes": ("- " * 5_000, "nested too deep"),
    "keys": ("? " * 5_000, "nested too deep"),
    "lines": ("".join(" " * n + "a:\n" for n in range(300)), "nested too deep"),
    "bomb": (BOMB, "points elsewhere"),
    "tag": ("!!python/name:os.system x", "has the tag"),
    "two": ("a: 1\n---\nb: 2\n", "one file holds one"),
    "twice": ("a: 1\nb: 2\na: 3\n", "line 3: it has 'a' twice; it stands in line 1 too"),
    "unclosed": ("a: [1,\n", "no YAML"),
}


def _contacts(text: str, place: Path) -> object:
    (place / book.FILE).write_text(text)
    return book.load(place / book.FILE)


def _changed_contacts(text: str, place: Path) -> object:
    (place / book.FILE).write_text(text)
    return edit.put(place / book.FILE, book.ContactEntry("Anna"))


def _script(text: str, place: Path) -> object:
    (place / "brain.yml").write_text(text)
    return scripted.load(place / "brain.yml")


READERS: dict[str, Callable[[str, Path], object]] = {
    "contacts": _contacts,
    "changed contacts": _changed_contacts,
    "activities": lambda text, _: activities.load_activities(RulesFile("mine.yml", text)),
    "priority": lambda text, _: priority.load_rules(text, "priority.yml"),
    "script": _script,
    "rubric": lambda text, _: critic.load_rubrics(text, "rubrics.yml"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_file_takes_longer_than_it_takes_to_refuse_it(
    reader: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    activities.default_activities()  # our own rules are read first, once
    drawn = 0
    parse = yaml.parse

    def counted(*args: object, **more: object) -> Iterator[object]:
        nonlocal drawn
        for event in parse(*args, **more):  # type: ignore[arg-type]
            drawn += 1
            yield event

    monkeypatch.setattr(yaml, "parse", counted)
    monkeypatch.setattr(yaml, "compose", None)  # which would follow aliases, and nest
    text, why = HOSTILE[kind]

    with pytest.raises(BadInput, match=why):
        READERS[reader](text, tmp_path)

    assert drawn < 4 * MAX_DEPTH


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_is_too_long_is_refused_unread(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml, "parse", None)
    with pytest.raises(BadInput, match="too long"):
        READERS[reader]("a" * 10_000_001, tmp_path)


def test_values_have_the_types_that_yaml_gives_them() -> None:
    text = "a: [1, 0x10, 1.5, yes, ~, 2026-03-02, '7', !!str 8]\nb: {c: }\n"

    read = load_yaml(text, "x.yml", field="x", max_chars=1000)

    assert read.to_json() == {
        "a": [1, 16, 1.5, True, None, "2026-03-02", "7", "8"],
        "b": {"c": None},
    }
    assert load_yaml("# nothing\n", "x.yml", field="x", max_chars=99).to_json() == {}
    for text in ("9" * 5_000, "!!int x", "!!float x", "!!bool x"):
        with pytest.raises(BadInput, match=r"line 1: it has .*, which is no (int|float|bool)"):
            load_yaml(text, "x.yml", field="x", max_chars=9_999).to_json()
    for text in ("!!map x", "!!seq {a: b}", "!!map [a]"):
        with pytest.raises(BadInput, match="has the tag"):
            load_yaml(text, "x.yml", field="x", max_chars=9_999)
