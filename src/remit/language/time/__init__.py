"""Times as people say them, in three languages: read from words, and resolved to moments."""
