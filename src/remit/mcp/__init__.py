"""Remit as a server of the Model Context Protocol: one message in, one answer out."""
