"""Room for states: whoever gets some can use it, and a table has no more entries than there are numbers for."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget, OutOfBudget
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.hash_table import Words, find, hash_of
from podrace.checker.explicit.states.store import Store, _lengths
from podrace.checker.explicit.states.workers import Workers
from podrace.checker.kernel_compiler.jit import jit
from podrace.model.language import System, integer, per, require, step, system_of
from tests.profiles import examples


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
        assert 2**store.bits > store.room >= wanted
        assert store.bytes <= memory
    assert (made > 0, crowded > 0) == (True, True)


@pytest.mark.parametrize(
    ("length", "wanted", "useful", "expected"),
    [
        (2**13, 5000, 2**40, [2**16, 2**15, 2**14, 2**13 * 3 // 2, 2**13 * 5 // 4]),
        (2**13, 20_000, 2**40, [2**16, 40_000, 30_000, 25_008, 24_288]),
        (2**25, 2**24 + 1, 2**40, [2**27, 2**26, 2**25 * 3 // 2, 2**25 * 5 // 4]),
        (2**26, 2**25 + 1, 2**40, [2**27, 2**26 * 3 // 2, 2**26 * 5 // 4]),
        (2**31, 2**31, 2**40, [2**32 - 16, 2**31 * 3 // 2, 2**31 * 5 // 4, 2_607_658_720]),
        (2**13, 5000, 9000, [9000, 9000, 9000, 9000, 9000]),
        (2**13, 5000, 2**13, []),
    ],
)
def test_a_table_may_grow_to(length: int, wanted: int, useful: int, expected: list[int]) -> None:
    assert _lengths(length, wanted, useful) == expected


@jit
def _known(stored: Any, words: Words, mixed: Words) -> int:
    """How many of the states are in a table of keys; their hashes are left in `mixed`."""
    known = 0
    for i in range(np.uint64(len(words))):
        mixed[i] = hash_of(stored.shape, words, i)
        if find(stored, words, i, mixed[i])[1]:
            known += 1
    return known


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("enough", [True, False])
def test_a_table_of_keys_grows_and_keeps_what_it_holds(jobs: int, enough: bool) -> None:
    """From the old table, or from the states where there is no memory for both: every state is found again, and nothing else."""
    states = 70_000
    rng = np.random.default_rng(1)
    words = rng.choice(np.uint64(1) << np.uint64(40), 2 * states, replace=False).astype(np.uint64)
    held, others = words[:states], words[states:]
    with Workers(jobs) as workers:
        store = Store(1, SearchBudget(Budget(max_memory=None), None), 0, workers, owner_bits=4)
        store.make_room(1, states - 1)
        store.states[:states] = held
        store._fill(states)
        length = len(store.table)
        assert length == 2 * states
        with_both = store.bytes + store._table.bytes_for(2 * length)
        store.budget = SearchBudget(Budget(max_memory=with_both - (not enough)), None)
        store._replace_keys(states, 2 * length)
        assert (len(store.table), np.count_nonzero(store.table)) == (2 * length, states)
        mixed = np.empty(states, np.uint64)
        assert (_known(store.arrays, held, mixed), _known(store.arrays, others, mixed)) == (states, 0)


@jit
def _hashes(shape: Any, words: Words, mixed: Words) -> None:
    for i in range(np.uint64(len(mixed))):
        mixed[i] = hash_of(shape, words, i * np.uint64(len(shape)))


@pytest.mark.parametrize(("words", "bits"), [(2, 9), (3, 6), (4, 4)])
@settings(max_examples=examples(30))
@given(data=st.data())
def test_states_that_differ_in_a_few_bits_of_each_word_have_different_hashes(
    words: int, bits: int, data: st.DataObject
) -> None:
    """Wherever in a word these bits are: also at its upper end, where products lose what is carried. And few have the same upper half, as by chance."""
    ends = st.integers(bits, 64)
    at = [data.draw(ends | st.just(64), label=f"end in word {w}") - bits for w in range(words)]
    values = np.arange(1 << bits, dtype=np.uint64)
    columns = [values << np.uint64(first) for first in at]
    states = np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, words)
    mixed = np.empty(len(states), np.uint64)
    _hashes((0,) * words, states.reshape(-1), mixed)
    halves = np.unique(mixed >> np.uint64(32))
    assert (len(np.unique(mixed)), len(halves) > 0.999 * len(states)) == (len(states), True)


class Tail(System):
    """A wide level, from the last state of which a chain leads on."""

    chosen = integer(0, 2)
    places = per(range(2), integer(0, 19))
    far = integer(0, 5000)

    @step(actor="a")
    def choose(self, place: Annotated[int, range(20)]) -> None:
        require(self.chosen < 2)
        self.places[self.chosen] = place
        self.chosen = self.chosen + 1

    @step(actor="a")
    def on(self) -> None:
        require((self.chosen == 2) & (self.places[0] == 19) & (self.places[1] == 19) & (self.far < 5000))
        self.far = self.far + 1


def test_a_run_is_told_from_a_narrow_level_back_through_a_wide_one() -> None:
    """More steps than are told at a time, and states of one stride whose parents are a whole level."""
    system = system_of(Tail)
    on = len(system.transitions) - 1
    with Workers(1) as workers:
        search = Search(generate(system), SearchBudget(Budget(), None), workers)
        found = search.run()
        assert (found.states, found.depth) == (1 + 20 + 400 + 5000, 5002)
        for last in (420, 421, 447, 448, 449, 450, 5420):
            assert search._path(last) == (19, 19, *[on] * (last - 420))
        assert search._path(25) == (0, 4)
