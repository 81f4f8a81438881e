"""A model's talk about its work is held in sixteen languages; what people write is not."""

from pathlib import Path

from remit import gate
from remit.gate import Objection
from remit.model.reply import Reply
from tests.tables import for_each, read_yaml

SETS = read_yaml(Path(__file__).with_name("machine_talk.yml").read_text("utf-8"))
LEAST_HELD = {"tuned": 1.0, "held_out": 0.9}
MOST_FALSE = {"tuned": 0.0, "held_out": 0.03}


@for_each("part", SETS)
def test_machine_talk_is_held_in_every_language_and_good_talk_is_not(part: str) -> None:
    leaks, good = (
        [text for language in SETS[part].values() for text in language[kind]]
        for kind in ("leak", "good")
    )

    passed = [text for text in leaks if not _is_held(text)]
    false = [text for text in good if _is_held(text)]

    assert len(passed) <= (1 - LEAST_HELD[part]) * len(leaks), passed
    assert len(false) <= MOST_FALSE[part] * len(good), false


def _is_held(text: str) -> bool:
    reply = Reply(f"Done.\n\n<deliverable>\n{text}\n</deliverable>\n")
    return isinstance(gate.judge(reply, most=4096), Objection)
