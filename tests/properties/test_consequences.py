"""What a violation means to somebody who runs pods: every property says it."""

from __future__ import annotations

import pytest

from podrace.properties import PROPERTIES

WORDS = {"activeq", "unschedulableq", "backoffq", "nominator", "lister", "informer", "goroutine", "anew", "whoever"}  # fmt: skip
"""What nobody needs to know who runs pods, or what english does not say so."""


@pytest.mark.parametrize("identifier", PROPERTIES)
def test_every_property_says_what_its_violation_means(identifier: str) -> None:
    said = PROPERTIES[identifier].consequence
    assert "consequence" in vars(PROPERTIES[identifier])
    assert said[0].isupper()
    assert said.endswith(".")
    assert 40 <= len(said) <= 220
    assert WORDS.isdisjoint(said.lower().replace(".", " ").split())


def test_no_two_say_the_same() -> None:
    assert len({prop.consequence for prop in PROPERTIES.values()}) == len(PROPERTIES)
