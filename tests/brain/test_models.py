"""The light side of a model brain: before it thinks, what no gate lets out, how vendors fail."""

import subprocess
import sys

import pytest
from pydantic_ai import exceptions as their

from remit import gate
from remit.brain import vendors
from remit.brain.choose import ModelConfig, Secret, Vendor
from remit.brain.progress import hold_back
from remit.errors import Permanent, StoreFull, Transient
from remit.model.reply import Ask, Deliverable, Reply
from tests.live.place import KEY
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
    held = hold_back(text, "it was cut off.")

    assert held.startswith("[Held: it was cut off.]")
    assert not isinstance(gate.judge(Reply(held), most=4096), Deliverable)
    assert "<deliverable>" not in held.replace(" ", "").replace("\n", "").casefold()
    words = hold_back("I compared 3 < 4.\n<deliverable>Hi <b>you</b></deliverable>", "why.")
    assert words == "[Held: why.]\n\nI compared 3 < 4.\n⟨deliverable⟩Hi <b>you</b>⟨/deliverable⟩"


def test_a_secret_is_scrubbed_whole_and_in_part() -> None:
    secret = Secret("sk-0123456789-abcdef")

    text = secret.scrub("a sk-0123456789-abcdef b sk-01234567 c 89-abcde d sk-0 e")

    assert text == "a … b …567 c … d sk-0 e"
    assert repr(secret) == "Secret(…)"
    assert f"{secret}" == "Secret(…)"
    assert Secret("").scrub("as it is") == "as it is"


# Failures of vendors ------------------------------------------------------------------------------


MODEL = ModelConfig(Vendor.ANTHROPIC, "x", None, "ANTHROPIC_API_KEY", Secret(KEY))

LATER = [
    their.ModelRateLimitError("x", "slow"),
    their.ModelOverloadedError("x", "busy"),
    their.ModelServerError("x", "oops"),
    their.ModelTimeoutError("x", "late"),
    their.ModelRequestTimeout("x", 3.0),
    their.ModelConnectionError("x", "reset"),
    their.ModelAPIError("x", "not JSON"),
    *(their.ModelHTTPError(code, "x") for code in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
    their.UnexpectedModelBehavior("odd"),
    TypeError("'NoneType' object is not iterable"),
]
NEVER = [
    their.ModelContextWindowExceededError("x", "long"),
    their.ModelRequestRejectedError("x", "bad"),
    *(their.ModelHTTPError(code, "x") for code in (307, 405, 413, 415)),
    their.UsageLimitExceeded("much"),
    their.UserError("wrong"),
]
OWNER = [
    their.ModelAuthenticationError("x", "no"),
    their.ModelQuotaExceededError("x", "broke"),
    their.ModelNotFoundError("x", "who"),
]


def _name(error: Exception) -> str:
    return f"{type(error).__name__}-{getattr(error, 'status_code', '')}"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        *((each, Transient) for each in LATER),
        *((each, Permanent) for each in NEVER),
        *((each, Ask) for each in OWNER),
        (StoreFull("agent.db", "no room"), StoreFull),  # our own errors stay what they are
    ],
    ids=lambda each: _name(each) if isinstance(each, Exception) else "",
)
def test_a_failure_is_for_the_engine_or_for_the_owner(
    error: Exception, kind: type[Exception | Ask]
) -> None:
    assert isinstance(vendors.classify_error(error, MODEL), kind)


def test_every_error_of_the_library_is_known() -> None:
    """A new kind falls to the widest row; that it may is decided here, not by chance."""
    kinds = {
        kind
        for kind in vars(their).values()
        if isinstance(kind, type) and issubclass(kind, their.AgentRunError)
    }
    named = {row[0] for row in vendors._TABLE} - {Exception}

    assert {kind.__name__ for kind in kinds if not issubclass(kind, tuple(named))} - {
        "AgentRunError"
    } == {
        "ConcurrencyLimitExceeded",  # we set none
        "RunCancelled",  # we cancel the task, not the run
        "RunTimedOut",  # we limit the request, not the run
        "SuspendedResponseExpired",  # we ask for no work in the background
    }


@for_each("said", [f"Key {KEY} is bad", f"Key {KEY[:12]}… is bad", f"{KEY}{KEY}"])
def test_a_vendors_words_are_kept_and_the_key_in_them_is_not(said: str) -> None:
    error = their.ModelHTTPError(500, "x", {"error": {"message": said + "\n\x1b[31m" + "z" * 999}})

    sentence = str(vendors.classify_error(error, MODEL))

    assert KEY[:8] not in sentence
    assert "\x1b" not in sentence
    assert len(sentence) < 400


@for_each(("asked", "after"), [(None, None), (0.0, 0.0), (7.5, 7.5), (9e9, 3600.0)])
def test_how_long_to_wait_is_the_vendors_word_within_reason(
    asked: float | None, after: float | None
) -> None:
    failed = vendors.classify_error(
        their.ModelRateLimitError("x", "slow", retry_after=asked), MODEL
    )

    assert isinstance(failed, Transient)
    assert failed.after == after
