"""Mails as a server hands them over, with its own word on who wrote them."""

from typing import Final

US: Final = "mx.example.org"
OWNER: Final = "hanan@example.test"
ANNA: Final = "anna@home.example"
STRANGER: Final = "eve@evil.example"


def vouched(address: str, result: str = "pass") -> str:
    """What our own server says on top of a mail."""
    return f"{US}; dmarc={result} header.from={address.rpartition('@')[2]}"


def written(text: str, *, kind: str = "plain", **more: str) -> bytes:
    """A mail with these heads; those that are empty are left out."""
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
    """A mail that our server looked at."""
    vouch = {"Authentication-Results": vouched(address, result)}
    return written(text, **{**vouch, "From": f"Somebody <{address}>", **more})
