"""The words and marks of the languages that Remit reads. Pure."""
