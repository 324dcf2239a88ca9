"""Room for states: whoever gets some can use it, and a table has no more entries than there are numbers for."""

from __future__ import annotations

import pytest

from podrace.checker.core.exploration import Budget, OutOfBudget
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.store import Store, _lengths
from podrace.checker.explicit.states.workers import Workers


def test_there_is_as_much_room_as_was_made() -> None:
    """Also where a table that is half full would break the budget, and one that is nearly full does not."""
    wanted, made, crowded = 20_000, 0, 0
    for memory in range(150_000, 500_000, 4_000):
        try:
            store = Store(1, SearchBudget(Budget(max_memory=memory), None), 0, Workers(1))
            store.add_first((0,))
            store.make_room(1, wanted - 1)
        except OutOfBudget:
            assert made == 0, "more memory is never worse"
            continue
        made += 1
        crowded += len(store.table) < 2 * wanted
        assert store.room >= wanted
        assert store.bytes <= memory
    assert (made > 0, crowded > 0) == (True, True)


@pytest.mark.parametrize(
    ("length", "wanted", "useful", "expected"),
    [
        (2**13, 5000, 2**40, [2**16, 2**15, 2**14, 2**13 * 3 // 2, 2**13 * 5 // 4]),
        (2**13, 20_000, 2**40, [2**16, 40_000, 30_000, 25_000, -(-21_250 // 7) * 8]),
        (2**25, 2**24 + 1, 2**40, [2**27, 2**26, 2**25 * 3 // 2, 2**25 * 5 // 4]),
        (2**26, 2**25 + 1, 2**40, [2**27, 2**26 * 3 // 2, 2**26 * 5 // 4]),
        (2**31, 2**31, 2**40, [2**32 - 1, 2**31 * 3 // 2, 2**31 * 5 // 4, -(-(2**31 + 2**27) // 7) * 8]),
        (2**13, 5000, 9000, [9000, 9000, 9000, 9000, 9000]),
        (2**13, 5000, 2**13, []),
    ],
)
def test_a_table_may_grow_to(length: int, wanted: int, useful: int, expected: list[int]) -> None:
    assert _lengths(length, wanted, useful) == expected
