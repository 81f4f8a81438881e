"""Forms that carry files: read byte for byte, or refused with a sentence."""

import hashlib
from urllib.parse import parse_qsl

import pytest

from remit.server.bodies import read_multipart
from remit.server.problem import RequestRefused
from tests.tables import for_each

KIND = "multipart/form-data; boundary=b"
PART = b'--b\r\nContent-Disposition: form-data; name="text"\r\n\r\nLook\r\n'
FILE = (
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n'
    b"Content-Type: a/b\r\n\r\n"
)
BROKEN = {
    "no end": PART,
    "another border": PART.replace(b"--b", b"--c") + b"--c--\r\n",
    "no name": b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n",
    "no head": b"--b\r\nx\r\n--b--\r\n",
    "words before it": b"x" + PART + b"--b--\r\n",
    "too many parts": PART * 101 + b"--b--\r\n",
    "empty": b"",
}


def test_fields_and_files_come_as_they_were_sent() -> None:
    content = b"\r\n--a\r\n\x00--b\r\n\n"  # a border begins a line
    body = PART + FILE % "größe %22a%22.txt".encode() + content + b"\r\n--b--\r\n"
    fields, files = read_multipart(body, KIND)
    named = f'{hashlib.sha256(content).hexdigest()} größe "a".txt'
    assert parse_qsl(fields.decode()) == [("text", "Look"), ("file", named)]
    assert [(each.name, each.content) for each in files] == [('größe "a".txt', content)]


def test_a_field_without_a_chosen_file_carries_none() -> None:
    fields, files = read_multipart(PART + FILE % b"" + b"\r\n--b--\r\n", KIND)
    assert (parse_qsl(fields.decode()), files) == ([("text", "Look")], ())


@for_each("name", tuple(BROKEN))
def test_what_cannot_be_read_is_refused(name: str) -> None:
    with pytest.raises(RequestRefused, match="The form cannot be read"):
        read_multipart(BROKEN[name], KIND)


def test_a_form_says_its_border() -> None:
    with pytest.raises(RequestRefused):
        read_multipart(PART + b"--b--\r\n", "multipart/form-data")
