"""Files at the terminal: with a task, listed, saved, in a backup and back again."""

from pathlib import Path
from typing import cast

from remit.files.kept_files import KeptFiles
from remit.model.codec import JsonMap
from tests.cli.terminal import Terminal
from tests.files.documents import pdf

OFFER = pdf("The offer is 40 euros")
SCRIPT = "- reply: <deliverable>Read.</deliverable>\n"


def test_a_file_goes_with_a_task_and_survives_a_backup(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, script=SCRIPT)
    offer = tmp_path / "Offer März.pdf"
    offer.write_bytes(OFFER)
    told = seat.run("add", "Summarise this offer", "--file", str(offer), "--json")
    assert told.code == 0, told.err
    task = _task(told.json)
    missing = seat.run("add", "x", "--file", str(tmp_path / "none"))
    assert (missing.code, "cannot be read" in missing.err) == (2, True)

    listed = cast("list[dict[str, str]]", seat.run("files", task, "--json").json["files"])
    assert [(each["name"], each["type"]) for each in listed] == [
        ("Offer März.pdf", "application/pdf")
    ]
    assert "Offer März.pdf" in seat.run("files", task).out
    assert "1 file of tasks" in seat.run("doctor").out

    saved = seat.run("backup", "--to", str(tmp_path / "backups"), "--json").json["backup"]
    kept = KeptFiles(seat.home / "tasks" / "files")
    (kept.folder / listed[0]["sha256"]).unlink()
    lost = seat.run("files", task, "--save", "Offer März.pdf")
    assert "not kept any more" in lost.err
    assert seat.run("restore", str(saved), "--yes").code == 0
    copy = tmp_path / "copy.pdf"
    assert seat.run("files", task, "--save", listed[0]["sha256"][:8], "--to", str(copy)).code == 0
    assert copy.read_bytes() == OFFER
    assert seat.run("files", task, "--save", "Offer März.pdf", "--to", str(copy)).code == 2
    assert seat.run("files", task, "--save", "other").code == 3


def _task(told: JsonMap) -> str:
    return cast("list[dict[str, str]]", told["tasks"])[0]["id"]
