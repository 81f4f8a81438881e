"""What is typed in a terminal: orders about tasks, standing wishes, the score of each reader."""

import asyncio
import json
from pathlib import Path
from typing import Final

import pytest

from remit.intake.exam import public_messages
from tests.cli.terminal import Terminal
from tests.intake.readings import perfect
from tests.live.vendor import Heard, Order, Vendor
from tests.live.wire import Answer, Call

ANNA: Final = '- name: Anna\n  channels: {email: "anna@example.org"}\n'
# Each line with what the answer to it says. Days of the week are in test_orders.py, which has a
# clock of its own.
SAID: Final = (
    ("approve it", "Nothing in this conversation waits for your approval."),
    ("stop", "There is nothing in this conversation to take back."),
    ("never message Anna after 10 pm", "Shall this be a rule from now on: Anna gets nothing"),
    ("Remind me in 30 days to call mom", "Task: Call mom"),
    ("mejor dentro de dos semanas", "«Call mom» corre ahora"),
    ("cancel the reminder", "“Call mom” is cancelled."),
    ("Every day at 9 remind me to water the plants", "Task: Water the plants"),
    ("skip the next one", "“Water the plants” is left out"),
    ("überspringe den nächsten", "„Water the plants“ entfällt einmal"),
    # Short words: the language before counts. The run was skipped, so the series is meant.
    ("stop", "„Water the plants“ ist abgebrochen und läuft nicht mehr."),
)


def test_orders_and_wishes_in_a_chat_become_no_tasks_of_their_own(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (seat.home / "contacts.yaml").write_text(ANNA)
    with seat.up():
        said = seat.run("chat", stdin="".join(f"{line}\n" for line, _ in SAID))
        tasks = json.loads(seat.run("ls", "--json").out)["tasks"]

    answers = said.out.split("Remit: ")[1:]
    assert len(answers) == len(SAID), said.out
    for answer, (line, told) in zip(answers, SAID, strict=True):
        assert told in answer, (line, answer)
    assert sorted(str(task["title"]).split(":")[0] for task in tasks) == [
        "Call mom",
        "Shall this be a rule from now on",
        "Water the plants",
    ]


@pytest.mark.slow
async def test_the_labelled_messages_score_each_reader(tmp_path: Path) -> None:
    """A model over HTTP that reads everything as labelled scores better than the patterns."""
    readings = {each.text: perfect(each).model_dump_json() for each in public_messages()}

    def read(heard: Heard) -> Order:
        prompt = json.loads(heard.text)["messages"][-1]["content"]
        message = json.JSONDecoder().raw_decode(prompt.rpartition("The message: ")[2])[0]
        return Order(Answer(call=Call("answer", readings[message])))

    seat = Terminal(tmp_path, script=None)
    async with Vendor() as vendor:
        vendor.decide = read
        (seat.home / "settings.toml").write_text(
            f'[brain]\nmodel = "openai-chat:tiny"\nbase_url = "{vendor.url}/v1"\n'
        )
        words = ("rehearse", "extract", "--labelled", "--json")
        said = await asyncio.to_thread(seat.run, *words, OPENAI_API_KEY="sk-of-the-test")

    assert said.code == 0, said.err
    plain, model = json.loads(said.out)["readers"].values()
    for marks in (plain, model):
        assert sum(sum(each.values()) for each in marks.values()) == len(public_messages())
        assert all(each["dangerous"] == 0 for each in marks.values())
    assert sum(each["right"] for each in model.values()) > sum(e["right"] for e in plain.values())
