"""How requests are put: sentences, the phrases in them, and the verbs that govern them."""
