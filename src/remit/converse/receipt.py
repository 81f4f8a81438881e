"""The answer to a message: the card of what was understood, or a reply to small talk."""

from typing import Final

from remit.converse.scene import UnderstoodMessage

TALK: Final = {
    "thanks": "You are welcome.",
    "greeting": "Hello. Say what is to be done, or ask what is going on.",
    "statement": "That tells something and asks for nothing, so nothing was done.",
    "taken_back": "You took it back, so nothing is done.",
    "forbidden": "You said not to, so nothing is sent.",
    "control": "I cannot tell which task that is about. Name it by a word of its title.",
    "chatter": "That asks for nothing to be done.",
}


def sentences(understood: UnderstoodMessage) -> str:
    """Return the card of a message that asks for something, and its questions."""
    asked = [each.question for each in understood.asked]
    return "\n".join([*understood.card, *asked, *understood.unasked])
