"""The closed patterns by which messages are read without a model."""
