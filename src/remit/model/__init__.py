"""The values of Remit: frozen, pure, importing only `errors` of our code."""
