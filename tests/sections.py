"""Sections of settings.toml, as tests write them."""

import json

from tests.live.loopback import HOST


def section(name: str, **fields: str | int) -> str:
    """One table of the settings; what JSON writes of these values is TOML, too."""
    lines = (f"{key} = {json.dumps(value)}\n" for key, value in fields.items())
    return "".join((f"[{name}]\n", *lines))


def mail_section(port: int = 9, imap_port: int | None = None, **more: str | int) -> str:
    """The mail channel `post` on loopback; on port 9 nobody listens."""
    fields: dict[str, str | int] = {
        "kind": "email",
        "host": HOST,
        "port": port,
        "security": "none",
        "sender": "nina@example.test",
        "owner": "hanan@example.test",
    }
    if imap_port is not None:
        fields |= {"imap_host": HOST, "imap_port": imap_port, "imap_security": "none"}
        fields |= {"imap_user": "nina@example.test", "imap_password": "mail"}
    return section("channels.post", **(fields | more))
