"""From task to plan, priority and contract. Pure."""
