"""After hours: what ended is written down, looked at, and becomes a proposal to the owner."""
