"""Other agents: what each may do here, whichever protocol it speaks."""
