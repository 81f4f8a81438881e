"""The ways in and out, one package for each integration: sending, receiving, errors, health."""
