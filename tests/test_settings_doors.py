"""The doors in the settings: what may be said, and how a mistake is named without a secret."""

from pathlib import Path

import pytest

from remit.errors import BadInput
from remit.settings import load
from remit.settings.doors import FolderSettings, HookSettings, InboundRule

POST = """
[channels.post]
kind = "email"
host = "mail.example.org"
sender = "nina@example.org"
imap_host = "mail.example.org"
"""
PHONE = '[channels.phone]\nkind = "whatsapp"\nnumber_id = "1"\ntoken = "t"\n'
BLIND = '[channels.blind]\nkind = "email"\nhost = "m.example.org"\nsender = "n@example.org"\n'


def written(home: Path, text: str) -> dict[str, str]:
    (home / "settings.toml").write_text(text, encoding="utf-8")
    return {"REMIT_HOME": str(home)}


def test_every_door_is_read_with_all_that_may_be_said(tmp_path: Path) -> None:
    text = (
        '[hooks.shop]\nsecret = "hook_shop"\ntitle = "/a/b"\nscheme = "github"\nhourly = 0\n'
        f'{POST}[doors.post]\nauthserv_id = "mx"\ncontacts = "start"\nstrangers = "drop"\n'
        '[folders.scans]\npath = "/data/scans"\ntrusted = true\n'
    )
    found = load(written(tmp_path, text))

    assert found.hooks == {
        "shop": HookSettings(secret="hook_shop", title="/a/b", scheme="github", hourly=0)
    }
    assert found.doors == {
        "post": InboundRule(authserv_id="mx", contacts="start", strangers="drop")
    }
    assert found.folders == {"scans": FolderSettings(path="/data/scans", trusted=True)}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hooks = 5", "must be a table of hooks"),
        ("[hooks.Shop]\nsecret = 'x'", "a name is of small letters"),
        ("[hooks.shop]\nhourly = 1", "secret"),
        ("[hooks.shop]\nsecret = 'whsec_AAAA/BBB='", "if it was the value, renew it"),
        ("[hooks.shop]\nsecret = 'x'\nurl = 'y'", "Known: secret, text, title"),
        ("[hooks.shop]\nsecret = 'x'\ntitle = 'name'", "such as /issue/title"),
        ("[hooks.shop]\nsecret = 'x'\nscheme = 'none'", "scheme may be any, standard"),
        ("[hooks.shop]\nsecret = 'x'\nchannel = ''", "leave it out for the dashboard"),
        ("[hooks.shop]\nsecret = 'x'\nlargest = 99999999", "largest must be from 1 to"),
        ("[hooks.shop]\nsecret = 'x'\nhourly = -1", "whole numbers, or 0"),
        ("[hooks.shop]\nsecret = 'x'\ntext = ' '", "text is empty"),
        (f"[hooks.shop]\nsecret = 'x'\ntext = '{'y' * 20_001}'", "text may have 20000"),
        ("[doors.post]\ncontacts = 'start'", "is about no channel that people write by"),
        (f"{BLIND}[doors.blind]\n", "say imap_host in [channels.blind]"),
        (f"{PHONE}[doors.phone]\nauthserv_id = 'x'", "authserv_id is of mail"),
        (f"{POST}[doors.post]\ncontacts = 'all'", "contacts may be start or keep"),
        (f"{POST}[doors.post]\nstrangers = 'start'", "they start none"),
        (f"{POST}[doors.post]\nfolder = ' '", "leave it out for INBOX"),
        (f"{POST}[doors.post]\npoll = 1", "at least 5 seconds"),
        ("[folders.scans]\npath = 'scans'", "path must be a full path"),
        ("[folders.scans]\npath = '/s'\npoll = 1", "at least 5 seconds"),
        ("[folders.scans]\npath = '/s'\nlargest = 0", "largest must be 1 to"),
    ],
)
def test_a_mistake_is_named_and_no_secret_with_it(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        load(written(tmp_path, text))
    assert sentence in str(refused.value)
    assert "AAAA" not in str(refused.value)
