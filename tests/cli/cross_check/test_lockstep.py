"""`podrace lockstep`: what cannot be asked together is said before Go is looked for."""

from __future__ import annotations

import pytest

from tests.cli.helpers import Shell


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--claims", "--groups"], "--claims: one kind of clusters at a time: leave out --groups"),
        (["--extended", "--claims"], "--extended: one kind of clusters at a time: leave out --claims"),
        (["--extended", "--extenders"], "--extended: one kind of clusters at a time: leave out --extenders"),
        (["--extenders", "--claims"], "--extenders: one kind of clusters at a time: leave out --claims"),
    ],
)
def test_one_kind_of_clusters(shell: Shell, options: list[str], line: str) -> None:
    ran = shell("lockstep", *options)
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {line}\n")
