"""Removes the assistant's name at the start of a message; it is no part of the request."""

import re

from remit.contacts.people import ContactBook
from remit.language.files import words_in_all
from remit.language.tokens import fold, keys_of, tokenize


def without_address(text: str, book: ContactBook) -> str:
    """The message with the assistant's name in front blanked; nothing else moves.

    Without a greeting or a comma the name of a contact is the contact's: "Nina: come home".
    """
    name = book.assistant
    found = re.match(rf"(\s*(?:(\w+)\s+)?)({re.escape(name)})(\s*,|(?=\s))", text, re.IGNORECASE)
    if not name or found is None:
        return text
    greeting, comma = fold(found[2] or ""), found[4].strip()
    if greeting and greeting not in words_in_all("talk", "greetings"):
        return text
    if not greeting and not comma and book.people.at(keys_of(tokenize(name)), 0):
        return text
    blank = " " * (found.end() - len(found[1]))
    return found[1] + blank + text[found.end() :]
