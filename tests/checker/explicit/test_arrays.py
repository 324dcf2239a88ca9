"""Blocks in files where the system takes no room ahead, where there is little of it, and where nothing is to be kept."""

from __future__ import annotations

import numpy as np
import pytest

from podrace.checker.explicit.states import arrays
from podrace.checker.explicit.states.arrays import Block


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
