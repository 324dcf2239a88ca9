"""`podrace lockstep`: what cannot be asked together is said before Go is looked for."""

from __future__ import annotations

import pytest

from tests.cli.helpers import Shell


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--release", "1.36"], "--release: it goes with --kubernetes"),
        (["--claims", "--groups"], "--claims: one kind of clusters at a time: leave out --groups"),
        (["--groups", "--trees"], "--groups: one kind of clusters at a time: leave out --trees"),
        (["--extended", "--claims"], "--extended: one kind of clusters at a time: leave out --claims"),
        (["--extended", "--extenders"], "--extended: one kind of clusters at a time: leave out --extenders"),
        (["--extenders", "--claims"], "--extenders: one kind of clusters at a time: leave out --claims"),
    ],
)
def test_one_kind_of_clusters(shell: Shell, options: list[str], line: str) -> None:
    ran = shell("lockstep", *options)
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {line}\n")


def test_a_version_that_the_model_does_not_have(shell: Shell) -> None:
    ran = shell("lockstep", "--kubernetes", "v1.36.99")
    known = "1.36.0, 1.36.1, 1.36.3, 1.36.4, 1.36.5"
    line = f"--kubernetes: the model does not have v1.36.99, of 1.36 it has {known}: name one of these, or say with --release what to compare it with"
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {line}\n")
