"""Web push to the owner's browsers."""
