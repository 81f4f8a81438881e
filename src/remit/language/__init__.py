"""Words and marks of the languages that Remit reads: shared ground below the rooms, pure."""
