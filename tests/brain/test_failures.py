"""What a vendor's library throws, and who must act."""

import pytest
from pydantic_ai import exceptions as their

from remit.brain import vendors
from remit.brain.choose import ModelConfig, Secret, Vendor
from remit.errors import Permanent, StoreFull, Transient
from remit.model.reply import Ask
from tests.live.place import KEY
from tests.tables import for_each

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


@pytest.mark.parametrize("error", LATER, ids=_name)
def test_what_may_pass_is_for_the_engine(error: Exception) -> None:
    assert isinstance(vendors.sort(error, MODEL), Transient)


@pytest.mark.parametrize("error", NEVER, ids=_name)
def test_what_would_be_the_same_again_is_permanent(error: Exception) -> None:
    assert isinstance(vendors.sort(error, MODEL), Permanent)


@pytest.mark.parametrize("error", OWNER, ids=_name)
def test_what_the_owner_can_mend_is_asked(error: Exception) -> None:
    assert isinstance(vendors.sort(error, MODEL), Ask)


def test_our_own_errors_stay_what_they_are() -> None:
    error = StoreFull("agent.db", "no room")

    assert vendors.sort(error, MODEL) is error


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

    sentence = str(vendors.sort(error, MODEL))

    assert KEY[:8] not in sentence
    assert "\x1b" not in sentence
    assert len(sentence) < 400


@for_each(("asked", "after"), [(None, None), (0.0, 0.0), (7.5, 7.5), (9e9, 3600.0)])
def test_how_long_to_wait_is_the_vendors_word_within_reason(
    asked: float | None, after: float | None
) -> None:
    failed = vendors.sort(their.ModelRateLimitError("x", "slow", retry_after=asked), MODEL)

    assert isinstance(failed, Transient)
    assert failed.after == after
