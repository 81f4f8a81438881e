"""Other agents: what each may do here, in every protocol."""
