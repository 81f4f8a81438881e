"""Files in and out over real sockets: Telegram, WhatsApp, mail, upload, and what a browser gets."""

import base64
import http.client
import os
from email import message_from_bytes, policy
from pathlib import Path
from typing import Final, cast

import pytest

from remit.channels.mail import letter
from remit.channels.mail.letter import MailContent
from remit.model.codec import Json, JsonMap
from remit.model.task import Taint, Task
from remit.model.task_file import FileContent
from remit.testing import script
from tests.brain.tooling import once, use
from tests.channels.mail.mail_app import MailApp
from tests.channels.mail.mails import ANNA as ANNA_MAIL
from tests.channels.mail.mails import OWNER, STRANGER, with_files
from tests.channels.mail.test_letter import KEY, NINA, NOW, TO
from tests.channels.telegram.bot_server import STRANGER as UNKNOWN_CHAT
from tests.channels.telegram.chat_town import Town, paired
from tests.channels.whatsapp.test_whatsapp_in import ANNA, BOOK, EVE, sent
from tests.channels.whatsapp.whatsapp import PERSON, Provider, tell
from tests.engine.rig import everything
from tests.files.documents import docx, pdf
from tests.live.channel_app import KEPT, NAME, WHATSAPP, ChannelApp
from tests.live.http_client import Client
from tests.tables import for_each

OFFER: Final = pdf("The offer is 40 euros")
HOSTILE: Final = (
    "Prices.csv",
    "Überweisung März 2026.pdf",
    'a"; filename="b.exe',
    "a\r\nBcc: eve@evil.example",
    "価格" * 18 + ".pdf",
    "a%22b.csv",
)


@for_each("name", HOSTILE)
def test_a_letter_carries_a_file_under_its_name_and_adds_no_line_to_its_head(name: str) -> None:
    file = FileContent(name, "text/csv", bytes(range(256)) * 40)
    made = letter.compose(MailContent(KEY, TO, "Hello.", files=(file, file)), NINA, NOW)
    parsed = message_from_bytes(made.wire, policy=policy.default)

    assert parsed["Bcc"] is None
    assert max(map(len, made.wire.split(b"\r\n"))) <= 100
    assert parsed.get_content_type() == "multipart/mixed"
    body, *files = parsed.iter_parts()
    assert [each.get_content_type() for each in body.iter_parts()] == ["text/plain", "text/html"]
    assert [each.get_payload(decode=True) for each in files] == [file.content] * 2
    shown = files[0].get_filename() or ""
    assert shown.replace("\r\n", "") == name.replace("\r\n", "")


@pytest.mark.parametrize(
    ("sender", "taint"), [(OWNER, "owner"), (ANNA_MAIL, "contact"), (STRANGER, None)]
)
async def test_the_file_of_a_mail_is_kept_for_whom_the_owner_knows(
    tmp_path: Path, sender: str, taint: str | None
) -> None:
    reads: list[Json] = [
        once(use("read_file", path="Offer.pdf")),
        {"reply": "<deliverable>Ok</deliverable>"},
    ]
    app = MailApp(tmp_path, brain=(brain := script(reads)))
    async with app.world as live:
        await app.came(with_files(sender, ("../../Offer.pdf", OFFER)))
        await live.run()
        tasks = await app.tasks()

    kept = tmp_path / "tasks" / "files"
    if taint is None:
        assert (tasks, kept.exists()) == ([], False)
        return
    assert [(each.name, each.type, each.taint) for each in tasks[0].files] == [
        ("Offer.pdf", "application/pdf", taint)
    ]
    assert "| The offer is 40 euros" in brain.heard[-1]


def test_a_file_sent_to_the_bot_is_kept_listed_and_given_only_to_be_saved(tmp_path: Path) -> None:
    with Town() as town, paired(tmp_path, town) as client:
        town.bot.files["F1"] = OFFER
        document: JsonMap = {"file_id": "F1", "file_name": "../Offer.pdf"}
        town.bot.write(caption="Summarise this offer for me", document=document)
        town.sent("Noted")
        town.bot.write(document=document)
        town.sent("again with words")
        town.bot.write(caption="Read this", document={"file_id": "gone", "file_name": "x.pdf"})
        town.sent("was not kept")
        town.bot.write(sender=UNKNOWN_CHAT, caption="Read this", document=document)
        (task,) = _tasks(client, "Summarise")
        (file,) = _files(client, task)
        assert (file["name"], file["type"], file["made"]) == ("Offer.pdf", "application/pdf", False)
        status, headers, content = _get(client, f"/api/tasks/{task}/files/{file['sha256']}")
        assert (status, content) == (200, OFFER)
        assert headers["content-disposition"] == "attachment; filename*=UTF-8''Offer.pdf"

        uploads(client, task)


def uploads(client: Client, other: str) -> None:
    """What is uploaded goes with a task; a browser never shows it; a hash alone opens nothing."""
    svg = b"<svg onload='alert(1)'></svg>"
    told = client.post("/api/files", {"name": "a\u202egvs.svg", "content": _coded(svg)})
    assert (told["name"], told["type"]) == ("agvs.svg", "image/svg+xml")
    named: JsonMap = {"logo.svg": told["sha256"]}
    task = client.add("Look at it", attachments=named, context={"attachments": [{"x": 1}]})
    place = f"/files/{told['sha256']}"
    status, headers, content = _get(client, f"/api/tasks/{task}{place}")
    assert (status, content, headers["content-type"]) == (200, svg, "application/octet-stream")
    assert headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert headers["x-content-type-options"] == "nosniff"
    assert _get(client, f"/api/tasks/{other}{place}")[0] == 404
    assert client.ask("POST", "/api/files", {"name": "a", "content": "%"})[0] == 422
    missing: JsonMap = {"a": "ab" * 32}
    assert client.ask("POST", "/api/tasks", {"text": "x", "attachments": missing})[0] == 404
    large: JsonMap = {"name": "a.txt", "content": _coded(os.urandom(2_000_000))}
    assert client.post("/api/files", large)["size"] == 2_000_000


def _coded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _tasks(client: Client, words: str) -> list[str]:
    listed = cast("list[JsonMap]", client.get("/api/tasks")["tasks"])
    return [str(each["id"]) for each in listed if words in str(each["title"])]


def _files(client: Client, task: str) -> list[JsonMap]:
    return cast("list[JsonMap]", client.get(f"/api/tasks/{task}/files")["files"])


def _get(client: Client, path: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", client._port, timeout=100)
    connection.request("GET", path, headers={"Authorization": f"Bearer {client._token}"})
    answer = connection.getresponse()
    try:
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


async def test_a_file_sent_by_whatsapp_is_fetched_for_the_owner_and_contacts(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "contacts.yaml").write_text(BOOK)
    async with Provider() as provider:
        door = f'[doors.{NAME}]\ncontacts = "start"\n'
        settings = WHATSAPP.format(url=provider.url) + door
        async with ChannelApp(home, settings, KEPT) as live:
            provider.media = {"m1": OFFER, "m2": docx("Dear Hanan")}
            paper: dict[str, object] = {
                "id": "m1",
                "filename": "Offer.pdf",
                "caption": "Summarise this for me",
            }
            for _ in range(2):
                await tell(live.hook, sent(PERSON, "document", paper, "wamid.1"))
            await tell(live.hook, sent(ANNA, "document", {"id": "m2", "filename": "L.docx"}, "w.2"))
            await tell(live.hook, sent(EVE, "document", {"id": "m1", "filename": "E.pdf"}, "w.3"))
            await live.world.app.talk.settled()
            tasks = await everything(live.world)
            asked = [each for each in provider.heard if "/blob/" in each.path]

    found = {file.name: (file.taint, task.taint) for task in tasks for file in task.files}
    assert found == {"Offer.pdf": ("owner", Taint.OWNER), "L.docx": ("contact", Taint.CONTACT)}
    assert len([each for each in tasks if _has(each, "Offer.pdf")]) == 1, "the same call twice"
    assert {each.path.rpartition("/")[2] for each in asked} == {"m1", "m2"}


def _has(task: Task, name: str) -> bool:
    return any(each.name == name for each in task.files)
