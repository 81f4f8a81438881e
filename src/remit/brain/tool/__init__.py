"""The built-in tools of the brain, one file for each group."""
