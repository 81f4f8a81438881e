"""What is good goes out, to the letter; the false alarms are counted, not denied."""

from remit import gate
from remit.gate import Author, Objection
from remit.model.reply import Deliverable, Reply
from tests.gate.corpus import deliverables, frames, good

FEWEST = 320
MOST_FALSE_ALARMS = 0.01
WHATSAPP = 4096


def test_at_most_one_good_reply_in_a_hundred_is_held() -> None:
    replies = good()
    judged = {case.name: gate.judge(Reply(case.reply), most=WHATSAPP) for case in replies}

    held = {name: hold for name, hold in judged.items() if isinstance(hold, Objection)}

    assert len(replies) >= FEWEST
    assert len(held) <= MOST_FALSE_ALARMS * len(replies), held


def test_what_passes_is_sent_to_the_letter() -> None:
    for case in good():
        judged = gate.judge(Reply(case.reply), most=WHATSAPP)
        if isinstance(judged, Deliverable):
            assert judged.text == case.deliverable.strip(" \t\r\n"), case.name


def test_the_frame_of_a_deliverable_never_decides() -> None:
    passed = [text for _, text in deliverables() if _passes(text)]

    for frame in frames():
        for text in passed:
            reply = Reply(frame.replace("{deliverable}", text))
            assert isinstance(gate.judge(reply, most=WHATSAPP), Deliverable), (frame, text)


def test_no_good_text_of_the_owner_is_held() -> None:
    for name, text in deliverables():
        judged = gate.judge_text(text, most=WHATSAPP, author=Author.OWNER)
        assert isinstance(judged, Deliverable), name


def test_the_good_replies_differ() -> None:
    texts = [text for _, text in deliverables()]
    signs = "äñжλאمกनのгл요们\u200d\u200c\u200f"

    assert len(set(texts)) == len(texts)
    assert [sign for sign in signs if not any(sign in text for text in texts)] == []


def _passes(text: str) -> bool:
    return isinstance(gate.judge_text(text, most=WHATSAPP), Deliverable)
