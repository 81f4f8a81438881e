"""From a cue or a message of the owner to stored tasks."""
