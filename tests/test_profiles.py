"""The profiles of the tests: what fast leaves out, and that nothing else does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import durations, profiles

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("full", "fast", "ci"), [(500, 50, 166), (60, 6, 20), (12, 3, 4), (3, 3, 3), (2, 2, 2)]
)
def test_fast_takes_a_tenth_of_the_examples_and_ci_a_third(
    monkeypatch: pytest.MonkeyPatch, full: int, fast: int, ci: int
) -> None:
    for name, tried in (("fast", fast), ("ci", ci), ("nightly", full), ("campaign", full)):
        monkeypatch.setattr(profiles, "PROFILE", name)
        assert (profiles.examples(full), profiles.by_profile(fast=1, full=2)) == (
            tried,
            1 if name == "fast" else 2,
        )


def test_a_profile_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODRACE_TESTS", "quick")
    with pytest.raises(
        ValueError, match="PODRACE_TESTS: there is no profile `quick`: use fast, ci, nightly, campaign"
    ):
        profiles.chosen_profile()


def test_ci_runs_lint_and_every_test_but_the_campaign() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^test-all: setup\n\t(.*)$", makefile, re.MULTILINE)
    assert (
        recipe
        == "PODRACE_TESTS=ci $(BIN)/python -m pytest -m 'not campaign and not real and not lockstep and not nightly' $(PYTEST_ARGS)"
    )
    (recipe,) = re.findall(r"^nightly: setup\n\t(.*)$", makefile, re.MULTILINE)
    assert (
        recipe
        == "PODRACE_TESTS=nightly $(BIN)/python -m pytest -m 'not campaign and not real and not lockstep' $(PYTEST_ARGS)"
    )
    commands = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert [c for c in ("make lint </dev/null", "make test-all </dev/null") if c not in commands] == []


@pytest.mark.parametrize(
    ("seconds", "cases", "numbers"),
    [(0.6, 3, [0, 1, 2]), (1.2, 4, [0, 2]), (1.79, 9, [0, 3, 6]), (1.8, 1, []), (150.0, 300, [0])],
)
def test_a_slow_test_keeps_what_fits(seconds: float, cases: int, numbers: list[int]) -> None:
    assert durations.kept(seconds, cases) == numbers


def test_slow_tests_are_there() -> None:
    for name in durations.read():
        file, *classes, test = name.split("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"def {test}\b", text), name
        assert all(f"class {one}" in text for one in classes)


@pytest.mark.representatives(2)
@pytest.mark.parametrize("number", range(5))
def test_of_many_cases_the_representatives_are_in_every_run(
    number: int, request: pytest.FixtureRequest
) -> None:
    assert (request.node.get_closest_marker("nightly") is None) == (number in (0, 2))
