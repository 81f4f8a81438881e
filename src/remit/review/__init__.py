"""Reviews: questions to the owner, and their decisions."""
