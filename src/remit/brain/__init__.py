"""Plan to Reply. The one room that talks to a language model."""
