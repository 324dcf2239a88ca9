"""`podrace verify` compares the safety nets, too: a race that is closed by losing pods is not fixed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis.compare.safety_nets import FACTOR, LEAST_STATES, NetSearch
from podrace.analysis.request.method import NOBODY, USUAL
from podrace.checker.core.exploration import Budget
from podrace.cli.commands.compare.verify import verify_code
from podrace.reports.verify.comparison import Comparison, Net, NetOutcome
from podrace.scenarios.catalogue import HERE as SCENARIOS
from tests.cli.compare.test_verify import comparison
from tests.cli.helpers import Shell

PATCHES = Path(__file__).parents[1] / "patches"
DROPS = str(PATCHES / "drops_failed.py")
GHOST = ("--scenario", str(SCENARIOS / "hazards" / "ghost.yaml"), "--release", "1.34.0")


@pytest.mark.usefixtures("searched_once")
def test_a_patch_that_drops_every_failed_pod_is_no_success(shell: Shell) -> None:
    ran = shell("verify", DROPS, *GHOST)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert "S-GHOST: fixed" in lines
    assert (
        "REGRESSION CHECKS FAILED, which held before: S-CONS (ghost), S-STUCK (ghost), L-PEND (ghost); "
        "the shortest counterexample of them is below" in " ".join(lines)
    )
    # One counterexample is enough: the others show the same.
    assert [line for line in lines if line.endswith(" REGRESSED")] == [
        "ghost, 1.34.0 + DropsFailed: S-CONS REGRESSED"
    ]
    assert len(lines) < 60


@pytest.mark.usefixtures("searched_once")
def test_json_and_markdown_say_the_same(shell: Shell) -> None:
    ran = shell("verify", DROPS, *GHOST, "-o", "json")
    told = json.loads(ran.out)
    assert (ran.code, told["outcomes"], told["alone"]) == (1, {"S-GHOST": "fixed"}, [])
    assert [(n["property"], n["outcome"], n["states"]) for n in told["nets"]] == [
        ("S-CONS", "REGRESSED", 490),
        ("S-FLIGHT", "holds", 468),
        ("S-CAP", "holds", 468),
        ("S-STUCK", "REGRESSED", 490),
        ("L-PEND", "REGRESSED", 490),
        ("S-TOLD", "holds", 471),
    ]
    assert len(told["nets"][0]["after"]["trace"]) == 10
    ran = shell("verify", DROPS, *GHOST, "-o", "markdown")
    assert "- REGRESSION CHECKS FAILED, which held before: S-CONS (ghost)" in ran.out
    assert "\n## ❌ ghost, 1.34.0 + DropsFailed: S-CONS REGRESSED\n" in ran.out


def test_what_is_compared_alone_is_said(shell: Shell) -> None:
    ran = shell("verify", DROPS, *GHOST, "--alone")
    assert ran.code == 0
    alone = "compared only S-GHOST; the regression checks S-CONS, S-FLIGHT, S-CAP, S-STUCK, L-PEND, S-TOLD were not compared"
    assert alone in " ".join(ran.out.split())
    ran = shell("verify", DROPS, *GHOST, "--minimal", "--no-color")
    assert ran.code == 0
    assert f"{alone}; verify without --minimal compares them." in " ".join(ran.out.split())


def test_a_property_that_is_asked_for_is_no_net_beside(shell: Shell) -> None:
    ran = shell("verify", DROPS, *GHOST, "--property", "S-CONS", "-o", "json")
    told = json.loads(ran.out)
    assert (ran.code, told["outcomes"]) == (1, {"S-CONS": "REGRESSED"})
    assert [n["property"] for n in told["nets"]] == ["S-FLIGHT", "S-CAP", "S-STUCK", "L-PEND", "S-TOLD"]


LEAVES_IN_FLIGHT = """
from podrace.model.scheduler.cycles.failure import FailureHandler
from podrace.model.language import when


class RequeueLooksAgain(FailureHandler):
    def put_back(self, pod):
        current = self.pod_watch.lister[pod]
        with when(current.pending):
            self.queue.requeue(pod, current.copy())
"""
FITS_ALWAYS = """
from podrace.model.scheduler.framework.filters import Filters
from podrace.model.scheduler.framework.status import Code
from podrace.model.language import as_expr


class FitsAlways(Filters):
    def node_resources(self, pod, node, placement):
        return as_expr(Code.SUCCESS)
"""


@pytest.mark.parametrize(
    ("text", "scenario", "release", "fixed", "net", "steps"),
    [
        # Whoever does not put the pod back has to say that it is in flight no more: the requeue says so otherwise.
        (LEAVES_IN_FLIGHT, "hazards/stale-object.yaml", "1.36", "S-FRESH", "S-FLIGHT", 12),
        (FITS_ALWAYS, "hazards/stale-object.yaml", "1.36", "S-FRESH", "S-CAP", 4),
    ],
)
def test_a_patch_that_mends_one_thing_and_breaks_another(
    text: str, scenario: str, release: str, fixed: str, net: str, steps: int, shell: Shell, tmp_path: Path
) -> None:
    patch = tmp_path / "patch.py"
    patch.write_text(text)
    asked = ("--scenario", str(SCENARIOS / scenario), "--release", release, "--property", fixed, "-o", "json")
    ran = shell("verify", str(patch), *asked)
    told = json.loads(ran.out)
    assert (ran.code, told["outcomes"]) == (1, {fixed: "fixed"})
    regressed = {n["property"]: len(n["after"]["trace"]) for n in told["nets"] if n["outcome"] == "REGRESSED"}
    assert regressed == {net: steps}


def test_the_nets_of_a_good_change_hold(shell: Shell) -> None:
    ran = shell("verify", "assigned-not-requeued", "--scenario", "bound-but-requeued")
    assert ran.code == 0
    assert "regression checks that hold after it: " in ran.out


def test_a_patch_that_has_a_write_refused_keeps_somebody_quiet(shell: Shell, tmp_path: Path) -> None:
    """What 139602 did, and why it was taken back (140098)."""
    patch = tmp_path / "version_in_patch.py"
    patch.write_text(
        "from podrace.patching import before\n\n\n"
        "class VersionInPatch(before('status-patch')):\n"
        "    def write_status(self, pod):\n        super().write_status(pod)\n"
    )
    asked = ("--scenario", "told-too-late", "--release", "1.36.0", "--property", "S-COND", "-o", "json")
    ran = shell("verify", str(patch), *asked)
    told = json.loads(ran.out)
    assert (ran.code, told["outcomes"]) == (1, {"S-COND": "holds both"})
    regressed = [n for n in told["nets"] if n["outcome"] == "REGRESSED"]
    assert [(n["property"], n["states"], len(n["after"]["trace"])) for n in regressed] == [("S-TOLD", 90, 12)]


@pytest.mark.parametrize(
    ("outcome", "code"),
    [("REGRESSED", 1), ("inconclusive", 3), ("violated before", 0), ("holds", 0), ("no difference", 0)],
)
def test_exit_codes(outcome: NetOutcome, code: int) -> None:
    asked = comparison("VIOLATED", "HOLDS")
    with_net = Comparison("a", "b", asked.pairs, nets=(Net("s", "L-PEND", outcome),))
    assert verify_code(with_net) == code
    # A net that nobody asked for is no violation that is still there.
    assert verify_code(with_net, strict=True) == code


def test_a_net_may_look_at_a_multiple_of_what_was_asked() -> None:
    def bound(budget: Budget, states: int) -> int | None:
        return NetSearch(budget, USUAL, NOBODY, states).bounded.max_states

    assert bound(Budget(), 10) == LEAST_STATES
    assert bound(Budget(), LEAST_STATES) == FACTOR * LEAST_STATES
    assert bound(Budget(max_states=7), LEAST_STATES) == 7


def test_a_net_that_a_budget_leaves_open_is_said_and_no_success(shell: Shell) -> None:
    ran = shell("verify", DROPS, *GHOST, "--property", "S-ROOM", "--max-states", "100")
    assert ran.code == 3
    assert "regression checks whose search did not end: S-CONS (ghost)" in ran.out


def test_a_net_that_nothing_tests_any_more_is_out_of_reach(shell: Shell) -> None:
    """A step that can always run: nothing is ever at rest, and deadlock freedom, for which nobody asked, holds only for this reason."""
    patch, hazard = PATCHES / "ticks.py", SCENARIOS / "hazards" / "kept-out-by-others.yaml"
    asked = ("--release", "1.36.3", "--scenario", str(hazard), "--property", "S-CAP", "-o", "json")
    ran = shell("verify", str(patch), *asked)
    told = json.loads(ran.out)
    stuck = [(n["outcome"], n["vacuous"]) for n in told["nets"] if n["property"] == "S-STUCK"]
    assert (ran.code, stuck) == (1, [("holds", True)])
    assert told["lost"] == [{"scenario": "kept-out-by-others", "witness": "nothing moves by itself"}]
