"""Locks by key: work on the same key is serialised, different keys run in parallel."""

import asyncio
from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

K = TypeVar("K", bound=Hashable)


class LocksByKey(Generic[K]):
    """One lock for each key, dropped when nobody holds it or waits for it.

    `async with locks[key]:` keeps the lock alive until the block ends, and waiting keeps it too.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[K, asyncio.Lock] = WeakValueDictionary()

    def __getitem__(self, key: K) -> asyncio.Lock:
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock

    def __len__(self) -> int:
        return len(self._locks)
