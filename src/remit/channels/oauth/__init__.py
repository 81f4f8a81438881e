"""Sign-in by OAuth with the owner's own client id: for mail and calendars."""
