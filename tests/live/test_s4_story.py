"""S4 from end to end, by real processes: mail, rule, memory, question, restart, answer, lesson.

A mail comes in over IMAP, is ranked, reminded of earlier work, and its invitation waits for a
human; the process dies and comes back; the invitation is sent once. Nights later the same app has
learned how its owner ranks such mail, because he agreed to it.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.store import cues, events, search
from remit.store.read_only import open_read_only
from remit.store.secrets import Secrets
from tests.channels.mail.mail import PASSWORD, SERVERS, Box, box
from tests.channels.mail.mails import ANNA, US, mail_from
from tests.cli.terminal import Terminal, task_of
from tests.cli.terminal import wait_until as until
from tests.sections import mail_section

RANKED: Final = 8  # mails; with the two before, four of five are ranked by hand
SUBJECT: Final = "Schedule 30-min catch-up with Dr. Smith"
SETTINGS: Final = """
zone = "UTC"
[brain]
kind = "scripted"
[engine]
stop_limit = 1
parallel = 1
[contracts]
written = false
{post}
[doors.post]
authserv_id = "{us}"
contacts = "start"
poll = 5
[mcp.calendar]
command = {command}
policy = "ask"
"""
# First the answer to a call, so that a process that comes back does not call again.
BRAIN: Final = """
- when: 'noted: Tuesday'
  reply: |
    Both are free on Tuesday.
    <deliverable>The invitation for Tuesday, 10:00 to 10:30, is out.</deliverable>
- when: Any time on Tuesday
  use:
    - tool: calendar__note
      args: {text: 'Tuesday 10:00, 30 min, Dr. Smith'}
- when: slow
  seconds: 600
  reply: <deliverable>At last.</deliverable>
- reply: <deliverable>Read it.</deliverable>
"""
RULES: Final = """\
version: 1
rules:
  - name: meetings
    when: objective matches /catch-up/i
    priority: med
    because: people wait for an answer
default: low
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Box]:
    folder = tmp_path / "imap"
    folder.mkdir()
    with box(None, folder, SERVERS[0]) as found:
        yield found


@pytest.fixture
def seat(tmp_path: Path, server: Box) -> Terminal:
    found = Terminal(tmp_path, script=BRAIN)
    tool = [sys.executable, "-I", str(Path(__file__).with_name("mcp_server.py")), "good"]
    told = SETTINGS.format(
        post=mail_section(imap_port=server.port), us=US, command=json.dumps([*tool, str(tmp_path)])
    )
    (found.home / "settings.toml").write_text(told)
    (found.home / "contacts.yaml").write_text(f"- name: Dr. Smith\n  channels: {{email: {ANNA}}}\n")
    (found.home / "rules").mkdir()
    (found.home / "rules" / "priority.yml").write_text(RULES)
    Secrets(found.home).put("mail", PASSWORD)
    return found


def mail(server: Box, ident: str, subject: str, text: str) -> None:
    head = {"Message-ID": f"<{ident}@home.example>", "Subject": subject}
    server.put("INBOX", mail_from(ANNA, text, **head, References="<msg1@home.example>"))


def came(seat: Terminal, ident: str) -> str:
    """The task that a mail became, once it is there."""
    ref = f"<{ident}@home.example>"
    until(lambda: ref in sources(seat))
    return sources(seat)[ref]


def sources(seat: Terminal) -> dict[str, str]:
    with open_read_only(seat.home / "agent.db") as tx:
        return {task.source.ref: task.id for task in search.page(tx, search.TaskFilter()).tasks}


def is_watched(seat: Terminal) -> bool:
    """Whether the mailbox was looked at once: what comes from now on is read."""
    with open_read_only(seat.home / "agent.db") as tx:
        return bool(cues.mark(tx, "post").get("mark"))


def recorded(seat: Terminal, task: str) -> list[JsonMap]:
    """What was written down of each event of a task."""
    with open_read_only(seat.home / "agent.db") as tx:
        return [event.data for event in events.of_task(tx, TaskId(task))]


def why(seat: Terminal, task: str) -> str:
    return seat.run("why", task).out


def test_from_a_mail_to_what_was_learned_of_it(tmp_path: Path, seat: Terminal, server: Box) -> None:
    with seat.up() as up:
        until(lambda: is_watched(seat))
        mail(server, "m-0", "Catch-up with Dr. Smith: mornings suit her best", "As you asked.")
        earlier = came(seat, "m-0")
        seat.until(earlier, "completed")
        until(lambda: seat.run("recall", "--json").json["snippets"] == 1)
        mail(server, "m-1", SUBJECT, "Any time on Tuesday?")
        task = came(seat, "m-1")
        seat.until(task, "needs_review")
        _is_asked_about(seat, task)
        assert not (tmp_path / "notes").exists()
        up.kill()

    with seat.up():
        assert seat.type(("hitl",), ("a",)).code == 0
        seat.until(task, "completed")
        assert (tmp_path / "notes").read_text() == "note Tuesday 10:00, 30 min, Dr. Smith\n"
        assert earlier in str([line.get("recalled") for line in recorded(seat, task)])

    _ranked_by_the_owner(seat, server)
    with seat.up():
        _learned(seat)
        mail(server, "next", "News", "Hello.")
        last = came(seat, "next")
        assert "critical by the rule 'learned-from-home-example'" in why(seat, last)


def _is_asked_about(seat: Terminal, task: str) -> None:
    """As S4 writes it, in the file of the question and nowhere else."""
    path = seat.home / "hitl_queue" / f"{seat.review(task)}.json"
    until(path.exists)
    queued = json.loads(path.read_text())["task"]
    assert (queued["status"], queued["priority"]) == ("WAITING_HITL", "med")
    assert (queued["source"], queued["objective"]) == ("email:<m-1@home.example>", SUBJECT)
    assert queued["context"]["threads"] == ["<msg1@home.example>", "<m-1@home.example>"]
    assert queued["context"]["person"] == "Dr. Smith"
    assert "med by the rule 'meetings'" in why(seat, task)


def _ranked_by_the_owner(seat: Terminal, server: Box) -> None:
    """Many mails wait behind something slow, and the owner says how urgent each of them is."""
    with seat.up() as up:
        until(lambda: is_watched(seat))
        slow = seat.add("A slow one")
        seat.until(slow, "running")
        for n in range(RANKED):
            mail(server, f"n-{n}", f"News {n}", "Hello.")
            assert seat.run("edit", came(seat, f"n-{n}"), "--priority", "critical").code == 0
        up.kill()
    assert seat.run("cancel", slow).code == 0


def _learned(seat: Terminal) -> None:
    """The look back of a night, now: it proposes, the owner agrees, the file has the rule."""
    for n in range(RANKED):
        seat.until(came(seat, f"n-{n}"), "completed")
    looks = task_of(seat.run("reflect", "now", "--json"))["id"]
    assert seat.status(looks) == "needs_review"
    lines = [
        json.loads(line)
        for path in (seat.home / "reflections").glob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert len(lines) == RANKED + 3  # two that met, and one that was slow
    rules = seat.home / "rules" / "priority.yml"
    assert rules.read_text() == RULES
    assert seat.run("approve", looks).code == 0
    until(lambda: "sender_domain is home.example" in rules.read_text())
    assert rules.read_text().endswith(RULES.partition("rules:\n")[2])
