"""The command line: one module per noun, loaded only when its command is called."""

import gc

# A short command makes little garbage: collecting it takes one part in twenty of the time.
gc.set_threshold(20_000, 20, 20)
