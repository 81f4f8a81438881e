"""The light side of a model brain: what it costs before it thinks, and what no gate lets out."""

import subprocess
import sys

from remit import gate
from remit.brain.choose import Secret
from remit.brain.progress import hold
from remit.model.reply import Deliverable, Reply
from tests.tables import for_each

HEAVY = ("pydantic_ai", "pydantic_graph", "openai", "anthropic", "httpx2", "tiktoken")

LIGHT = f"""
import asyncio, sys
from remit.brain import choose, models
from remit.model.reply import Prompt

class Wish:
    model, base_url, key_env, time_limit, token_limit = "anthropic:x", "", "", 1, 1
    extract = think = score = summarise = ""

models.ModelBrain(choose.choose_models({{"ANTHROPIC_API_KEY": "x"}}, Wish()))
nobody = models.ModelBrain(choose.choose_models({{}}, Wish()))
assert asyncio.run(nobody.think(Prompt("Hi"), session="s")).ask
heavy = [name for name in {HEAVY} if name in sys.modules]
assert not heavy, heavy
"""


def test_nothing_heavy_is_loaded_before_a_thought() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


@for_each(
    "text",
    [
        "",
        "<deliverable>Hi</deliverable>",
        "a <deliverable>Hi</deliverable> b <DELIVERABLE>Ho</ deliverable > c",
        "< deliverable >Hi< / deliverable >",
        "<deliverable>cut in the mid",
        "<deliverable\n>Hi</deliverable\n>",
    ],
)
def test_what_is_held_does_not_pass_and_says_why(text: str) -> None:
    held = hold(text, "it was cut off.")

    assert held.startswith("[Held: it was cut off.]")
    assert not isinstance(gate.judge(Reply(held), most=4096), Deliverable)
    assert "<deliverable>" not in held.replace(" ", "").replace("\n", "").casefold()


def test_a_held_text_keeps_its_words() -> None:
    held = hold("I compared 3 < 4.\n<deliverable>Hi <b>you</b></deliverable>", "why.")

    assert held == "[Held: why.]\n\nI compared 3 < 4.\n⟨deliverable⟩Hi <b>you</b>⟨/deliverable⟩"


def test_a_secret_is_scrubbed_whole_and_in_part() -> None:
    secret = Secret("sk-0123456789-abcdef")

    text = secret.scrub("a sk-0123456789-abcdef b sk-01234567 c 89-abcde d sk-0 e")

    assert text == "a … b …567 c … d sk-0 e"
    assert repr(secret) == "Secret(…)"
    assert f"{secret}" == "Secret(…)"
    assert Secret("").scrub("as it is") == "as it is"
