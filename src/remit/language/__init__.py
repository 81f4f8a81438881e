"""Words and marks of the languages Remit reads. Pure, below all rooms."""
