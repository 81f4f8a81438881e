"""Reads a short decision on one question, such as a reply by mail."""

from typing import Final

from remit.converse.phrases import PhraseTable, words_of
from remit.model.review import Decision, Review, ReviewAnswer

_WORDS: Final = PhraseTable(
    {
        ReviewAnswer.APPROVE: (
            *("yes", "yes please", "ok", "okay", "approve", "approved", "go ahead", "send it"),
            *("do it", "ja", "ja bitte", "genehmigt", "einverstanden", "abschicken"),
            *("sí", "vale", "de acuerdo", "adelante", "aprobado"),
        ),
        ReviewAnswer.DECLINE: (
            *("no", "no thanks", "decline", "declined", "stop", "don't", "do not send it"),
            *("nein", "nein danke", "ablehnen", "abgelehnt", "no gracias", "rechazado"),
        ),
        ReviewAnswer.ARRIVED: ("arrived", "it arrived"),
        ReviewAnswer.RESEND: ("resend", "send it again"),
        ReviewAnswer.DROP: ("drop", "leave it out"),
    }
)


def read_decision(review: Review, text: str, by: str) -> Decision | None:
    """Return the decision that words make on a question; None if they are no decision."""
    found = _WORDS.read(words_of(text))
    choice = found[0] if found is not None and found[0] in review.options else None
    if choice is not None and (
        choice is ReviewAnswer.APPROVE or ReviewAnswer.ANSWER not in review.options
    ):
        return Decision(choice, by=by)
    if ReviewAnswer.ANSWER in review.options:
        return Decision(ReviewAnswer.ANSWER, text, by=by)
    return None
