"""What may be asked of Remit: one table of writes, used by HTTP, pages, the CLI, MCP and A2A."""
