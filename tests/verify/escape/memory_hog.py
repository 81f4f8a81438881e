"""Takes memory until there is none: its own, then shared."""

# ruff: noqa: PERF401, T201 - a hostile script, for the sandbox alone

import mmap

held: list[object] = []
try:
    for _ in range(100_000):
        held.append(bytearray(10_000_000))
except MemoryError:
    print("STOPPED", len(held) * 10, "MB")
held.clear()
try:
    for _ in range(100_000):
        held.append(mmap.mmap(-1, 1_000_000_000))
except (OSError, MemoryError):
    print("ADDRESSES", len(held), "GB")
print("TRIED")
