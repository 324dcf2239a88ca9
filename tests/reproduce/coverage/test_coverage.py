"""Coverage of the real scheduler: profiles read, the page's form, and, where Go is, its figures."""

from __future__ import annotations

import os

import pytest

from podrace.analysis.request.method import NOBODY, Method, budget_for
from podrace.model.history import resolve
from podrace.reproduce.case import WAITING, Case
from podrace.reproduce.lockstep.lockstep import AT_ONCE, WITHIN_LOCKS, case_for
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.modules.toolchain import GoProblem, find_go
from podrace.reproduce.random_runs.claim_clusters import claim_cluster
from podrace.reproduce.random_runs.random_runs import Wanted as WantedRuns
from podrace.reproduce.random_runs.random_runs import random_runs
from podrace.reproduce.reproducing import prepare
from podrace.reproduce.request import Wanted, searched
from podrace.scenarios import find_scenarios, hazards
from tests.reproduce.coverage.coverage_page import LARGEST, PAGE, figures, largest, put, rows, short
from tests.reproduce.coverage.measuring import Coverage, measured
from tests.reproduce.coverage.profile import Reached, merged_text, read_profiles
from tests.reproduce.real.scenario_tables import TABLES
from tests.reproduce.real.test_real_groups import GROUPS, TRACES
from tests.reproduce.real.test_real_scenarios import SCENARIOS

VERSION = "1.36.3"
RUNS = WantedRuns(clusters=20, runs=25, without=tuple(WITHIN_LOCKS))
ASYNCHRONOUS_RUNS = WantedRuns(clusters=8, runs=15, without=tuple(WITHIN_LOCKS))
RUNS_WITH_CLAIMS = WantedRuns(clusters=6, runs=14, without=tuple(WITHIN_LOCKS), cluster=claim_cluster)

FIRST = """\
mode: set
a/b/one.go:3.20,5.2 2 1
a/b/one.go:7.20,9.2 3 0
a/c/two.go:3.20,5.2 5 0
"""
SECOND = """\
mode: set
a/b/one.go:3.20,5.2 2 0
a/b/one.go:7.20,9.2 3 0
a/c/two.go:3.20,5.2 5 1
"""
LISTED = """\
a/b/one.go:3:\tFirst\t100.0%
a/b/one.go:7:\tSecond\t0.0%
a/c/two.go:3:\tThird\t100.0%
total:\t(statements)\t70.0%
"""


def test_a_block_is_reached_if_any_run_reaches_it() -> None:
    profile = read_profiles([FIRST, SECOND])
    assert profile.packages() == [Reached("a/b", 5, 2), Reached("a/c", 5, 5)]
    assert [one.percent for one in profile.packages()] == [40.0, 100.0]
    assert profile.functions(LISTED) == [
        Reached("a/b/one.go: First", 2, 2),
        Reached("a/b/one.go: Second", 3, 0),
        Reached("a/c/two.go: Third", 5, 5),
    ]
    assert read_profiles([merged_text(profile)]) == profile
    assert profile.files == ("a/b/one.go", "a/c/two.go")


def test_what_is_no_profile_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^no block of a coverage profile: a/b/one\.go:3$"):
        read_profiles(["mode: set\na/b/one.go:3\n"])


def test_figures_are_made_anew_and_reasons_stay() -> None:
    text = (
        "<!-- total -->\n<!-- /total -->\n<!-- packages -->\n| `queue` | 1 of 2 | 50 % | because |\n<!-- /packages -->\n"
        "<!-- unreached -->\n<!-- /unreached -->\n"
    )
    packages = (
        Reached("k8s.io/kubernetes/pkg/scheduler/queue", 4, 3),
        Reached("k8s.io/kubernetes/pkg/scheduler", 6, 0),
    )
    functions = (
        Reached("k8s.io/kubernetes/pkg/scheduler/a.go: F", 6, 0),
        Reached("k8s.io/kubernetes/pkg/scheduler/queue/q.go: G", 4, 3),
    )
    made = put(text, Coverage("v1.36.3", 7, packages, functions))
    assert rows(made, "packages") == {
        "queue": ("3 of 4 | 75 %", "because"),
        "scheduler": ("0 of 6 | 0 %", ""),
    }
    assert rows(made, "unreached") == {"a.go: F": ("6", "")}
    assert "v1.36.3, 7 runs: 3 of 10 statements, 30 %." in made
    assert put(made, Coverage("v1.36.3", 7, packages, functions)) == made


def test_the_page_has_a_reason_for_everything_that_is_left() -> None:
    text = PAGE.read_text(encoding="utf-8")
    packages, unreached = rows(text, "packages"), rows(text, "unreached")
    without = [name for name, (said, why) in packages.items() if not why and not said.endswith("| 100 %")]
    assert without == []
    assert len(unreached) == LARGEST
    assert [name for name, (_, why) in unreached.items() if not why] == []


@pytest.mark.real
def test_the_page_says_what_is_reached() -> None:
    try:
        go = find_go()
    except GoProblem as problem:
        if os.environ.get("PODRACE_GO") == "required":
            raise
        pytest.skip(str(problem))
    if VERSION not in (os.environ.get("PODRACE_REAL") or VERSION) or os.environ.get("PODRACE_REAL_PART"):
        pytest.skip(f"the coverage is that of {VERSION}, and of a run as a whole")
    found = measured(parse_version(VERSION), go, batches(), print)
    if os.environ.get("PODRACE_UPDATE_GOLDEN"):
        PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
        return
    text = PAGE.read_text(encoding="utf-8")
    said = {name: figure for name, (figure, _) in rows(text, "packages").items()}
    real = {short(one.name): one for one in found.packages if one.statements}
    assert said.keys() == real.keys()
    # Goroutines make a statement or two of a difference from run to run.
    assert {
        n: (said[n], figures(one)) for n, one in real.items() if abs(_percent(said[n]) - one.percent) > 1
    } == {}
    assert set(rows(text, "unreached")) == {short(one.name) for one in largest(found)}


def batches() -> list[list[Case]]:
    """The hazards, traces of groups, other actors, volumes and claims, and random runs of the model: as 1.36 is, with asynchronous API calls, and with claims."""
    method = Method()
    groups = [
        one
        for version, name, _, _ in TRACES
        if version == VERSION
        for one in find_scenarios(str(GROUPS / f"{name}.yaml"))
    ]
    wanted = [(scenario, Wanted("", VERSION)) for scenario in (*hazards(), *groups)]
    wanted += [
        (one, Wanted("", VERSION, properties=[identifier]))
        for table in TABLES
        for name, identifier in table.rows
        for one in find_scenarios(str(SCENARIOS / table.folder / f"{name}.yaml"))
    ]
    asked = [
        one
        for scenario, which in wanted
        for one in prepare(list(searched([scenario], which, budget_for(), method, NOBODY)))
    ]
    compositions = [
        (resolve(VERSION), RUNS),
        (resolve(VERSION, gates={WAITING: True}), ASYNCHRONOUS_RUNS),
        (resolve(VERSION), RUNS_WITH_CLAIMS),
    ]
    runs = [run for composition, drawn in compositions for run in random_runs(composition, drawn) if run.path]
    cases = [case_for(run, f"run {number}") for number, run in enumerate(runs, 1)]
    some = [cases[i : i + AT_ONCE] for i in range(0, len(cases), AT_ONCE)]
    return [[one.case for one in asked if one.case is not None], *some]


def _percent(said: str) -> float:
    return float(said.rpartition("| ")[2].removesuffix(" %"))
