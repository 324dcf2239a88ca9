"""`podrace verify` and `podrace diff`: what a change fixes, breaks, and takes away."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from podrace.analysis.compare.inquiry import candidates_of, default_release, fits, runs_of
from podrace.analysis.request.plan import Selection, with_gates_of
from podrace.analysis.systems import system_of
from podrace.cli.commands.compare.verify import diff_code, verify_code
from podrace.model.history import RELEASES, resolve
from podrace.reports.document import Finding, Fixes, Word
from podrace.reports.step import ShownChange, ShownStep
from podrace.reports.verify.comparison import Comparison, Decided, Lost, Pair, outcome_of
from podrace.reports.verify.comparison_text import decision_words
from podrace.scenarios import catalogue
from tests.cli.helpers import TINY, Shell

HERE = Path(__file__).parents[1] / "patches"
BASE = (
    "--release",
    "1.13.0",
    "--with-fix",
    "72558",
    "--with-fix",
    "73309",
    "--with-fix",
    "90660",
    "--with-fix",
    "77990",
)
SMALL = ("--scenario", str(HERE / "small-race.yaml"))


def read(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.nightly
def test_the_fix_of_the_seed_race_leaves_another_interleaving(shell: Shell) -> None:
    ran = shell("verify", "72259", "--release", "1.13.0", "--scenario", "72124", "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    told = read(ran.out)
    assert told["outcomes"] == {"S-NOMVIS": "fixed", "S-NOM": "still violated"}
    visible, strong = told["pairs"]
    assert visible["after"]["states"] == 8820374
    assert strong["remark"].startswith(
        "by another interleaving: the earlier one stops before its step 15 of 15"
    )
    assert len(strong["after"]["trace"]) == 18
    assert strong["after"]["trace"][-1]["step"] == "assume"
    assert (told["lost"], told["undecided"], told["steps_lost"]) == ([], [], [])
    assert told["steps_gained"] == []
    parted = told["difference"]
    assert [s["step"] for s in parted["steps"]][-1] == "dry_run"
    assert parted["shortest"] is True
    (decided,) = parted["decisions"]
    assert decided["step"] == "scheduler.choose_candidate(pod=p, node=n1)"
    assert decided["kind"] == "another effect"
    assert decided["before"] == {"scheduler.phase": "PATCH_NOMINATION"}
    assert decided["after"] == {"scheduler.phase": "NOMINATE"}
    assert decided["then"] != decided["otherwise"]


@pytest.mark.ci
def test_a_difference_is_told_in_the_words_of_counterexamples(shell: Shell) -> None:
    ghost = str(HERE.parents[2] / "scenarios" / "hazards" / "ghost.yaml")
    ran = shell("diff", "1.34.4", "1.36.3", "--scenario", ghost)
    assert ran.code == 0
    (last,) = " ".join(ran.out.split()).split("The two decide differently ")[1:]
    assert last == (
        "after 1 step in ghost: 1. A user deletes p. Next on both: The watch delivers an event about p to the queue's handler. "
        "After it, only on 1.36.3: p is gone: the queue's handler looks whether the cache has it assumed."
    )


def _step(told: str, said: str | None = None) -> ShownStep:
    return ShownStep(1, "a", "part", "step", {}, "", (ShownChange("part.x", 0, 1, said),), told=told)


@pytest.mark.parametrize(
    ("decided", "words"),
    [
        (
            Decided("part.step()", "only before", first=_step("It steps.")),
            "Possible next on A, not on B: It steps.",
        ),
        (
            Decided("part.step()", "only after", second=_step("It steps.")),
            "Possible next on B, not on A: It steps.",
        ),
        (
            Decided("s", "another effect", first=_step("It stays."), second=_step("It goes.")),
            "Next on A: It stays. On B: It goes.",
        ),
        (
            Decided(
                "s",
                "another effect",
                {"part.x": 1},
                {"part.x": 2},
                _step("It.", "x is 1"),
                _step("It.", "x is 2"),
            ),
            "Next on both: It. On A: x is 1. On B: x is 2.",
        ),
        (
            Decided("s", "another effect", {"part.x": 1}, {"part.x": 2}, _step("It."), _step("It.")),
            "Next on both: It. The two change 1 variable of the model differently: see -o json.",
        ),
    ],
)
def test_words_of_a_decision(decided: Decided, words: str) -> None:
    assert decision_words(decided, "A", "B") == words


@pytest.mark.ci
def test_a_wrong_patch_fixes_one_property_and_breaks_another(shell: Shell) -> None:
    patch, scenario = str(HERE / "never_cleared.py"), str(HERE / "deleted-preemptor.yaml")
    ran = shell("verify", patch, *BASE, "--scenario", scenario, *SMALL)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert "L-PEND: REGRESSED" in lines
    assert "S-NOMVIS: fixed" in lines
    assert "r waits indefinitely although it fits" in ran.out


def test_the_right_patch_breaks_nothing_there(shell: Shell) -> None:
    scenario = str(HERE / "deleted-preemptor.yaml")
    ran = shell("verify", "72259", *BASE, "--scenario", scenario, "-o", "json")
    assert ran.code == 0
    told = read(ran.out)
    assert (told["outcomes"], told["lost"]) == ({"L-PEND": "holds both"}, [])


@pytest.mark.ci
def test_a_patch_that_never_schedules_is_caught(shell: Shell) -> None:
    ran = shell("verify", str(HERE / "never_schedules.py"), "--release", "1.13.0", *SMALL, "-o", "json")
    assert ran.code == 1
    told = read(ran.out)
    assert told["outcomes"] == {"S-NOMVIS": "fixed"}
    assert {one["scenario"] for one in told["lost"]} == {"small-race"}
    assert [one["witness"] for one in told["lost"]] == [
        "p is bound",
        "q is bound",
        "a pod is assumed where not all fit",
        "a pod waits although it fits",
        "an attempt at a pod ends in a verdict",
    ]
    assert told["pairs"][0]["witnesses_lost"] == ["preemption chooses a node that another pod may take"]
    assert "scheduler.assume" in told["steps_lost"]


@pytest.mark.nightly
def test_three_changes_are_needed_together(shell: Shell) -> None:
    ran = shell(
        "verify",
        "72259",
        "77990",
        "90660",
        "--minimal",
        "--property",
        "S-NOM",
        "--scenario",
        "72124",
        "-o",
        "json",
    )
    assert (ran.code, ran.err) == (0, "")
    told = read(ran.out)
    assert told["release"] == "1.13.0"
    assert told["minimal"] == [["72259", "77990", "90660"]]
    assert [(t["changes"], t["steps"]) for t in told["tried"]] == [
        ([], 15),
        (["72259"], 18),
        (["77990"], 15),
        (["90660"], 17),
        (["72259", "77990"], 18),
        (["72259", "90660"], 20),
        (["77990", "90660"], 17),
        (["72259", "77990", "90660"], None),
    ]


def test_no_set_is_enough(shell: Shell) -> None:
    ran = shell("verify", "77990", "--minimal", "--release", "1.13.0", "--property", "S-NOMVIS", *SMALL)
    assert ran.code == 1
    assert "No set of these changes was found" in ran.out


def test_releases_differ(shell: Shell) -> None:
    ran = shell("diff", "1.28.0", "1.29.0", "--scenario", "error-is-parked")
    assert ran.code == 1
    assert "S-STUCK: fixed" in ran.out.splitlines()


def test_releases_that_do_not(shell: Shell) -> None:
    ran = shell(
        "diff", "--before", "1.29.0", "--after", "1.30.0", "--scenario", "error-is-parked", "-o", "markdown"
    )
    assert ran.code == 0
    assert ran.out.startswith("# podrace: 1.29.0 → 1.30.0\n\n|  | property |")
    assert "| ✅ | S-STUCK | error-is-parked | HOLDS | HOLDS | holds both" in ran.out


def test_check_takes_a_patch(shell: Shell, tmp_path: Path) -> None:
    tiny = tmp_path / "tiny.yaml"
    tiny.write_text(TINY)
    ran = shell("check", str(tiny), "--patch", str(HERE / "never_schedules.py"), "-o", "json")
    assert ran.code == 0
    (row,) = json.loads(ran.out)
    assert row["fixes"]["patches"] == ["NeverSchedules"]
    assert (row["verdict"], row["vacuous"]) == ("HOLDS", True)


def finding(verdict: Word, trace: bool = False) -> Finding:
    return Finding("s", "1.13.0", Fixes(), "S-CAP", verdict, 1, 1, 1, None, trace=() if trace else None)


def comparison(
    before: Word, after: Word, lost: tuple[Lost, ...] = (), open_: tuple[Lost, ...] = ()
) -> Comparison:
    pair = Pair(outcome_of(before, after), finding(before), finding(after))
    return Comparison("a", "b", (pair,), lost=lost, undecided=open_)


@pytest.mark.parametrize(
    ("before", "after", "outcome", "code", "strict", "diff"),
    [
        ("HOLDS", "HOLDS", "holds both", 0, 0, 0),
        ("VIOLATED", "HOLDS", "fixed", 0, 0, 1),
        ("HOLDS", "VIOLATED", "REGRESSED", 1, 1, 1),
        ("VIOLATED", "VIOLATED", "still violated", 0, 1, 0),
        ("INCONCLUSIVE", "HOLDS", "holds after", 0, 0, 3),
        ("INCONCLUSIVE", "VIOLATED", "inconclusive", 3, 3, 3),
        ("HOLDS", "INCONCLUSIVE", "inconclusive", 3, 3, 3),
        ("VIOLATED", "INCONCLUSIVE", "inconclusive", 3, 3, 3),
    ],
)
def test_outcomes_and_exit_codes(
    before: Word, after: Word, outcome: str, code: int, strict: int, diff: int
) -> None:
    found = comparison(before, after)
    assert found.outcomes == {"S-CAP": outcome}
    assert (verify_code(found), verify_code(found, strict=True), diff_code(found)) == (code, strict, diff)


def test_what_is_out_of_reach_counts_and_what_is_undecided() -> None:
    gone = (Lost("s", "p is bound"),)
    assert verify_code(comparison("HOLDS", "HOLDS", lost=gone)) == 1
    assert verify_code(comparison("HOLDS", "HOLDS", open_=gone)) == 3


def test_the_gravest_scenario_decides_a_property() -> None:
    pairs = (*comparison("VIOLATED", "HOLDS").pairs, *comparison("HOLDS", "VIOLATED").pairs)
    assert Comparison("a", "b", pairs).outcomes == {"S-CAP": "REGRESSED"}


def test_scenarios_with_plugins_fit_only_releases_with_a_framework() -> None:
    by_name = {s.name: s for s in catalogue()}
    old, new = resolve("1.13.0"), resolve("1.15.0")
    assert [fits(by_name["error-is-parked"], c) for c in (old, new)] == [False, True]
    assert [fits(by_name["phantom-preemptor"], c) for c in (old, new)] == [True, True]
    runs, left_out = runs_of(Selection(), old, old)
    assert {"error-is-parked", "waiting-victim"} <= set(left_out)
    assert sorted({*left_out, *(run.scenario.name for run in runs)}) == sorted(by_name)
    assert {run.scenario.name for run in runs}.isdisjoint(left_out)
    assert {"error-is-parked", "waiting-victim"}.isdisjoint(runs_of(Selection(), new, new)[1])


def test_scenarios_fit_the_releases_that_have_what_is_in_them() -> None:
    """Gates, groups and claims: without `--scenario` the others are left out, and nothing is refused."""
    by_name = {s.name: s for s in catalogue()}
    for name, first, last in (
        ("device-twice", "1.32", ""),
        ("volume-told-early", "1.32", ""),
        ("gangs-deadlock", "1.35", "1.36"),
    ):
        found = [r for r in RELEASES if fits(by_name[name], resolve(r))]
        assert (found[0], found[-1]) == (first, last or RELEASES[-1])
    assert "device-twice" in runs_of(Selection(), resolve("1.31.0"), resolve("1.36.0"))[1]
    off = resolve("1.36.0", gates={"GangScheduling": False})
    assert not fits(by_name["gangs-deadlock"], off, {"GangScheduling": False})


@pytest.mark.representatives(2)
@pytest.mark.ci
@pytest.mark.parametrize("release", [RELEASES[0], "1.22.0", "1.31.0", "1.34.0", "1.36.0", RELEASES[-1]])
def test_the_whole_catalogue_can_be_compared(release: str) -> None:
    """What is not left out can be traced."""
    composition = resolve(release)
    runs, _ = runs_of(Selection(), composition, composition)
    first = {run.scenario.file: run for run in runs}
    for run in first.values():
        system_of(replace(run, composition=with_gates_of(run.scenario, composition, {})))
    assert len(first) > 45


def test_the_whole_catalogue_on_a_release(shell: Shell) -> None:
    """Scenarios with what a release does not have are left out where nobody names them."""
    ran = shell("check", "--release", "1.22.0", "--property", "S-VOL", "--max-states", "1", "-o", "json")
    assert ran.code in (0, 3), ran.err
    found = {finding["scenario"] for finding in json.loads(ran.out)}
    assert "phantom-preemptor" in found
    assert "device-twice" not in found


def test_the_release_to_start_from() -> None:
    assert default_release(candidates_of(["72259", "90660"])) == "1.13"
    assert (
        default_release(candidates_of(["139450"])) == default_release(candidates_of(["141255"])) == "1.37.2"
    )
    assert default_release(candidates_of([str(HERE / "never_schedules.py")])) == "1.37.2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "99999"], "podrace: unknown change `99999`: name a Python file, or an upstream change; the nearest: "),
        (["verify", "72259", "--release", "1.14.0"], "podrace: 1.14.0 has 72259 already: choose an earlier release with --release"),
        (["verify", "missing.py"], "podrace: missing.py: there is no such file"),
        (["verify", "70898", "--release", "1.12.0", "--scenario", "99"], "podrace: unknown scenario `99`; "),
        (["verify", "72259", "kubernetes/kubernetes#72259"], "podrace: `kubernetes/kubernetes#72259` names a change twice: name each change once"),
        (["verify", *[str(HERE / "never_schedules.py")] * 2, "--minimal"], f"podrace: `{HERE / 'never_schedules.py'}` names a change twice"),
        (["verify", "72259", "--minimal", "--strict"], "podrace: --minimal compares sets of changes: leave out"),
        (
            ["diff", "--before", "1.36.0", "--after", "1.36.0"],
            "podrace: --after 1.36.0 is the same release as --before 1.36.0: name another",
        ),
        (["diff", "1.13.0"], "podrace: name two releases, such as `podrace diff 1.33 1.36`"),
        (["diff", "--before", "1.13.0", "--after", "9.9"], "podrace: unknown release `9.9`; the nearest: 1.37.2; "),
    ],
)  # fmt: skip
def test_mistakes(shell: Shell, arguments: list[str], message: str) -> None:
    ran = shell(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(message)
    assert ran.err.count("\n") == 1


def test_a_change_that_changes_nothing(shell: Shell, tmp_path: Path) -> None:
    tiny = tmp_path / "tiny.yaml"
    tiny.write_text(TINY)
    path = tmp_path / "same.py"
    path.write_text(
        "from podrace.patching import Expr, Pod, Scheduler\n\n\n"
        "class Same(Scheduler):\n"
        "    def skips(self, pod: Pod) -> Expr:\n"
        "        return super().skips(pod)\n"
    )
    ran = shell("verify", str(path), "--scenario", str(tiny))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(
        "podrace: Same changes nothing on 1.37.2: in every scenario the two systems are the same"
    )


def test_a_race_that_needs_another_change_beside_its_fix(shell: Shell) -> None:
    ran = shell("verify", "126962", "--scenario", "skipped-in-flight")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "podrace: 126962 changes nothing on 1.31.0: in every scenario the two systems are the same; "
        "skipped-in-flight is a race seen only with 118438: add --with-fix 118438\n"
    )
    ran = shell("verify", "126962", "--scenario", "skipped-in-flight", "--with-fix", "118438", "--alone")
    assert ran.code == 0
    assert "The two change 1 variable of the model differently: see -o json." in " ".join(ran.out.split())


def test_a_trace_of_a_patch_is_replayed_with_the_patch(shell: Shell, tmp_path: Path) -> None:
    patch, trace = str(HERE / "never_cleared.py"), str(tmp_path / "trace.json")
    ran = shell(
        "check",
        *SMALL[1:],
        "--patch",
        patch,
        "--release",
        "1.13.0",
        "--property",
        "S-NOM",
        "--save-trace",
        trace,
    )
    assert ran.code == 1
    ran = shell("replay", trace)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("fixes: it was found with NeverCleared: name its file with --patch\n")
    ran = shell("replay", trace, "--patch", patch)
    assert (ran.code, ran.err) == (0, "")
    assert "1.13.0 + NeverCleared: S-NOM" in ran.out


def test_a_step_that_can_always_run_fixes_nothing(shell: Shell) -> None:
    """Deadlock freedom claims something only of states in which nothing moves by itself: there is none any more."""
    hazard = str(HERE.parents[2] / "scenarios" / "hazards" / "kept-out-by-others.yaml")
    ran = shell("verify", str(HERE / "ticks.py"), "--release", "1.36.3", "--scenario", hazard)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert lines[2].split() == ["row", "property", "scenario", "before", "after", "states", "outcome"]
    row = "1/1  S-STUCK   kept-out-by-others  VIOLATED      HOLDS                         98 / 84  fixed (vacuous)"
    assert lines[3] == row
    lost = "OUT OF REACH after it, and reached before without a violation: nothing moves by itself (kept-out-by-others)"
    assert lost in " ".join(lines)
    (net,) = [line for line in lines if line.startswith("regression checks that hold after it")]
    assert net == "regression checks that hold after it: S-TOLD (kept-out-by-others, vacuous)"
