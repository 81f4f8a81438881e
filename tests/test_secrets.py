"""Secrets: kept for their owner alone, changed whole, and read by nobody by accident."""

import base64
import json
import logging
import os
import stat
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Final
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.cli.main import run
from remit.errors import BadInput, NotFound, StoreTrouble
from remit.store.redact import Redactor
from remit.store.secrets import MOST, SERVICE, Secrets, machine_ring
from remit.system.background import RedactingFilter
from tests.cli.terminal import Terminal
from tests.tables import for_each, table

CANARY: Final = "c4nary/of+the=house-83f1"
ADDRESS: Final = "https://hooks.example.com/services/T024BE7LD/B0X/a1b2c3d4e5"

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", fullmatch=True)
VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
VALUES = VALUES.filter(lambda text: bool(text.strip()))
KEYS = st.text(
    st.sampled_from("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789+/_-"),
    min_size=16,
    max_size=60,
).filter(lambda key: any(map(str.isdigit, key)) and any(map(str.isalpha, key)))


@dataclass
class Bunch:
    """A keyring in memory."""

    held: dict[tuple[str, str], str] = field(default_factory=dict)
    locked: bool = False
    priority: float = 5

    def get_password(self, service: str, username: str, /) -> str | None:
        self._open()
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str, /) -> None:
        self._open()
        self.held[service, username] = password

    def delete_password(self, service: str, username: str, /) -> None:
        self._open()
        del self.held[service, username]

    def _open(self) -> None:
        if self.locked:
            raise PermissionError(f"locked, with {CANARY} in it")


# Keeping ------------------------------------------------------------------------------------------


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.booleans())
def test_what_is_kept_is_given_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, kept: dict[str, str], ringed: bool
) -> None:
    home = tmp_path_factory.mktemp("home")
    ring = Bunch() if ringed else None
    for name, value in kept.items():
        Secrets(home, ring).put(name, value)

    again = Secrets(home, ring)

    assert again.names() == tuple(sorted(kept))
    assert {name: again.get(name) for name in kept} == kept
    assert (home / "secrets").exists() == (not ringed and bool(kept))


def test_the_file_is_for_its_owner_alone_whatever_the_mask(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    before = os.umask(0)
    try:
        Secrets(home).put("slack", CANARY)
        Secrets(home).put("other", "x")
    finally:
        os.umask(before)

    assert stat.S_IMODE((home / "secrets").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert [path.name for path in home.iterdir()] == ["secrets"]


def test_a_cut_while_writing_leaves_the_old_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Secrets(tmp_path)
    kept.put("slack", "old-one")

    def cut(_descriptor: int) -> None:
        raise OSError("the power went")

    monkeypatch.setattr(os, "fsync", cut)
    with pytest.raises(OSError, match="power"):
        kept.put("slack", "new-one")
    monkeypatch.undo()

    assert kept.get("slack") == "old-one"
    kept.put("slack", "newer")  # and what it left behind is in nobody's way
    assert kept.get("slack") == "newer"
    assert [path.name for path in tmp_path.iterdir()] == ["secrets"]


def test_two_who_write_at_once_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from remit.store.secrets import Secrets\n"
        "kept = Secrets(Path(sys.argv[1])); print('ready', flush=True); sys.stdin.readline()\n"
        "for n in range(40): kept.put(f'{sys.argv[2]}{n}', 'value')\n"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in "abc"
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=100)

    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert len(Secrets(tmp_path).names()) == 120


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o622, 0o777])
def test_a_file_that_others_can_read_or_write_is_not_used(tmp_path: Path, mode: int) -> None:
    kept = Secrets(tmp_path)
    kept.put("slack", CANARY)
    (tmp_path / "secrets").chmod(mode)

    for use in (lambda: kept.get("slack"), kept.names, lambda: kept.put("a", "b")):
        with pytest.raises(StoreTrouble, match="chmod 600") as refused:
            use()
        assert CANARY not in str(refused.value)


def test_a_link_or_a_folder_is_no_file(tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.write_text("{}")
    other.chmod(0o600)
    (tmp_path / "secrets").symlink_to(other)
    with pytest.raises(StoreTrouble, match="is a link"):
        Secrets(tmp_path).names()
    (tmp_path / "secrets").unlink()
    (tmp_path / "secrets").mkdir(mode=0o700)
    with pytest.raises(StoreTrouble, match="is no file"):
        Secrets(tmp_path).names()


def test_a_file_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Secrets(tmp_path)
    kept.put("slack", CANARY)
    path = tmp_path / "secrets"
    mode, inode, device, links, _, *rest = path.stat()
    found = os.stat_result((mode, inode, device, links, 4711, *rest))
    monkeypatch.setattr(os, "fstat", lambda _descriptor: found)

    with pytest.raises(StoreTrouble, match="somebody else"):
        kept.get("slack")


def test_a_file_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder")

    with pytest.raises(OSError, match="Not a directory"):
        Secrets(tmp_path / "home").names()


@pytest.mark.parametrize("text", ["{", f'["{CANARY}"]', f'{{"a": ["{CANARY}"]}}', "[" * 100_000])
def test_a_damaged_file_is_named_and_nothing_of_it_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "secrets").write_text(text)
    (tmp_path / "secrets").chmod(0o600)

    with pytest.raises(StoreTrouble, match="is damaged") as refused:
        Secrets(tmp_path).get("a")

    assert CANARY not in "".join(traceback.format_exception(refused.value))
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("", "v", "must be 1 to 64"),
        ("../x", "v", "must be 1 to 64"),
        ("1a", "v", "begin with a letter"),
        ("a b", "v", "must be 1 to 64"),
        ("a\n", "v", "must be 1 to 64"),
        ("a" * 65, "v", "must be 1 to 64"),
        ("a", "", "is empty"),
        ("a", " \n", "is empty"),
        ("a", "x" * (MOST + 1), "at most"),
        ("a", "half \ud800", "no text"),
        ("a", "x\0y", "a NUL"),
    ],
)
def test_what_cannot_be_kept_is_refused(tmp_path: Path, name: str, value: str, wrong: str) -> None:
    with pytest.raises(BadInput, match=wrong):
        Secrets(tmp_path).put(name, value)

    assert Secrets(tmp_path).names() == ()


def test_what_is_dropped_is_gone_and_what_is_not_there_is_named(tmp_path: Path) -> None:
    kept = Secrets(tmp_path)
    kept.put("slack", CANARY)
    kept.drop("slack")

    assert kept.names() == ()
    for use in (lambda: kept.drop("slack"), lambda: kept.get("slack"), kept.token("slack")):
        with pytest.raises(NotFound, match="no secret 'slack'"):
            use()
    assert CANARY not in (tmp_path / "secrets").read_text()


def test_a_token_is_asked_at_each_use(tmp_path: Path) -> None:
    kept = Secrets(tmp_path)
    kept.put("slack", "first")
    token = kept.token("slack")
    assert token() == "first"
    Secrets(tmp_path).put("slack", "second")

    assert token() == "second"


# The keyring --------------------------------------------------------------------------------------


def test_with_a_keyring_there_is_no_file_unless_there_was_one(tmp_path: Path) -> None:
    ring = Bunch()
    kept = Secrets(tmp_path, ring)
    kept.put("slack", CANARY)

    assert (kept.where, kept.get("slack")) == ("the keyring", CANARY)
    assert list(tmp_path.iterdir()) == []
    assert list(ring.held) == [(SERVICE, str(tmp_path))]
    assert Secrets(tmp_path / "another home", ring).names() == ()

    other = tmp_path / "other"
    Secrets(other).put("slack", "in the file")
    both = Secrets(other, ring)
    both.put("more", "too")
    assert both.get("slack") == "in the file"
    assert len(ring.held) == 1


@pytest.mark.parametrize("kept", [{"slack": CANARY}, {}], ids=["full", "empty"])
def test_secrets_move_from_the_keyring_to_the_file_whole(
    tmp_path: Path, kept: dict[str, str]
) -> None:
    ring = Bunch()
    held = Secrets(tmp_path, ring)
    for name, value in kept.items():
        held.put(name, value)
    held.move_to_file()
    held.move_to_file()  # a second time changes nothing

    assert ring.held == {}
    assert held.where == str(tmp_path / "secrets")
    assert {name: Secrets(tmp_path).get(name) for name in Secrets(tmp_path).names()} == kept
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o600


def test_a_keyring_that_does_not_open_is_named_and_nothing_of_it_is_told(tmp_path: Path) -> None:
    ring = Bunch()
    kept = Secrets(tmp_path, ring)
    kept.put("slack", CANARY)
    ring.locked = True

    for use in (
        lambda: kept.get("slack"),
        lambda: kept.put("a", "b"),
        lambda: kept.drop("slack"),
        kept.move_to_file,
    ):
        with pytest.raises(StoreTrouble, match="PermissionError") as refused:
            use()
        assert CANARY not in "".join(traceback.format_exception(refused.value))
        assert refused.value.__context__ is None
    assert not (tmp_path / "secrets").exists()


@dataclass
class Broken:
    """A module that has no keyring to give."""

    found: object

    def get_keyring(self) -> object:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.fixture
def as_module(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """What `import keyring` finds."""
    module = ModuleType("keyring")
    monkeypatch.setitem(sys.modules, "keyring", module)
    return module


@pytest.mark.parametrize(
    ("found", "good"),
    [
        (Bunch(priority=5), True),
        (Bunch(priority=1), True),
        (Bunch(priority=0.5), False),  # a plain file of the keyring's own
        (Bunch(priority=0), False),  # one that always fails
        (Bunch(priority=-1), False),  # one that forgets
        (object(), False),
        (RuntimeError("no bus"), False),
    ],
)
def test_only_a_keyring_that_keeps_is_one(
    as_module: ModuleType, found: object, good: bool, tmp_path: Path
) -> None:
    as_module.__dict__["get_keyring"] = Broken(found).get_keyring

    assert (machine_ring(tmp_path) is found) == good
    assert good or machine_ring(tmp_path) is None
    (tmp_path / "secrets").touch()
    assert machine_ring(tmp_path) is None, "the file is used, and no keyring is loaded"


def test_without_the_extra_there_is_no_keyring(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)

    assert machine_ring(tmp_path) is None


# Hiding -------------------------------------------------------------------------------------------


@given(KEYS, st.text(max_size=30), st.text(max_size=30))
def test_what_is_known_is_hidden_in_whatever_way_it_is_written(
    key: str, before: str, after: str
) -> None:
    hide = Redactor([key])
    raw = key.encode()
    forms = [
        key,
        quote(key, safe=""),
        json.dumps(key),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        raw.hex(),
    ]

    for form in forms:
        assert form.rstrip("=") not in hide(f"{before} {form} {after}")
        assert form.rstrip("=") not in hide.known(f"{before} {form} {after}")


@given(KEYS, st.data())
def test_a_piece_of_it_is_hidden_too(key: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(key) - 8))
    piece = key[start : start + 8]
    told = any(map(str.isdigit, piece)) and any(map(str.isalpha, piece))

    assert (piece in Redactor([key]).known(f"invalid key {piece}… given")) is not told


@given(st.text())
def test_what_holds_no_secret_stays_as_it_is(text: str) -> None:
    assert Redactor(["w8Kq-0paque-Zz31"]).known(text) == text


@for_each(
    ("secret", "text", "shown"),
    [
        ("abcdefgh1234", "<abcdefgh1234>", "<…>"),  # what lies side by side is one gap
        ("abcdefgh1234", "<cdefgh12> and <bcdefgh123>", "<…> and <…>"),
        ("abc", "abc", "abc"),  # too short to be told from a word
        ("abcd", "abcd", "…"),
        # A word that is part of a secret address may still be said.
        (ADDRESS, "Look at https://other.example.com/services for the hooks.", None),
        (
            ADDRESS,
            "at hooks.example.com: T024BE7LD is unknown",
            "at hooks.example.com: … is unknown",
        ),
    ],
)
def test_what_is_known_leaves_one_gap(secret: str, text: str, shown: str | None) -> None:
    assert Redactor([secret]).known(text) == (text if shown is None else shown)


def test_a_secret_of_several_lines_is_hidden_line_by_line() -> None:
    body = ["MIIEvQIBADANBgkqhkiG9w0B", "AQEFAASCBKcwggSjAgEAAoIB"]
    hide = Redactor(["-----BEGIN KEY-----\n" + "\n".join(body) + "\n-----END KEY-----"])

    said = hide.known(f"line 2: {body[1]}; and -----BEGIN KEY----- is its head")
    assert body[1] not in said
    assert "-----BEGIN KEY-----" in said


@for_each("text", table(__file__, "keys"))
def test_what_looks_like_a_key_is_hidden_without_being_known(text: str) -> None:
    said = Redactor()(f"before {text} after")

    assert "abcDEF123456" not in said
    assert "dXNlcjpwYXNz" not in said
    assert "…" in said
    assert said.startswith("before ")


@for_each("text", table(__file__, "no_keys"))
def test_what_only_sounds_like_a_key_may_be_read(text: str) -> None:
    assert Redactor()(text) == text


@for_each("bait", ["sk-", "eyJ", "://a:", "-----BEGIN PRIVATE KEY", "token=", "a1"])
def test_hiding_takes_a_time_that_grows_with_the_text_alone(bait: str) -> None:
    # 200,000 signs: what goes back over them for each would never end.
    hide = Redactor(["w8Kq-0paque-Zz31"])

    hide(bait * (200_000 // len(bait)))


def test_a_log_is_without_secrets_in_words_arguments_and_traces(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = logging.getLogger("remit.test_secrets")
    quiet = RedactingFilter(Redactor([CANARY]))
    log.addFilter(quiet)
    try:
        log.warning("It is %s.", CANARY, stack_info=True)
        try:
            int(f"bad key {CANARY}")
        except ValueError:
            log.exception("With %(a)s", {"a": CANARY})
        log.error("plain")
    finally:
        log.removeFilter(quiet)

    assert "It is …." in caplog.text
    assert "base 10: 'bad key …'" in caplog.text
    assert "plain" in caplog.text
    assert CANARY not in caplog.text


def test_what_was_handed_out_is_hidden_from_then_on(tmp_path: Path) -> None:
    Secrets(tmp_path).put("slack", CANARY)
    Secrets(tmp_path).put("other", "0ther-secret-value")
    kept = Secrets(tmp_path)
    assert kept.hide.known(CANARY) == CANARY
    kept.get("slack")

    assert kept.hide.known(f"<{CANARY}>") == "<…>"
    kept.learn_all()
    assert kept.hide.known("0ther-secret-value") == "…"


def test_no_repr_tells(tmp_path: Path) -> None:
    kept = Secrets(tmp_path, Bunch())
    kept.put("slack", CANARY)
    kept.get("slack")

    for thing in (kept, kept.hide, kept.token("slack"), kept.token("slack").__closure__):
        assert CANARY not in repr(thing)


# The door -----------------------------------------------------------------------------------------


def test_a_secret_is_set_listed_and_deleted_and_never_shown(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, script=None)
    said = [
        seat.run("secrets", "set", "slack", stdin=f"{CANARY}\n"),
        seat.run("secrets", "list", "--json"),
        seat.run("secrets"),
        seat.run("secrets", "set", "again", "--json", stdin="x\r\n"),
        seat.run("doctor"),
    ]
    assert Secrets(seat.home).get("slack") == CANARY
    assert Secrets(seat.home).get("again") == "x"
    said.append(seat.run("secrets", "delete", "slack"))

    assert said[1].json["names"] == ["slack"]
    assert said[2].out == "slack\n"
    assert Secrets(seat.home).names() == ("again",)
    assert [each.code for each in said if each.code] in ([], [said[4].code])
    assert [each for each in said if CANARY in each.out + each.err] == []


def test_on_a_terminal_it_is_asked_for_and_not_echoed(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, script=None)

    said = seat.type(["secrets", "set", "slack"], [CANARY])

    assert said.code == 0
    assert "slack:" in said.out
    assert CANARY not in said.out
    assert Secrets(seat.home).get("slack") == CANARY


def test_the_file_may_be_chosen_over_the_keyring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_module: ModuleType
) -> None:
    ring = Bunch()
    as_module.__dict__["get_keyring"] = lambda: ring
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    Secrets(tmp_path, ring).put("old", "kept")
    monkeypatch.setattr("remit.cli.tokens.value_of", lambda _name: CANARY)

    assert run(["secrets", "set", "slack", "--file"]) == 0

    assert ring.held == {}
    assert Secrets(tmp_path).names() == ("old", "slack")


@pytest.mark.parametrize(
    ("words", "stdin", "code"),
    [
        (("set", "slack"), b"", 2),
        (("set", "slack", CANARY), b"", 2),
        (("set", "../x"), b"value", 2),
        (("set", "slack"), b"\xff\xfe", 2),
        (("set", "slack"), b"x" * (MOST + 2), 2),
        (("delete", "slack"), b"", 3),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    tmp_path: Path, words: tuple[str, ...], stdin: bytes, code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "remit.cli.main", "secrets", *words],
        input=stdin,
        capture_output=True,
        env={**os.environ, "REMIT_HOME": str(tmp_path)},
        timeout=100,
        check=False,
    )

    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert CANARY.encode() not in done.stderr + done.stdout
    assert done.stderr.rstrip().endswith(b".")
