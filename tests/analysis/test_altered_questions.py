"""A verdict with a patch says so if the patch changes what is asked, or where it begins."""

from collections.abc import Callable
from pathlib import Path

import pytest

from podrace.analysis.altered_questions import Altered, altered, altered_by
from podrace.analysis.chain import verdict_on
from podrace.analysis.compare.inquiry import with_changes
from podrace.analysis.request.method import USUAL
from podrace.analysis.request.patches import patches_of
from podrace.analysis.request.plan import Run, Selection, plan
from podrace.checker.core.exploration import Budget
from podrace.model.language import Expr, any_of, as_expr
from podrace.properties.base.property import Property
from tests.cli.helpers import Shell, flat

HEAD = "from podrace.patching import Cache, Expr, Pod, PriorityQueue, any_of, as_expr, boolean, per, require\n\n\n"
NEVER = """\
class Never(Cache):
    def is_assumed(self, pod: Pod) -> Expr:
        return as_expr(False)
"""
SAME = """\
class Same(Cache):
    def is_assumed(self, pod: Pod) -> Expr:
        return super().is_assumed(pod)
"""
EXTENDS = """\
class Extends(PriorityQueue):
    kept_aside = per(Pod, boolean())

    def contains(self, pod: Pod) -> Expr:
        return super().contains(pod) | self.kept_aside[pod]
"""
HAS_ALL = """\
class HasAll(PriorityQueue):
    def contains(self, pod: Pod) -> Expr:
        return as_expr(True)
"""
BEGINS = """\
class Begins(Cache):
    def setup(self) -> None:
        super().setup()
        for p in self.universe[Pod]:
            self.pod[p].assumed = True
"""
WATCHES = """\
class Watches(Cache):
    def observe(self) -> None:
        for p in self.universe[Pod]:
            require(~self.pod[p].assumed)
"""
TINY = "name: tiny\nnodes: {n1: {cpu: 1}}\npods: {a: {cpu: 1}, b: {cpu: 1}}\nscope: {flush: false}\n"
ANOTHER = "what {} asks, as the property reads what is overridden there: the verdict answers another question than without that"


def run_with(folder: Path, prop: str, *classes: str) -> Run:
    """A run in a tiny cluster, with a file for each of these classes."""
    (folder / "tiny.yaml").write_text(TINY)
    files = [folder / f"patch_{number}.py" for number in range(len(classes))]
    for file, text in zip(files, classes, strict=True):
        file.write_text(HEAD + text)
    patches = patches_of([str(file) for file in files])
    (run,) = plan(
        Selection([str(folder / "tiny.yaml")], properties=[prop], release="1.36.0", patches=patches)
    )
    return run


@pytest.mark.parametrize(
    ("prop", "patch", "expected"),
    [
        ("S-NOM", SAME, Altered()),
        ("S-CAP", HAS_ALL, Altered()),
        ("S-NOM", NEVER, Altered("what S-NOM asks", ("Never alters " + ANOTHER.format("S-NOM"),))),  # read by its observer
        ("S-CONS", HAS_ALL, Altered("what S-CONS asks", ("HasAll alters " + ANOTHER.format("S-CONS"),))),
        (
            "S-CONS",
            EXTENDS,
            Altered(
                notes=(
                    ("Extends extends what S-CONS asks by new state (queue.kept_aside[a], queue.kept_aside[b]): "
                    "it is the same question while that is as at first"),
                )
            ),
        ),
        (
            "S-CAP",
            BEGINS,
            Altered(
                notes=(
                    ("Begins changes the initial state (cache.pod[a].assumed, cache.pod[b].assumed): "
                    "the verdict is about runs that begin there"),
                )
            ),
        ),
    ],
)  # fmt: skip
def test_a_change_of_the_question_is_told(tmp_path: Path, prop: str, patch: str, expected: Altered) -> None:
    assert altered(run_with(tmp_path, prop, patch)) == expected


class Tested(Property):
    """Nothing is asked."""

    id = "MY-TESTED"

    def holds(self) -> Expr:
        return as_expr(True)

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is assumed": any_of(self.cache.is_assumed(p) for p in self.pods)}


def test_who_alters_only_what_shows_that_it_was_tested_is_told(tmp_path: Path) -> None:
    run = run_with(tmp_path, "S-CAP", NEVER)
    assert altered_by(run.composition, run.scenario.spec, Tested) == Altered(
        "what shows that MY-TESTED was tested",
        (
            (
                "Never alters what shows that MY-TESTED was tested, as its witnesses read what is overridden there: "
                "a HOLDS may be vacuous unseen"
            ),
        ),
    )


def test_of_two_the_one_that_does_it_is_named(tmp_path: Path) -> None:
    found = verdict_on(run_with(tmp_path, "S-CONS", SAME, HAS_ALL), Budget(), USUAL)
    assert "HasAll alters " + ANOTHER.format("S-CONS") in found.notes


def test_who_acts_at_the_end_of_every_step_is_told(tmp_path: Path) -> None:
    assert run_with(tmp_path, "S-CAP", WATCHES).composition.notes == (
        "Watches acts at the end of every step, in any step (Cache: observe): the verdict is about a cluster where that is so",
    )


def test_an_answer_to_another_question_is_no_fix(tmp_path: Path) -> None:
    file = tmp_path / "has_all.py"
    file.write_text(HEAD + HAS_ALL)
    selection = Selection(["dropped-by-pop"], properties=["S-CONS"])
    compared = with_changes([str(file)], None, selection, Budget(), USUAL, alone=True)
    (pair,) = compared.pairs
    assert (pair.before.verdict, pair.after.verdict) == ("VIOLATED", "HOLDS")
    assert (pair.outcome, pair.remark) == ("inconclusive", "the change alters what S-CONS asks")


@pytest.fixture
def verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs `podrace verify` with the patch HAS_ALL; gives exit code and text."""
    (tmp_path / "has_all.py").write_text(HEAD + HAS_ALL)

    def run(*options: str) -> tuple[int, str]:
        ran = Shell(capsys)("verify", str(tmp_path / "has_all.py"), *options)
        return ran.code, flat(ran.out)

    return run


def test_a_safety_net_of_another_question_needs_no_more_states(
    verified: Callable[..., tuple[int, str]],
) -> None:
    _, out = verified("--scenario", "dropped-by-pop", "--property", "S-CAP")
    assert (
        "regression checks that show nothing, because the change alters a query that they read: S-CONS (dropped-by-pop, vacuous); "
        "do not override this query, or leave the checks out (--alone)"
    ) in out
    assert "--max-states" not in out
    _, out = verified("--scenario", "dropped-by-pop", "--property", "S-CONS", "--alone")
    assert "S-CONS in dropped-by-pop: the change alters what S-CONS asks" in out
