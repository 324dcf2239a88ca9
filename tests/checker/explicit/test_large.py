"""What a search for fair cycles refuses: the number of a transition has 16 bits there."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from podrace.checker.explicit.liveness.fair_runs import FairCycles


def test_more_transitions_than_labels_are_refused() -> None:
    cycles = FairCycles.__new__(FairCycles)
    cycles.program = SimpleNamespace(system=SimpleNamespace(name="large", transitions=range(2**16 + 1)))  # type: ignore[assignment]
    with pytest.raises(ValueError, match=r"^large has more than 65536 transitions: no liveness$"):
        cycles._edges(np.zeros(1, np.uint32), np.zeros(1, np.uint32), 1)
