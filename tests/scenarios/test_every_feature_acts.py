"""Each option of a scope and each section acts in a small scenario of its own."""

from __future__ import annotations

import pytest

from tests.scenarios.acting import parts_and_idle, read
from tests.scenarios.features import FEATURES


@pytest.mark.parametrize("name", FEATURES)
def test_each_is_accepted(name: str) -> None:
    assert read((name,)) is not None


@pytest.mark.ci
@pytest.mark.parametrize("name", FEATURES)
def test_each_acts(name: str) -> None:
    assert parts_and_idle((name,), 80, 500)[1] == set()
