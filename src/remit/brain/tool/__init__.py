"""What can be done for a brain, one file a tool or a small group of them."""
