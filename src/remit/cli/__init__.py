"""The terminal's door: one file a noun, each loaded only when it is called for."""

import gc

# A command that is done in a moment makes no garbage: looking for it costs one part in twenty.
gc.set_threshold(20_000, 20, 20)
