"""Our own rows. Each module here is named by `bench/catalog.py` and is found by its name alone.

A module exposes `run(size: int, home: Path) -> Measurement` (or a list of them), works only
inside `home`, which is empty and on a real disk, and keeps set-up outside the stopwatch. Until
the module exists its row is printed as "not plugged in"; nothing else has to change.
"""
