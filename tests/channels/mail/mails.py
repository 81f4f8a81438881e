"""Mails as a server hands them over, with its own authentication results."""

from email.message import EmailMessage
from typing import Final

US: Final = "mx.example.org"
OWNER: Final = "hanan@example.test"
ANNA: Final = "anna@home.example"
STRANGER: Final = "eve@evil.example"


def vouched(address: str, result: str = "pass") -> str:
    """Return our own server's authentication result."""
    return f"{US}; dmarc={result} header.from={address.rpartition('@')[2]}"


def written(text: str, *, kind: str = "plain", **more: str) -> bytes:
    """Return a mail with these headers, without empty ones."""
    heads = {
        "From": f"Somebody <{STRANGER}>",
        "To": "nina@example.test",
        "Subject": "A word",
        "Message-ID": "<m-1@home.example>",
        "Content-Type": f"text/{kind}; charset=utf-8",
        **more,
    }
    lines = [f"{name}: {value}" for name, value in heads.items() if value]
    return "\r\n".join([*lines, "", text.replace("\n", "\r\n"), ""]).encode()


def mail_from(address: str, text: str, *, result: str = "pass", **more: str) -> bytes:
    """Return a mail that our server checked."""
    vouch = {"Authentication-Results": vouched(address, result)}
    return written(text, **{**vouch, "From": f"Somebody <{address}>", **more})


def with_files(sender: str, *files: tuple[str, bytes], text: str = "Read the offer.") -> bytes:
    """Return a mail that our server checked, with attachments; its id is the sender's."""
    made = EmailMessage()
    made.set_content(text)
    for name, content in files:
        made.add_attachment(content, maintype="application", subtype="pdf", filename=name)
    whole = made.as_bytes()  # gives it its boundary
    more = {"Content-Type": str(made["Content-Type"]), "Message-ID": f"<files.{sender}>"}
    body = whole.partition(b"\n\n")[2].replace(b"\n", b"\r\n")
    return mail_from(sender, "", **more).partition(b"\r\n\r\n")[0] + b"\r\n\r\n" + body
