"""`remit rules`, `remit why`, `remit rehearse priority`, and what the doctor says of the rules."""

import json
from pathlib import Path
from typing import cast

from remit.model.codec import Json, JsonMap
from tests.cli.terminal import Terminal
from tests.tables import for_each, table

MINE = """\
version: 1
lists:
  banks: [bank.example]
rules:
  - name: parks
    when: objective matches /parks/i
    priority: high
    because: I need air
  - name: bank
    when: sender_domain in banks
    priority: critical
    because: money
"""
S4: JsonMap = {
    "task_id": "01JZ8Q4Y7N8WZ0V5T3K2M1P9RA",
    "created_at": "2025-06-23T03:15:00Z",
    "source": "email:<gmail_msg_id>",
    "objective": "Schedule 30-min catch-up with Dr. Smith",
    "context": {
        "person": "Dr. Anna Smith",
        "threads": ["<msg1>", "<msg2>"],
        "meeting_duration": "30m",
        "sender": "anna@bank.example",
        "sender_verified": True,
    },
    "priority": "high",
    "status": "NEW",
    "subtasks": [{"step": "propose_time_slots", "done": False}],
    "assigned_agent": "ToolingAgent",
    "last_updated": "2025-06-23T03:16:10Z",
    "tool_output": None,
    "result_summary": None,
}


def seated(tmp_path: Path, text: str = MINE) -> Terminal:
    seat = Terminal(tmp_path)
    (seat.home / "rules").mkdir()
    (seat.home / "rules/priority.yml").write_text(text)
    return seat


def written(tmp_path: Path, **more: Json) -> str:
    path = tmp_path / "task.json"
    path.write_text(json.dumps(S4 | more))
    return str(path)


# ls, check ----------------------------------------------------------------------------------------


def test_rules_are_listed_in_their_order_with_their_lines(tmp_path: Path) -> None:
    seat = seated(tmp_path)
    said, told = seat.run("rules"), seat.run("rules", "ls", "--json").json

    assert said.code == 0
    assert [line.split()[:3] for line in said.out.splitlines()[1:3]] == [
        ["5", "parks", "high"],
        ["9", "bank", "critical"],
    ]
    assert "sender_domain in banks" in said.out
    assert told["lists"] == {"banks": ["bank.example"]}
    assert cast("list[JsonMap]", told["rules"])[0] == {
        "name": "parks",
        "line": 5,
        "when": "objective matches /parks/i",
        "priority": "high",
        "because": "I need air",
    }
    assert (told["file"], told["default"], told["complaint"]) == ("rules/priority.yml", "low", None)


def test_a_wrong_line_is_named_by_check_by_ls_and_by_the_doctor(tmp_path: Path) -> None:
    seat = seated(tmp_path, MINE.replace("/parks/i", "/(?=parks)/"))
    why = "rules/priority.yml, line 6: it has a pattern that looks around ((?=)"

    for words in (("rules", "check"), ("rules",), ("rules", "test", "all")):
        said = seat.run(*words)
        assert said.code == 2
        assert why in said.err
    doctor = seat.run("doctor")
    assert doctor.code == 1
    assert why in doctor.out
    assert "until then the last good rules hold" in doctor.out


def test_another_file_is_checked_before_it_is_put_in_place(tmp_path: Path) -> None:
    seat, other = Terminal(tmp_path), tmp_path / "other.yml"
    other.write_text(MINE)
    ours = seat.run("rules")

    assert "These come with Remit; your own go into rules/priority.yml." in ours.err
    assert "set score = true under [priority]" in ours.err
    assert seat.run("rules", "check").out == "ok the rules that come with Remit: 3 rules\n"
    told = {"schema_version": 1, "file": str(other), "rules": 2, "right": True}
    assert seat.run("rules", "check", str(other), "--json").json == told
    assert seat.run("rules", "check", str(tmp_path / "none.yml")).code == 3


# test, why ----------------------------------------------------------------------------------------


def test_what_a_change_would_do_is_told_for_one_task_and_for_all(tmp_path: Path) -> None:
    seat, other = seated(tmp_path), tmp_path / "other.yml"
    other.write_text(MINE.replace("/parks/i", "/greet/i"))
    with seat.up():
        parks, greet, said = seat.add("Find two parks"), seat.add("Greet me"), None
        mine = seat.add("Greet him", "--priority", "low")
        for each in (parks, greet, mine):
            seat.until(each, "completed")
        said = seat.run("why", parks)
        asked = seat.run("why", parks, "--json").json

    assert (
        "Its priority is high by the rule 'parks': I need air (rules/priority.yml, line 5)."
        in said.out
    )
    rule = cast("JsonMap", cast("JsonMap", asked["priority"])["rule"])
    assert rule == {"name": "parks", "because": "I need air (rules/priority.yml, line 5)"}
    assert seat.run("rules", "test", "all").out == "0 of 2 would change\n"

    told = seat.run("rules", "test", "all", "--file", str(other))
    assert told.out.startswith("2 of 2 would change\n")
    assert "high → low" in told.out
    changes = seat.run("rules", "test", "all", "--file", str(other), "--json").json
    assert (changes["tasks"], changes["changed"]) == (2, 2)
    assert {
        str(each["id"]): (each["was"], each["wasBy"], each["now"], each["nowBy"])
        for each in cast("list[JsonMap]", changes["changes"])
    } == {parks: ("high", "parks", "low", "default"), greet: ("low", "default", "high", "parks")}

    assert "It would still be high by the rule 'parks'" in seat.run("rules", "test", parks).out
    one = seat.run("rules", "test", greet, "--file", str(other))
    assert f"It would be high by the rule 'parks': I need air ({other}, line 5)." in one.out
    as_json = seat.run("rules", "test", greet, "--file", str(other), "--json").json
    assert as_json["changes"] is True
    refused = seat.run("rules", "test", mine)
    assert (refused.code, refused.err.startswith("No rule ranks it")) == (2, True)


# rehearse -----------------------------------------------------------------------------------------


def test_a_task_as_s4_writes_it_is_rehearsed_and_nothing_is_stored(tmp_path: Path) -> None:
    seat = seated(tmp_path)
    said = seat.run("rehearse", "priority", written(tmp_path), "--json")

    assert said.json == {
        "schema_version": 1,
        "priority": "critical",
        "rule": {"name": "bank", "because": "money (rules/priority.yml, line 9)", "line": 9},
        "asksScore": False,
    }
    assert not (seat.home / "agent.db").exists()


def test_a_rehearsal_says_when_a_model_would_be_asked_and_takes_its_answer(tmp_path: Path) -> None:
    seat, task = Terminal(tmp_path), written(tmp_path)
    asks, scored = (
        seat.run("rehearse", "priority", task, *more) for more in ((), ("--score", "1"))
    )

    assert asks.out == "low by the rule 'default': no rule matched.\n"
    assert "A model would be asked" in asks.err
    assert scored.out == "high by the rule 'llm_score': fuzzy urgency; score 1.00: as you said.\n"
    assert scored.err == ""


def test_a_rehearsal_reads_stdin_other_rules_and_all_that_rules_ask_about(tmp_path: Path) -> None:
    seat, other = Terminal(tmp_path), tmp_path / "other.yml"
    asked = "{all: [series is any, channel is post, taint is public, created_by is agent]}"
    other.write_text(MINE.replace("objective matches /parks/i", asked))
    more: JsonMap = {
        "objective": "x",
        "series_id": "ser-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA",
        "channels": ["post"],
        "taint": "public",
        "created_by": "agent",
    }
    words = ("rehearse", "priority", "-", "--rules", str(other), "--json")

    assert seat.run(*words, stdin=json.dumps(more)).json["priority"] == "high"
    assert seat.run(*words, stdin='{"objective": "x"}').json["priority"] == "low"


@for_each(("text", "words", "code", "said"), table(__file__, "refused"))
def test_what_cannot_be_rehearsed_is_refused_in_a_sentence(
    tmp_path: Path, text: str | None, words: tuple[str, ...], code: int, said: str
) -> None:
    path = tmp_path / "task.json"
    path.unlink(missing_ok=True)
    if text is not None:
        path.write_text(text)
    found = Terminal(tmp_path).run("rehearse", "priority", str(path), *words)

    assert (found.code, said in found.err) == (code, True)
