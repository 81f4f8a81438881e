"""Talk with the owner: what he says is kept, understood by code, answered once, and checked."""
