"""Files of tasks: what they are by their content, whether they may be sent, what is in them."""
