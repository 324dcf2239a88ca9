"""Arrays in files: they outlive the process, and the system's page cache decides what of them is in memory."""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from .blocks import Block
from .budget import OutOfBudget

_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_PAGE = mmap.ALLOCATIONGRANULARITY
_CHUNK = bytes(1 << 20)


class FileBlock(Block):
    """A Block that is the content of a file. It takes no memory of its own: its pages can be dropped at any time.

    Room in the file system is taken before it is used, so that a full disk shows when the array grows, as
    OutOfBudget("disk"), and never in the midst of work.
    """

    def __init__(self, dtype: Any, length: int, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._size = os.fstat(self._file).st_size
        super().__init__(dtype, max(length, self._size // _size_of(dtype)))

    @property
    def bytes(self) -> int:
        """Nothing: files do not count as memory."""
        return 0

    def bytes_for(self, length: int) -> int:
        """Nothing, either."""
        return 0

    def grow(self, length: int) -> None:
        """Make the array `length` elements long, keeping what it holds. Raises OutOfBudget when the disk is full."""
        old_length = self.length
        del self.array
        self._memory.close()
        try:
            self._memory = self._mapped(length)
        except OutOfBudget:
            self._memory = self._mapped(old_length)
            length = old_length
            raise
        finally:
            self.array = self._view(length)

    def replace(self, length: int) -> None:
        raise NotImplementedError("files keep what they hold")

    def flush(self, first: int, last: int) -> None:
        """Wait until the elements first .. last - 1 are on the disk."""
        start = first * self.dtype.itemsize // _PAGE * _PAGE
        if last > first:
            self._memory.flush(start, last * self.dtype.itemsize - start)

    def close(self) -> None:
        """Give the file back; the array is gone."""
        del self.array
        self._memory.close()
        os.close(self._file)

    def _mapped(self, length: int) -> mmap.mmap:
        size = max(length, 1) * self.dtype.itemsize
        if size > self._size:
            try:
                _take(self._file, self._size, size)
            except OSError as error:
                os.ftruncate(self._file, self._size)
                if is_full(error):
                    raise OutOfBudget("disk") from error
                raise
            self._size = size
        return mmap.mmap(self._file, size)


def is_full(error: OSError) -> bool:
    """Whether there is no more room on the disk, or no more is allowed."""
    return error.errno in _FULL


def _size_of(dtype: Any) -> int:
    return int(np.dtype(dtype).itemsize)


def _take(file: int, first: int, last: int) -> None:
    """Make the file longer, with room on the disk for every byte of it."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, first, last - first)
        return
    os.lseek(file, first, os.SEEK_SET)
    while first < last:
        first += os.write(file, _CHUNK[: last - first])
