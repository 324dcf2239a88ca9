"""Leaving out steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.checker.core.exploration import Path
from podrace.checker.trace import shrinking as module
from podrace.checker.trace.shrinking import shrink


def needs(*wanted: int) -> module.Shrink:
    """Shows it as soon as the wanted steps have happened in this order."""

    def shrunk(path: Path) -> Path | None:
        left = list(wanted)
        for i, step in enumerate(path):
            if left and step == left[0]:
                left.pop(0)
            if not left:
                return path[: i + 1]
        return None

    return shrunk


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.data())
def test_what_is_needed_remains(path: list[int], data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(path), max_size=len(path)))
    wanted = tuple(step for step, keep in zip(path, kept, strict=True) if keep)
    if wanted:
        assert shrink(tuple(path), needs(*wanted)) == wanted


def test_steps_that_only_go_together_are_left_out_together() -> None:
    """7 may happen an even number of times: nothing less than two of them can be left out."""

    def even(path: Path) -> Path | None:
        return path if path.count(7) % 2 == 0 and 1 in path else None

    assert shrink((7, 1, 2, 7, 3), even) == (1,)


def test_what_can_no_longer_happen_is_left_out() -> None:
    """3 happens only after 2: what the answer leaves out itself is accepted."""

    def shrunk(path: Path) -> Path | None:
        possible = path if 2 in path else tuple(step for step in path if step != 3)
        return possible if 1 in possible else None

    assert shrink((2, 3, 1, 3), shrunk) == (1,)


def test_a_run_that_shows_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="does not show what it should"):
        shrink((1, 2), needs(3))


def test_a_bound_on_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STEPS", 10)
    # 10 steps: half of the run is left out with the first candidate, and there are 2 steps left for the second.
    assert shrink(tuple(range(16)), needs(15)) == tuple(range(8, 16))
