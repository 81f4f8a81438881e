"""Code work: a job in its own git worktree becomes a claim."""
