"""Readable Go tests: a counterexample as upstream would write it down."""

from collections.abc import Sequence

from ...analysis.ask.asked_property import ID as ASK
from ...base.problems import UsageProblem
from ...model.history.versions import exact
from ..modules.module import OWN_DRIVERS
from ..reproducing import Prepared
from .names import file_of, free_name
from .text import go_test, lines_of


def go_tests(asked: Sequence[Prepared]) -> dict[str, str]:
    """The tests of counterexamples, by the names of their files. Raises UsageProblem if there is none to be written."""
    found: dict[str, str] = {}
    if own := [one.question.version for one in asked if one.question.version in OWN_DRIVERS]:
        raise UsageProblem(f"--go-test: {own[0]} has a driver of its own, without names for moves")
    for one in asked:
        if one.found is None or one.case is None:
            continue
        name = free_name(one.found.run.scenario.name, one.case.property, one.question.version, found)
        found[file_of(name)] = go_test(one.found, one.case, str(one.question.version), name)
    if not found:
        words = "; ".join(one.reproduction.words for one in asked if one.reproduction is not None)
        raise UsageProblem(f"--go-test: there is no counterexample to write down: {words}")
    return found


def must_fail(asked: Sequence[Prepared]) -> bool:
    """Whether all of the tests are of counterexamples that the model has in the very version that is run: then none passes without a patch, unless it does not do what the counterexample does. That of a question passes."""
    found = [(one.found.run, one.question.version) for one in asked if one.found is not None]
    runs = [(run.composition, version) for run, version in found]
    return all(run.property != ASK for run, _ in found) and all(
        exact(composition.release) == version.plain and not (composition.added or composition.removed)
        for composition, version in runs
    )


__all__ = ["file_of", "go_tests", "lines_of", "must_fail"]
