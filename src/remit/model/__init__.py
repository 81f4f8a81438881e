"""The words. Frozen, pure, and importing nothing of ours but `errors`."""
