"""Calendars: the CalDAV client, recurrence, to-dos, the own server."""
