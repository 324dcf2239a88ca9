"""Kernels in native code do what the same functions do in Python."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from podrace.checker.explicit.states.arrays import Block
from podrace.checker.explicit.states.hash_table import ONE, hash_of
from podrace.checker.kernel_compiler.intrinsics import (
    LINE_BYTES,
    add,
    cross,
    exchange,
    first_alike,
    ones,
    read,
    write,
)
from podrace.checker.kernel_compiler.jit import inline, jit
from podrace.checker.kernel_compiler.kinds import Untranslatable

SIXTY_FOUR = st.integers(0, 2**64 - 1)
SMALL = st.integers(-1000, 1000)
NATURAL = st.integers(0, 1000)


def same_as_python(kernel: Any, *arguments: Any) -> None:
    """Native code and Python return the same, and leave the same in arrays."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    with np.errstate(over="ignore"):
        expected = kernel.__wrapped__(*copies)
    assert kernel(*arguments) == expected
    for a, b in zip(arguments, copies, strict=True):
        if isinstance(a, np.ndarray):
            assert a.tolist() == b.tolist()


@jit
def _arithmetic(a: int, b: int) -> tuple[int, int, int, int, int, int]:
    return a + b, a - 2 * b, a * b, a & b, a | b, a ^ ~b


@jit
def _naturals(a: int, b: int) -> tuple[int, int, int, int, int]:
    return a // (b + 1), a % (b + 1), a >> 3, min(a, b), max(a, b)


@jit
def _unsigned(a: Any, b: Any) -> tuple[Any, Any, Any, bool, bool]:
    return a * b + ONE, a >> np.uint64(5), (a << np.uint64(7)) ^ b, a < b, a >= b


@jit
def _truths(a: int, b: int, c: bool) -> tuple[bool, bool, bool, int]:
    return a < b and c, a == b or not c, a <= b, a if c else b


@given(SMALL, SMALL)
def test_signed_numbers(a: int, b: int) -> None:
    same_as_python(_arithmetic, a, b)


@given(NATURAL, NATURAL)
def test_natural_numbers(a: int, b: int) -> None:
    same_as_python(_naturals, a, b)


@given(SIXTY_FOUR, SIXTY_FOUR)
def test_unsigned_numbers(a: int, b: int) -> None:
    same_as_python(_unsigned, np.uint64(a), np.uint64(b))


@given(SMALL, SMALL, st.booleans())
def test_truths(a: int, b: int, c: bool) -> None:
    same_as_python(_truths, a, b, c)


@jit
def _loops(numbers: NDArray[np.int64], least: int, most: int) -> tuple[int, int, int]:
    total, last, steps = 0, -1, 0
    for i in range(len(numbers)):
        if numbers[i] < least:
            continue
        if numbers[i] > most:
            last = i
            break
        total += numbers[i]
    for i in range(len(numbers) - 1, -1, -1):
        steps = 2 * steps + (numbers[i] > 0)
        if steps > 100:
            steps -= 100
    while True:
        if total >= 0:
            break
        total += 10
    return total, last, steps


@given(st.lists(SMALL, max_size=12), SMALL, SMALL)
def test_loops(numbers: list[int], least: int, most: int) -> None:
    same_as_python(_loops, np.array(numbers, np.int64), least, most)


@inline
def _find(numbers: NDArray[np.uint8], wanted: int) -> int:
    for i in range(len(numbers)):
        if numbers[i] == wanted:
            return i
    return -1


@jit
def _finds(numbers: NDArray[np.uint8], a: int, b: int) -> tuple[int, int]:
    first = _find(numbers, a)
    if first >= 0 and _find(numbers, b) > first:
        return first, _find(numbers, b)
    return first, -1


@given(st.lists(st.integers(0, 7), max_size=9), st.integers(0, 7), st.integers(0, 7))
def test_a_kernel_within_another_returns_from_its_own_loop(numbers: list[int], a: int, b: int) -> None:
    same_as_python(_finds, np.array(numbers, np.uint8), a, b)


@jit
def _write(flags: NDArray[np.bool_], bytes_: NDArray[np.uint8], halves: NDArray[np.int32], rows: Any) -> None:
    for r in range(len(rows)):
        rows[r, 1] = rows[r, 0] + ONE
        flags[r] = rows[r, 0] > np.uint64(5)
        if flags[r]:
            bytes_[r] += 1
        halves[r] -= 3
    rows[0, 0] = rows[1, 0] = np.uint64(9)


@given(st.lists(SIXTY_FOUR.filter(lambda n: n < 2**64 - 1), min_size=2, max_size=5))
def test_arrays_of_all_sizes(column: list[int]) -> None:
    size = len(column)
    rows = np.array([[n, 0] for n in column], np.uint64)
    same_as_python(_write, np.zeros(size, np.bool_), np.ones(size, np.uint8), np.ones(size, np.int32), rows)


@jit
def _hash(shape: tuple[int, ...], words: NDArray[np.uint64]) -> Any:
    return hash_of(shape, words, np.uint64(0))


@pytest.mark.parametrize("size", [1, 3])
def test_the_length_of_a_tuple_is_known(size: int) -> None:
    # The multipliers are those of `table`.
    words, mixed, all_ones = list(range(5, 5 + size)), 0, 2**64 - 1
    for word in words:
        mixed ^= mixed >> 32
        mixed = ((mixed + word) * 0x9E3779B97F4A7C15) & all_ones
    mixed ^= mixed >> 32
    mixed = (mixed * 0xD6E8FEB86659FD93) & all_ones
    assert _hash((0,) * size, np.array(words, np.uint64)) == mixed ^ (mixed >> 29)


@jit
def _clear(numbers: NDArray[np.int64]) -> None:
    numbers[:] = 0


def test_an_array_is_cleared() -> None:
    numbers = np.arange(5)
    assert _clear(numbers) is None
    assert numbers.tolist() == [0] * 5


@jit
def _refuse(number: int) -> int:
    if number < 0:
        raise ValueError("a negative number")
    return number


def test_errors_are_raised() -> None:
    assert _refuse(3) == 3
    with pytest.raises(ValueError, match="a negative number"):
        _refuse(-3)


@jit
def _count(cells: NDArray[np.uint32], times: int) -> int:
    for _i in range(times):
        add(cells, 0, 1)
        seen = read(cells, 1)
        while exchange(cells, 1, seen, seen + 2) != seen:
            seen = read(cells, 1)
    return int(read(cells, 0))


def test_atomic_changes_are_not_lost() -> None:
    cells = np.zeros(2, np.uint32)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: _count(cells, 20_000), range(4)))
    assert cells.tolist() == [80_000, 160_000]


@jit
def _lower(cells: NDArray[np.uint8], turn: NDArray[np.int64]) -> None:
    place = add(turn, 0, -1)
    while place > 0:
        write(cells, place - 1, read(cells, place - 1) + 1)
        place = add(turn, 0, -1)


def test_each_place_is_written_by_who_has_its_turn() -> None:
    cells, turn = np.arange(200, dtype=np.uint8), np.array([150])
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: _lower(cells, turn), range(4)))
    assert cells.tolist() == [*range(1, 151), *range(150, 200)]
    assert turn.tolist() == [-4]


@jit
def _meeting(signed: int, unsigned: Any) -> Any:
    return signed + unsigned


@jit
def _iterated(numbers: NDArray[np.int64]) -> int:
    total = 0
    for number in numbers:
        total += number
    return total


@jit
def _one_index(numbers: Any) -> int:
    return int(numbers[1])


@jit
def _two_indices(numbers: Any) -> int:
    return int(numbers[1, 0])


def test_an_array_has_as_many_indices_as_dimensions() -> None:
    flat, table = np.arange(6), np.arange(6).reshape(2, 3)
    assert (_one_index(flat), _two_indices(table)) == (1, 3)
    for kernel, array, index in ((_one_index, table, "1"), (_two_indices, flat, "(1, 0)")):
        with pytest.raises(Untranslatable) as refused:
            kernel(array)
        assert str(refused.value).endswith(f"the array has another number of dimensions than `{index}`")


def test_what_has_no_translation_is_refused() -> None:
    with pytest.raises(
        Untranslatable, match="_meeting, line 3 of it: a signed number meets an unsigned number"
    ):
        _meeting(1, np.uint64(1))
    with pytest.raises(Untranslatable, match="_iterated, line 4 of it: only a range"):
        _iterated(np.arange(3))
    with pytest.raises(Untranslatable, match="only contiguous arrays"):
        _clear(np.arange(10)[::2])
    with pytest.raises(Untranslatable, match="array of float64"):
        _clear(np.zeros(3))


@jit
def _counts_up(counts: Any, by: int) -> bool:
    counts[0] += by
    return counts[0] > 5


def test_a_call_that_is_ready_can_be_made_again_and_again() -> None:
    counts = np.zeros(1, np.int64)
    run = _counts_up.ready(counts, 2)
    assert [run(), run(), run()] == [False, False, True]
    assert counts[0] == 6


@jit
def _alike(table: Any, place: Any, wanted: Any, mask: Any) -> Any:
    return first_alike(table, place, wanted, mask)


@given(
    st.sampled_from([np.uint32, np.uint64]),
    st.lists(st.integers(0, 3) | SIXTY_FOUR, min_size=32, max_size=32),
    st.integers(0, 31),
    st.integers(0, 3) | SIXTY_FOUR,
    st.sampled_from([0, 1, 2, 3, 2**31, 2**32 - 1, 2**32 - 4, 2**64 - 1, 2**64 - 2, 2**64 - 2**33]),
)
def test_entries_of_a_line_that_are_alike(
    kind: Any, entries: list[int], place: int, wanted: int, mask: int
) -> None:
    bits = 8 * np.dtype(kind).itemsize
    block = Block(kind, len(entries))
    block.array[:] = [entry % 2**bits for entry in entries]
    end = place - place % (8 * LINE_BYTES // bits) + 8 * LINE_BYTES // bits
    expected = next(
        (
            i
            for i in range(place, end)
            if block.array[i] == 0 or ((int(block.array[i]) ^ wanted) & mask) % 2**bits == 0
        ),
        end,
    )
    assert _alike(block.array, np.uint64(place), np.uint64(wanted), np.uint64(mask)) == expected


@jit
def _crossed(words: NDArray[np.uint64], index: int, other: int, shift: Any, mask: Any) -> None:
    cross(words, index, other, shift, mask)


@given(
    st.lists(SIXTY_FOUR, min_size=12, max_size=12),
    st.sampled_from([(32, 0xFFFFFFFF), (1, 0x5555555555555555)]),
)
def test_words_exchange_bits(numbers: list[int], how: tuple[int, int]) -> None:
    shift, mask = how
    expected = numbers.copy()
    for i in range(4):
        a, b = numbers[1 + i], numbers[6 + i]
        expected[1 + i] = a & ~(mask << shift) | (b & mask) << shift
        expected[6 + i] = b & ~mask | a >> shift & mask
    words = np.array(numbers, np.uint64)
    _crossed(words, 1, 6, np.uint64(shift), np.uint64(mask))
    assert words.tolist() == expected


@jit
def _bits_set(number: Any) -> Any:
    return ones(number)


@given(SIXTY_FOUR)
def test_bits_are_counted(number: int) -> None:
    assert _bits_set(np.uint64(number)) == number.bit_count()
