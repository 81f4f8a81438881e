"""Who does code work: a job in a git worktree of its own becomes a claim."""
