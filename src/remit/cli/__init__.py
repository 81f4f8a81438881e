"""The command line: one module per noun, loaded only when its command is called."""

import gc

# A command that is done in a moment makes no garbage: looking for it costs one part in twenty.
gc.set_threshold(20_000, 20, 20)
