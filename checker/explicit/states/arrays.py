"""Large arrays that grow where they lie and say what they take, in memory or in files."""

import contextlib
import mmap
import sys
from typing import Any

import numpy as np

_SMALLEST = mmap.PAGESIZE
_HUGE_PAGE = 2 << 20
_HUGE = 4 << 20
"""From so many bytes on, a block is to have huge pages."""

_WHOLE = 16 << 20
"""From so many bytes on, it is made of whole ones: the system gives only such blocks a place where all of it can be huge pages."""
_GROWS_IN_PLACE = sys.platform == "linux"
_PRIVATE: dict[str, int] = {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}


class Block:
    """An array of one dimension in memory of its own; new elements are zero.

    Where the system can move pages (Linux), growing copies nothing and needs no second block.
    Raises MemoryError when the system has no more. Keep no reference to `array` across `grow`.
    """

    def __init__(self, dtype: Any, length: int) -> None:
        self.dtype = np.dtype(dtype)
        self._memory = self._mapped(length)
        self.array: np.ndarray[Any, Any] = self._view(length)

    @property
    def length(self) -> int:
        """The number of elements."""
        return len(self.array)

    @property
    def bytes(self) -> int:
        """What the array takes, whether or not its pages were touched yet."""
        return len(self._memory)

    def bytes_for(self, length: int) -> int:
        """What an array of `length` elements takes."""
        size = max(length * self.dtype.itemsize, 1)
        unit = _SMALLEST if size < _WHOLE else _HUGE_PAGE
        return -(-size // unit) * unit

    def peak_of_growth(self, length: int) -> int:
        """What `grow(length)` takes while it is under way."""
        return self.bytes_for(length) + (0 if self._moves_to(length) else self.bytes)

    def grow(self, length: int) -> None:
        """Make the array `length` elements long, keeping what it holds."""
        old_length = self.length
        if self._moves_to(length):
            del self.array  # a mapping that is in use cannot be moved
            try:
                self._memory.resize(self.bytes_for(length))
            except OSError as error:
                self.array = self._view(old_length)
                raise MemoryError("the system has no more memory for the search") from error
            _prefer_huge_pages(self._memory)
            self.array = self._view(length)
        else:
            larger = Block(self.dtype, length)
            larger.array[:old_length] = self.array
            self._memory, self.array = larger._memory, larger.array

    def _moves_to(self, length: int) -> bool:
        """Whether the system moves the pages. Not when it is to be made of whole huge ones: what lies across their borders would stay so."""
        return _GROWS_IN_PLACE and not self.bytes < _WHOLE <= self.bytes_for(length)

    def replace(self, length: int, dtype: Any = None) -> None:
        """Make the array `length` zeros, of another type if one is given; the old memory is given back first."""
        del self.array
        self._memory.close()
        if dtype is not None:
            self.dtype = np.dtype(dtype)
        self._memory = self._mapped(length)
        self.array = self._view(length)

    def _mapped(self, length: int) -> mmap.mmap:
        return _mapping(self.bytes_for(length))

    def _view(self, length: int) -> np.ndarray[Any, Any]:
        return np.frombuffer(self._memory, self.dtype, length)


def _mapping(size: int) -> mmap.mmap:
    try:
        memory = mmap.mmap(-1, size, **_PRIVATE)
    except OSError as error:
        raise MemoryError("the system has no more memory for the search") from error
    _prefer_huge_pages(memory)
    return memory


def _prefer_huge_pages(memory: mmap.mmap) -> None:
    # Most accesses go to places far apart: with large pages, fewer of them miss the TLB.
    if len(memory) >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
