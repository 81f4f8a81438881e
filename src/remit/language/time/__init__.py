"""Times as people say them, in three languages: parsed and resolved to moments."""
