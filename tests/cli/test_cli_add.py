"""`remit add`: what was understood, what is asked, what is watched or attached; and a rehearsal."""

import asyncio
import json
import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from remit.files.kept_files import KeptFiles
from tests.cli.terminal import SETTINGS, Terminal
from tests.files.documents import pdf
from tests.live.site import Page, Site
from tests.soak import one_of

pytestmark = one_of("seat")

BOOK = """\
- name: Bob
  channels: {dashboard: bob}
"""


FORBIDS: Final = shlex.quote("Don't tell Bob about the party but find three parks for me")
# What is typed after `remit add`, and patterns that the receipt holds.
RECEIPTS: Final = {
    "'Hi! Remind me tomorrow at 9:30 to call mom.'": (
        r"Task +Call mom\n",
        r"Runs +\w{3} \S+ 09:30 \+0[12]:00 \(Europe/Berlin\) \(in .+\)\n",
        r"Clauses +declined: Hi! \(It asks for no task\.\)\n",
        r" +time: tomorrow at 9:30\n",
        r" +delivery: to call mom",
    ),
    "'Find two parks. Every weekday at 8:30 remind me to stretch.'": (
        r"(?ms)^Id +task-.*^Id +task-",
        r"Goes to +you, on dashboard\n",
        r"Repeats +every weekday at 08:30 \(Europe/Berlin\)\n",
    ),
    "'Erinnere mich in 3 Tagen um 9:30 an den Müll'": (
        r"Wann +(Mo|Di|Mi|Do|Fr|Sa|So) \d{4}-",
        r"\(in [23] d\)",
        "Ansehen mit: remit show",
    ),
    "'Recuérdame en 3 días llamar al médico'": (
        r"Cuándo +(lun|mar|mié|jue|vie|sáb|dom) \d{4}-",
        r"\(en [23] d\)",
        "Míralo con: remit show",
    ),
    "'Remind me to stretch' --in 2h --priority high": (
        r"Runs .*\(in 2 h\)\n",
        r"Priority +high, as you said\n",
    ),
    "'Thank you!' --as-is": (r"Task +Thank you!\n", r"(?s)\A(?!.*Clauses)"),
    "'Remind me tomorrow at 9' --text Hi --in 1d": (r"Runs .*\(in 1 d\)\n",),
    FORBIDS: (r"Don't tell Bob about the party \(You said not to\.\)", "three parks"),
    "'Find two parks. Also remind me now to stretch.' --wait": ("Lumphini Park", "stretch"),
    f"{FORBIDS} --dry-run": (
        r"Don't tell Bob about the party \(You said not to\.\)",
        "three parks",
    ),
}


def furnish(terminal: Terminal) -> None:
    settings = terminal.home / "settings.toml"
    settings.write_text('zone = "Europe/Berlin"\n' + settings.read_text())
    (terminal.home / "contacts.yaml").write_text(BOOK)


@pytest.mark.parametrize("typed", RECEIPTS)
def test_a_receipt_shows_all_that_was_understood(seat: Terminal, typed: str) -> None:
    said = seat.run("add", *shlex.split(typed))

    assert said.code == 0
    for pattern in RECEIPTS[typed]:
        assert re.search(pattern, said.out + said.err), said


def test_a_checklist_from_stdin_is_one_task(seat: Terminal) -> None:
    text = "# Trip\n- [ ] research hotels\n- [x] book flights\n- [ ] compare prices\n"
    said = seat.run("add", "-", stdin=text)

    assert said.code == 0
    for pattern in (
        r"Task +Trip\n",
        r"Work +compare prices\n",
        "declined: book flights .It is tick",
    ):
        assert re.search(pattern, said.out), said


def test_what_is_open_is_asked_and_the_answer_makes_it_run(seat: Terminal) -> None:
    waits = seat.run("add", "Remind me to water the plants", "--wait")
    said = seat.run("add", "Remind me to feed the cat")
    asked = re.search(r"remit answer (rev-\w+) ", said.out)
    task = re.search(r"task-\w+", said.out)
    assert asked, said
    assert task
    again = seat.run("answer", asked.group(1), "whenever")
    done = seat.run("answer", task.group(), "now", "--wait")

    assert (waits.code, said.code, again.code, done.code) == (4, 0, 0, 0)
    assert "Asks you: 'whenever' cannot be read as an answer." in again.out
    assert re.search(r"Runs +once you have answered\n", said.out)
    assert "When is the reminder due?" in said.out
    assert "When is the reminder due?" in waits.out
    assert done.out == "feed the cat\n"


def test_the_short_name_that_is_shown_is_enough_to_answer(seat: Terminal) -> None:
    added = seat.run("add", "Remind me later to feed the cat", "--json")
    (task,) = added.maps("tasks")
    short = str(task["id"]).removeprefix("task-")[:10]
    shown = re.search(r"remit answer (\S+) ", seat.run("show", short).out)
    assert shown

    said = seat.run("answer", shown[1], "tomorrow at 7:30")
    assert said.code == 0, said
    assert "remit answer" not in seat.run("show", short).out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("Thank you!", "No task. You are welcome."),
        ("What is the capital of France?", "No task. It is a question"),
        ("Danke dir, das war gut", "Keine Aufgabe. Gern geschehen."),
        ("Muchas gracias, todo bien", "Ninguna tarea. De nada."),
    ],
)
def test_talk_makes_no_task_and_is_told_why(seat: Terminal, words: str, why: str) -> None:
    said, waited = seat.run("add", words), seat.run("add", words, "--wait")

    assert (said.code, waited.code) == (0, 0)
    assert why in said.out
    assert why in waited.out


def test_the_receipt_is_the_card_of_the_message_in_its_language(seat: Terminal) -> None:
    said = seat.run("add", "Erinnere mich bald an den Müll. Erinnere mich irgendwann an den Arzt.")
    assert "Fragt dich: 2 Dinge" in said.out
    asked = re.search(r'remit answer (rev-\w+) "1: …"', said.out)
    assert asked, said.out
    first = seat.run("answer", asked.group(1), "morgen um 9:30")
    shown = seat.run("inbox", "--list")

    assert re.search(r"Aufgabe +Den Müll\n", said.out)
    assert re.search(r"Geht an +dich, über dashboard\n", said.out)
    assert re.search(r"Satzteile +Senden: ", said.out)
    assert "2 Dinge sind offen. 1: Wann soll es sein?" in said.out
    assert first.code == 0, first.err
    assert "Wann soll es sein? Es geht um: irgendwann." in shown.out


def test_a_program_gets_tasks_clauses_and_questions(seat: Terminal) -> None:
    said = seat.run("add", "Remind me tomorrow to call mom, and remind me at 9 today", "--json")
    talk = seat.run("add", "Thanks!", "--json")

    (question, *_), clauses = said.maps("questions"), said.maps("clauses")
    assert {
        "schema_version",
        "tasks",
        "clauses",
        "questions",
        "answer",
        "alike",
        "veto",
        "conditions",
        "reading",
        "card",
    } == said.json.keys()
    assert question["about"] == "time"
    assert question["taskId"] == said.maps("tasks")[0]["id"]
    assert clauses[0]["became"] == "delivery"
    assert (talk.maps("tasks"), talk.json["answer"]) == ([], "thanks")


def test_the_same_key_is_the_same_tasks(seat: Terminal) -> None:
    words = ("add", "Remind me at 23:58 to eat and remind me at 23:59 to sleep", "--key", "twice")
    first, again = seat.run(*words, "--json"), seat.run(*words, "--json")
    other = seat.run("add", "Something else", "--key", "twice")

    ids = [[task["id"] for task in said.maps("tasks")] for said in (first, again)]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 2
    assert other.code == 2


def test_a_rehearsal_stores_nothing(seat: Terminal) -> None:
    before = seat.run("ls", "--ids", "--all").out
    said = seat.run("add", "Tomorrow at 9 tell Bob that I am late", "--dry-run", "--json")
    shown = seat.run("add", "Remind me to call mom", "--dry-run")
    flagged = seat.run("add", "x", "--as-is", "--dry-run")

    (task,) = said.maps("tasks")
    assert said.code == 0
    assert {"title", "instructions", "type", "scheduled_for", "recurrence"} < task.keys()
    assert {"work", "delivery", "clauses"} < task.keys()
    assert task["delivery"] == [
        {"channel": "dashboard", "recipient": "Bob", "content": "I am late", "status": "pending"}
    ]
    assert shown.code == 4
    assert "When is the reminder due?" in shown.out
    assert flagged.code == 2
    assert seat.run("ls", "--ids", "--all").out == before


def test_the_receipt_says_that_you_are_asked_only_where_you_are(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (seat.home / "contacts.yaml").write_text(
        "- name: Bob\n  channels: {dashboard: bob}\n  policy: {dashboard: allow}\n"
        "- name: Anna\n  channels: {dashboard: anna}\n"
    )
    allowed = seat.run("add", 'Tell Bob "I am late"')
    asked = seat.run("add", 'Tell Anna "I am late"')
    (seat.home / "contacts.yaml").write_text("- name: Bob\n  colour: red\n")
    refused, doctor = seat.run("add", "Find two parks"), seat.run("doctor", REMIT_ZONE="Mars")
    named = seat.run("doctor", REMIT_ZONE="Asia/Tokyo").out

    assert "you are asked before it is sent" not in allowed.out
    assert "you are asked before it is sent" in asked.out
    # A book that cannot be read is named with its line, and a zone with whose it is.
    assert refused.code == 2
    for told in (refused.err, doctor.out):
        assert "contacts.yaml, line 2: it has 'colour'" in told
    assert "one looks like Europe/Berlin" in doctor.out
    assert "Asia/Tokyo, from the settings" in named
    assert "UTC, from the variable TZ" in seat.run("doctor").out


# A watch ------------------------------------------------------------------------------------------


PRICES = """\
- reply: <deliverable>The price list was read.</deliverable>
"""


async def test_a_watch_is_set_shown_and_looked_at(tmp_path: Path) -> None:
    async with Site({"/list": Page("<p>Bread: 4 EUR.</p>")}) as site:
        await asyncio.to_thread(_watched, Terminal(tmp_path, script=PRICES), site)
        assert len(site.heard) == 1


def _watched(seat: Terminal, site: Site) -> None:
    host = f'\n[web]\nown_hosts = ["{site.host}"]\n'
    (seat.home / "settings.toml").write_text(SETTINGS + host)
    watch = ("--every", "1h", "--watch", site.url("/list"), "--watch-for", r"Bread: (\d+)")
    with seat.up():
        receipt = seat.run("add", "Look at the price list", *watch)
        planned = seat.only()
        shown = seat.run("why", planned).out
        (ran,) = json.loads(seat.run("run", planned, "--wait", "--json").out)["tasks"]
        log = seat.run("log", ran["id"]).out
        wrong = seat.run("add", "Look", "--as-is", "--watch", "ftp://example.org")
        alone = seat.run("add", "Look", "--watch-for", "x")
        nowhere = seat.run("add", "Look", "--every", "1h", "--watch", "calendar:nope")

    target = f"{site.url('/list')} (Bread: (\\d+))"
    assert f"Runs only if changed {target}" in " ".join(receipt.out.split())
    assert f"Runs only if this changed: {target}." in shown
    assert ran["resultSummary"] == "The price list was read."
    assert "Looked whether something changed" in log
    assert (wrong.code, alone.code, nowhere.code) == (2, 2, 2)
    assert "Remit reads no calendar 'nope'" in nowhere.err
    assert "it may be an address" in wrong.err
    assert "--watch-for needs --watch" in alone.err


# Files --------------------------------------------------------------------------------------------


OFFER = pdf("The offer is 40 euros")
READS = "- reply: <deliverable>Read.</deliverable>\n"


def test_a_file_goes_with_a_task_and_survives_a_backup(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, script=READS)
    offer = tmp_path / "Offer März.pdf"
    offer.write_bytes(OFFER)
    told = seat.run("add", "Summarise this offer", "--file", str(offer), "--json")
    assert told.code == 0, told.err
    task = str(told.maps("tasks")[0]["id"])
    missing = seat.run("add", "x", "--file", str(tmp_path / "none"))
    assert (missing.code, "cannot be read" in missing.err) == (2, True)

    listed = seat.run("files", task, "--json").maps("files")
    assert [(each["name"], each["type"]) for each in listed] == [
        ("Offer März.pdf", "application/pdf")
    ]
    assert "Offer März.pdf" in seat.run("files", task).out
    assert "1 file of tasks" in seat.run("doctor").out

    saved = seat.run("backup", "--to", str(tmp_path / "backups"), "--json").json["backup"]
    kept = KeptFiles(seat.home / "tasks" / "files")
    (kept.folder / str(listed[0]["sha256"])).unlink()
    lost = seat.run("files", task, "--save", "Offer März.pdf")
    assert "not kept any more" in lost.err
    assert seat.run("restore", str(saved), "--yes").code == 0
    copy = tmp_path / "copy.pdf"
    assert (
        seat.run("files", task, "--save", str(listed[0]["sha256"])[:8], "--to", str(copy)).code == 0
    )
    assert copy.read_bytes() == OFFER
    assert seat.run("files", task, "--save", "Offer März.pdf", "--to", str(copy)).code == 2
    assert seat.run("files", task, "--save", "other").code == 3


# A rehearsal --------------------------------------------------------------------------------------


NOW = ("--now", "2026-03-02T10:00:00+01:00", "--tz", "Europe/Berlin")


def test_a_rehearsal_reads_on_the_clock_and_with_the_book_of_its_owner(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (seat.home / "contacts.yaml").write_text("- {name: Zoltan, channels: {email: z@example.org}}")
    words = ("rehearse", "extract", "Tell Zoltan tomorrow at 9: 'Hi'", "--json")
    said = seat.run(*words, "--now", "2026-03-02T10:00:00+01:00", REMIT_ZONE="Asia/Tokyo")

    assert said.code == 0
    (task,) = json.loads(said.out)["tasks"]
    assert task["scheduled_for"] == "2026-03-03T00:00:00.000Z"
    assert [(part["channel"], part["recipient"]) for part in task["delivery"]] == [
        ("email", "Zoltan")
    ]
    assert not (seat.home / "agent.db").exists()


def test_a_rehearsal_knows_the_channels_that_are_set_up_here(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    hook = '[channels.shop]\nkind = "webhook"\nurl = "https://shop.example.org/"\nsecret = "s"\n'
    (seat.home / "settings.toml").write_text(hook)
    (seat.home / "contacts.yaml").write_text("- {name: Zoltan, channels: {shop: z}}")
    text = "Tell Zoltan: 'Hi'"
    for words in (("rehearse", "extract", text, "--json"), ("add", text, "--dry-run", "--json")):
        (task,) = json.loads(seat.run(*words).out)["tasks"]
        (part,) = task["delivery"]
        assert (part["channel"], part["recipient"]) == ("shop", "Zoltan")
