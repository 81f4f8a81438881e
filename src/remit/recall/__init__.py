"""Tasks like this one."""
