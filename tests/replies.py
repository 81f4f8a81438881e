"""Replies for the gate: hostile and broken ones with what is to be said of them, and good ones."""

from typing import Final

from remit.brain import prompt

_PAIRS = "exactly one pair"
_EMPTY = "The deliverable is empty."
_DECLINED = "declined"
_HIDDEN = "hidden character"
_SPELLING = "in another spelling"
_CODE = "stands in code or in a comment"


def _tagged(inside: str) -> str:
    return f"My work.\n<deliverable>{inside}</deliverable>"


# Rows 6 to 14 of the attacks on a deliverable: the name, the reply, what the owner is told.
HOSTILE: Final[dict[str, tuple[str, str]]] = {
    # 6, 7: more or less than one pair
    "two pairs": (f"{_tagged('evil')}\n{_tagged('good')}", _PAIRS),
    "a quoted pair first": (f"The mail said {_tagged('evil')}. {_tagged('good')}", _PAIRS),
    "nested": (_tagged("<deliverable>x</deliverable>"), _PAIRS),
    "unclosed": ("work <deliverable>x", _PAIRS),
    "unopened": ("work x</deliverable>", _PAIRS),
    "reversed": ("</deliverable>x<deliverable>", _PAIRS),
    "an extra close": (_tagged("x") + "</deliverable>", _PAIRS),
    "an extra open": ("<deliverable>" + _tagged("x"), _PAIRS),
    "two opens, one close": ("<deliverable>a<deliverable>b</deliverable>", _PAIRS),
    "no tags": ("Here are the results: Sanur.", "has no <deliverable> tags"),
    "nothing at all": ("", "has no <deliverable> tags"),
    "only space": (" \n\t ", "has no <deliverable> tags"),
    # 8: examples and echoes
    "in a code fence": ("```xml\n<deliverable>x</deliverable>\n```", _CODE),
    "in another fence": ("~~~\n<deliverable>x</deliverable>\n~~~", _CODE),
    "in an indented fence": ("1. a\n   ```\n<deliverable>x</deliverable>\n   ```", _CODE),
    "in inline code": ("Write `<deliverable>x</deliverable>` then.", _CODE),
    "in a comment": ("<!-- <deliverable>x</deliverable> -->", _CODE),
    "the placeholder": (
        _tagged("[Your standalone message for the recipient goes here]"),
        _DECLINED,
    ),
    "the instructions, echoed, and an answer": (prompt._FORMAT + _tagged("x"), _PAIRS),
    "the instructions, echoed alone": (prompt._FORMAT, _DECLINED),
    # 9: other spellings
    "upper case": ("<DELIVERABLE>x</DELIVERABLE>", _SPELLING),
    "mixed case": ("<Deliverable>x</Deliverable>", _SPELLING),
    "attributes": ('<deliverable lang="en">x</deliverable lang>', _SPELLING),
    "spaces": ("< deliverable >x</ deliverable >", _SPELLING),
    "full width": ("＜ｄｅｌｉｖｅｒａｂｌｅ＞x＜／ｄｅｌｉｖｅｒａｂｌｅ＞", _SPELLING),  # noqa: RUF001
    "zero width inside": ("<deliver\u200bable>x</deliver\u200bable>", _SPELLING),
    "one tag of two misspelt": ("<deliverable>x</Deliverable>", _PAIRS),
    "a misspelt close within": (_tagged("evil</deliverable > good"), _SPELLING),
    "a misspelt open within": (_tagged("evil <DELIVERABLE> good"), _SPELLING),
    # 10: a decline in any dress
    "none": (_tagged("NONE"), _DECLINED),
    "none in small": (_tagged("none"), _DECLINED),
    "none with a stop": (_tagged("None."), _DECLINED),
    "none in bold": (_tagged("**NONE**"), _DECLINED),
    "none in quotes": (_tagged('"NONE"'), _DECLINED),
    "none in code": (_tagged("`NONE`"), _DECLINED),
    "none in brackets": (_tagged("[NONE]"), _DECLINED),
    "none on a line": (_tagged("\n\nNONE\n\n"), _DECLINED),
    "not applicable": (_tagged("N/A"), _DECLINED),
    "null": (_tagged("null"), _DECLINED),
    "none and why": (_tagged("NONE: this would be a scam."), _DECLINED),
    "none, a dash and why": (_tagged("NONE – I cannot verify that."), _DECLINED),
    "none and why below": (_tagged("NONE\n\nI was not able to look it up."), _DECLINED),
    "none with zero width": (_tagged("N\u200bO\u200bN\u200bE"), _DECLINED),
    "none in Greek": (_tagged("\u039d\u039f\u039d\u0395"), _DECLINED),
    "none in Cyrillic": (_tagged("N\u041eN\u0415"), _DECLINED),
    "none in full width": (_tagged("ＮＯＮＥ"), _DECLINED),  # noqa: RUF001
    # 11: nothing to the eye
    "empty": (_tagged(""), _EMPTY),
    "space": (_tagged(" \n\t\u00a0\u3000"), _EMPTY),
    "zero width only": (_tagged("\u200b\u200c\u200d\u2060\ufeff"), _EMPTY),
    "Hangul filler": (_tagged("\u3164\u115f\u1160\uffa0"), _EMPTY),
    "braille blank": (_tagged("\u2800"), _EMPTY),
    "marks on nothing": (_tagged("\u034f\ufe0f"), _EMPTY),
    "a line separator": (_tagged("\u2028"), _EMPTY),
    # 12: what hides or turns text
    "right-to-left override": (_tagged("pay \u202e001\u202c now"), _HIDDEN),
    "isolates": (_tagged("a \u2066b\u2069"), _HIDDEN),
    "hidden tag text": (_tagged("hi\U000e0073\U000e0065\U000e006e\U000e0064"), _HIDDEN),
    "text hidden in a flag": (_tagged("🏴\U000e0073\U000e0065\U000e006e\U000e007f"), _HIDDEN),
    "NUL": (_tagged("a\x00b"), _HIDDEN),
    "an escape code": (_tagged("a\x1b[2Jb"), _HIDDEN),
    "a bell": (_tagged("a\x07b"), _HIDDEN),
    "a C1 control": (_tagged("a\x9bb"), _HIDDEN),
    "a lone return": (_tagged("good\revil"), _HIDDEN),
    "a lone surrogate": (_tagged("a\ud800b"), _HIDDEN),
    "private use": (_tagged("a\ue000b"), _HIDDEN),
    "no character at all": (_tagged("a\uffffb"), _HIDDEN),
    "zero width between letters": (_tagged("pass\u200bword"), _HIDDEN),
    "a byte order mark": (_tagged("a\ufeffb"), _HIDDEN),
    # 13, 14: size
    "a megabyte": (_tagged("x" * 1_000_000), "at most 262144 are read"),
    "one more than the channel takes": (_tagged("x" * 4097), "the channel takes 4096"),
}

GOOD: Final = (
    "Sanur.",
    "1",
    "?",
    "👍",
    "Don't forget to call mom",
    "None of the flights were on time.",
    "None, thankfully: all three arrived.",
    "Nonexistent pages: 4",
    "No news today.",
    "N/A values were left out of the table below.",
    "Null Island is at 0° N, 0° E.",
    "*Top beaches*\n\n1. Sanur\n2. Nusa Dua\n3. Jimbaran",
    "Three places for kids:\n\n• Lumphini Park\n• KidZania\n• Sea Life",
    "Family 👨‍👩‍👧‍👦, pirate 🏴‍☠️, rainbow 🏳️‍🌈 and a heart ❤️",
    "Flags: 🇹🇭 🇮🇩 🇪🇺 and 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿",
    "Skin tones 👋🏽 👩🏿‍🚀 and keycaps 1️⃣ #️⃣",
    "Young emoji: \U0001fae8 \U0001fae9",
    "สวัสดีครับ ตารางวันนี้มีสามอย่าง",
    "नमस्ते, क्‍ष और श्री",
    "سلام! می‌خواهم بیایم.",
    "שלום, הפגישה ב־9:00",
    "こんにちは、会議は午前9時です。",
    "안녕하세요. 오늘 일정입니다.",
    "Größe: 3 × 4 m², Straße frei, naïve façade – “gut”",
    "e\u0301 with a mark of its own, and a\u0323\u0302",
    "```python\nprint('hi')\n```",
    "Use `make test`, then `git push`.",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "# Report\n\n## Findings\n\nAll good.",
    "See https://example.org/a?b=c&d=e#f (in English).",
    "<b>Bold</b> is HTML, 2 < 3 and 5 > 4, a <- b.",
    'He said: "none of it", and left.',
    '{"answer": 42, "ok": true, "none": null}',
    "∑ x² ≤ ½ · √2 ≈ 0.7071 → ∞",
    "Price: €12.50, £10, ¥1,500, ₿0.001",
    "Dear Dr. Smith,\n\nwould Tuesday at 10:00 suit you?\n\nBest\nNina",
    "Line one\r\nline two, from a form in a browser\r\n\r\nline four",
    "a\tb\tc\n1\t2\t3",
    "The deliverables are due on Friday; the deliverable is this list.",
    "<!-- a comment that belongs to the message --> and text",
    "☎ +49 30 123456 ✉ anna@example.org",
    "[Your] brackets [are] fine, so is [x] a done box and [ ] an open one",
    "x" * 4096,
    "word " * 800 + "end",
    "NASA, NATO and NONESUCH are names",
)
