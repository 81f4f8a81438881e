"""Channels, one package for each integration: sending, receiving, errors, health."""
