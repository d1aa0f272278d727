"""A cache of what was used last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Values by key, of which the least recently used ones are dropped; may be used from several threads.

    Args:
        most: Limit of the sum of the weights of all values. The newest value stays in any case.
        weight: The weight of a value; 1 by default.
    """

    def __init__(self, most: int, weight: Callable[[V], int] = lambda _value: 1) -> None:
        self._most, self._weight = most, weight
        self._lock = threading.Lock()
        self._values: OrderedDict[K, V] = OrderedDict()
        self._sum = 0

    def get(self, key: K) -> V | None:
        """The value of this key; None if it is not cached."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def made(self, key: K, make: Callable[[], V]) -> V:
        """The value of this key, made and cached where it is not."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Cache a value."""
        with self._lock:
            if key in self._values:
                self._sum -= self._weight(self._values.pop(key))
            self._values[key] = value
            self._sum += self._weight(value)
            while self._sum > self._most and len(self._values) > 1:
                self._sum -= self._weight(self._values.popitem(last=False)[1])
