"""A question to the owner, and the decision."""
