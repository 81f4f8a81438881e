"""File formats, read strictly: pure, no room is known here."""
