"""Searches for fair cycles that are larger than most: edges for which there is no room yet, numbers that have too many bits."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from podrace.checker.explicit import explore, reference
from podrace.checker.explicit.liveness.fair_runs import FairCycles
from podrace.model.language import Case, as_expr
from tests.checker.explicit.test_search import widened
from tests.checker.machines import counters


def test_more_edges_than_room_at_first() -> None:
    """729 states, all of them members, and 2,916 edges among them."""
    alone = counters(6)
    anywhere = replace(alone, livenesses={"ends": (Case("it goes on", as_expr(True)),)})
    found = explore(anywhere)
    assert (found.states, found.transitions) == (729, 6 * 2 * 3**5)
    assert replace(found, seconds=0) == replace(reference.explore(anywhere), seconds=0)
    assert set(found.lassos) == {"ends"}


def test_states_of_many_words() -> None:
    """Their members are read in batches, for which there must be room."""
    wide = widened(counters(4), 200)
    anywhere = replace(wide, livenesses={"ends": (Case("it goes on", as_expr(True)),)})
    found = explore(anywhere)
    assert replace(found, seconds=0) == replace(reference.explore(anywhere), seconds=0)
    assert (found.states, set(found.lassos)) == (81, {"ends"})


def test_more_transitions_than_labels_are_refused() -> None:
    cycles = FairCycles.__new__(FairCycles)
    cycles.program = SimpleNamespace(system=SimpleNamespace(name="large", transitions=range(2**16 + 1)))  # type: ignore[assignment]
    with pytest.raises(ValueError, match=r"^large has more than 65536 transitions: no liveness$"):
        cycles.edges(np.zeros(1, np.uint32), np.zeros(1, np.uint32), 1)
