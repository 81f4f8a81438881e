"""Task to Plan, priority and contract. Pure: it touches no world."""
