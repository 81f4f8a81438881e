"""Calendars: the CalDAV client, recurrence, to-dos, and Remit's own server."""
