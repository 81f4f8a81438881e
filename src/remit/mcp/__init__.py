"""Remit as an MCP server: one message in, one answer out."""
