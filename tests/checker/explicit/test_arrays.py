"""Blocks in files where the system takes no room ahead, where there is little of it, and where nothing is to be kept."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore
from podrace.checker.explicit.states import arrays
from podrace.checker.explicit.states.arrays import Block, FileBlock
from tests.checker.explicit.systems import counting


def test_an_empty_block_can_grow(tmp_path: Path) -> None:
    block = FileBlock(np.uint64, 0, tmp_path / "block")
    assert (block.length, os.path.getsize(tmp_path / "block")) == (0, 8)
    block.grow(3)
    assert block.array.tolist() == [0, 0, 0]
    block.close()


def test_without_posix_fallocate_a_file_grows_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    block = FileBlock(np.uint64, 2, tmp_path / "block")
    block.array[:] = (7, 8)
    block.grow(300_000)  # more than is written at once
    assert os.path.getsize(tmp_path / "block") == 8 * 300_000
    assert block.array[:3].tolist() == [7, 8, 0]
    block.close()


def test_where_much_room_is_refused_less_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """States grow by a half; a disk that has no room for that may have enough for those that there are."""
    take = arrays._take
    refused = []

    def nearly_full(file: int, first: int, last: int) -> None:
        if os.readlink(f"/proc/self/fd/{file}").endswith("states") and last > 49_000:
            refused.append(last)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        take(file, first, last)

    monkeypatch.setattr(arrays, "_take", nearly_full)
    found = explore(counting(5000), Budget(disk=tmp_path))
    assert (found.states, found.complete) == (5001, True)
    assert refused == [8 * 4096 * 3 // 2, 52232, 55512, 58992]


def test_a_file_of_an_earlier_search_keeps_what_it_holds_when_it_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system takes no room ahead, the new room is written: behind what is there already."""
    monkeypatch.delattr(os, "posix_fallocate")
    (tmp_path / "block").write_bytes(np.array([7, 8, 9], np.uint64).tobytes())
    block = FileBlock(np.uint64, 3, tmp_path / "block")
    block.grow(5)
    assert block.array.tolist() == [7, 8, 9, 0, 0]
    block.close()


@pytest.mark.parametrize(
    "lengths", [(10, 700_000), (10, 3_000_000), (600_000, 2_200_000), (3_000_000, 9_000_001)]
)
def test_a_block_keeps_what_it_holds_when_it_grows(lengths: tuple[int, int]) -> None:
    """Also to where it is made of whole huge pages."""
    first, then = lengths
    block = Block(np.uint64, first)
    block.array[:] = np.arange(first, dtype=np.uint64)
    peak = block.peak_of_growth(then)
    whole = 8 * then >= arrays._WHOLE
    block.grow(then)
    assert block.bytes == (
        -(-8 * then // 2**21) * 2**21 if whole else -(-8 * then // arrays._SMALLEST) * arrays._SMALLEST
    )
    assert peak >= block.bytes
    assert (block.length, np.array_equal(block.array[:first], np.arange(first))) == (then, True)
    assert not block.array[first:].any()
