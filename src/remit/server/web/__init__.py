"""The web pages: rendered on the server, updated live, usable without a script."""
