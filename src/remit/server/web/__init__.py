"""Pages for people: drawn on the server, live in the browser, whole without a script."""
