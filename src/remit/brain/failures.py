"""Sorts the errors of vendors and their SDKs by who must act.

Transient: the engine tries again later. Permanent: a retry would fail the same way. Ask: the owner
must act. This module loads the vendors' library; import it only before asking a model.
"""

from typing import Final

from pydantic_ai import exceptions as their

from remit.brain.choose import ModelConfig, Secret
from remit.errors import Permanent, RemitError, StepFailed, Transient
from remit.model.reply import Ask
from remit.model.status import Reason

MAX_WAIT_SECONDS: Final = 3600.0  # a vendor that asks for more is asked again after so many seconds
_MAX_MESSAGE_CHARACTERS: Final = 200
_MAX_CAUSES: Final = 20
_SERVER: Final = 500
_PASSING: Final = frozenset({408, 409, 425, 429})  # not the request's fault


_THEN: Final = "Mend it, start Remit again, then approve."
_LOOK: Final = "Check [brain] model and base_url."
_CHECK: Final = "If it stays so, check [brain] model and base_url."

# The first match counts, so narrower classes come first. `Ask`: the owner must act.
_TABLE: Final[tuple[tuple[type[Exception], type[Ask | StepFailed], str], ...]] = (
    (their.ModelAuthenticationError, Ask, f"{{model}} refused {{key}}. {_THEN}"),
    (their.ModelQuotaExceededError, Ask, f"{{model}} has no credit left for you. {_THEN}"),
    (their.ModelNotFoundError, Ask, f"{{model}} is not there. {_LOOK} {_THEN}"),
    (
        their.ModelContextWindowExceededError,
        Permanent,
        "The prompt is longer than {model} can read.",
    ),
    (their.ModelRequestRejectedError, Permanent, "{model} rejected the request{said}."),
    (their.ModelRateLimitError, Transient, "{model} has had too many requests{said}."),
    (their.ModelRequestTimeout, Transient, "{model} took too long to answer."),
    (their.ModelTimeoutError, Transient, "{model} took too long to answer."),
    (their.ModelConnectionError, Transient, "The connection to {model} failed or broke off."),
    (their.ModelHTTPError, Transient, f"{{model}} answered {{status}}{{said}}. {_CHECK}"),
    (their.ModelAPIError, Transient, f"{{model}} sent what is no answer{{said}}. {_CHECK}"),
    (their.UsageLimitExceeded, Permanent, "{model} was asked more often than a thought may."),
    (their.UserError, Permanent, "{model} cannot be asked so: {error}."),
    (their.UnexpectedModelBehavior, Transient, f"{{model}} kept to no known form. {_CHECK}"),
    (Exception, Transient, "{model} failed in an unknown way ({kind}: {error})."),
)


def sort(error: Exception, model: ModelConfig) -> RemitError | Ask:
    """Return what an error means, in a sentence without secrets."""
    ours = _ours(error)
    if ours is not None:
        return ours
    acts, says = next((acts, says) for kind, acts, says in _TABLE if isinstance(error, kind))
    sentence = says.format(
        model=model,
        key=f"the key in {model.key_name}" if model.key else "a request without a key",
        status=getattr(error, "status_code", ""),
        said=_vendor_message(error, model.key),
        kind=type(error).__name__,
        error=_clean(str(error), model.key),
    )
    if acts is Ask:
        return Ask(Reason.AUTH, sentence)
    return _failed(error, sentence) if acts is Transient else Permanent(sentence)


def _ours(error: BaseException | None) -> RemitError | None:
    """What we raised ourselves below the vendor's library, however it wrapped that."""
    for _ in range(_MAX_CAUSES):
        if error is None or isinstance(error, RemitError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _failed(error: Exception, sentence: str) -> StepFailed:
    """Return Transient, unless the status says that the request itself is wrong."""
    code = error.status_code if isinstance(error, their.ModelHTTPError) else _SERVER
    if code < _SERVER and code not in _PASSING:
        return Permanent(sentence)
    asked = error.retry_after if isinstance(error, their.ModelAPIError) else None
    return Transient(sentence, after=None if asked is None else min(asked, MAX_WAIT_SECONDS))


def _vendor_message(error: Exception, key: Secret | None) -> str:
    """The vendor's own words, if it found any."""
    body = error.body if isinstance(error, their.ModelAPIError) else None
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    words = body.get("message") if isinstance(body, dict) else None
    return f": {_clean(words, key)}" if isinstance(words, str) and words.strip() else ""


def _clean(text: str, key: Secret | None) -> str:
    """Return one short line without the key."""
    line = " ".join(text.split())
    line = key.scrub(line) if key else line
    return "".join(char for char in line if char.isprintable())[:_MAX_MESSAGE_CHARACTERS].rstrip(
        ". "
    )
