"""`podrace check`: what is run, what is printed, which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis import chain
from podrace.analysis.request.method import Method
from podrace.analysis.request.release_names import NEWEST
from podrace.checker.core.exploration import Budget
from podrace.checker.core.machine import cores
from podrace.cli.terminal import output
from podrace.properties import PROPERTIES
from podrace.reports.document import Word
from tests.cli.helpers import TINY, Shell, flat, pretending


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "tiny.yaml").write_text(TINY)
    return Shell(capsys)


@pytest.mark.parametrize(("verdict", "code"), [("HOLDS", 0), ("VIOLATED", 1), ("INCONCLUSIVE", 3)])
def test_exit_codes(shell: Shell, monkeypatch: pytest.MonkeyPatch, verdict: Word, code: int) -> None:
    with pretending(monkeypatch, verdict):
        ran = shell("check", "tiny.yaml")
    assert (ran.code, ran.err) == (code, "")
    assert f"tiny, 1.19.0: S-CAP {verdict}\n  It {verdict}." in ran.out.replace("\n\n  How it ends\n  ", "\n")


def test_a_violation_counts_more_than_a_budget_that_ran_out(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pretending(monkeypatch, "INCONCLUSIVE", {"1.13.0": "VIOLATED"}):
        assert shell("check", "72124", "tiny.yaml").code == 1


def test_a_race_alone_means_the_release_before_its_fix(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with pretending(monkeypatch) as pretence:
        shell("check", "72124")
    assert [(r.scenario.name, r.composition.label, r.property) for r in pretence.runs] == [
        ("nominated-node-race", "1.13.0", "S-NOMVIS")
    ]


def test_what_is_asked_for_is_run(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with pretending(monkeypatch) as pretence:
        shell(*["check", "72124", "tiny.yaml", "#72259", "--release", "v1.14.0", "--with-fix", "kubernetes/kubernetes#77990", "--without-fix", "#72259", "--property", "s-cap", "--property", "S-NOM", "--engine", "reference", "--max-states", "5M", "--max-memory", "1.5G", "--timeout", "2m"])  # fmt: skip
    assert [(r.scenario.name, r.composition.label, r.property) for r in pretence.runs] == [
        ("nominated-node-race", "1.14.0 + 77990 - 72259", "S-CAP"),
        ("nominated-node-race", "1.14.0 + 77990 - 72259", "S-NOM"),
        ("tiny", "1.14.0 + 77990 - 72259", "S-CAP"),
        ("tiny", "1.14.0 + 77990 - 72259", "S-NOM"),
    ]
    budget = pretence.budgets[0]
    assert (budget.max_states, budget.max_memory, budget.timeout) == (5_000_000, 3 << 29, 120.0)
    assert set(pretence.methods) == {Method("reference", whole_findings=True)}


def test_a_request_that_changes_nothing_is_accepted_and_said(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pretending(monkeypatch):
        ran = shell("check", "tiny.yaml", "--with-fix", "72259", "--release", "1.14.0")
        assert ran.code == 0
        assert "note: tiny, 1.14.0: 1.14.0 already has 72259\n" in ran.out
        ran = shell("check", "tiny.yaml", "--without-fix", "72259", "--release", "1.13.0")
        assert ran.code == 0
        assert "note: tiny, 1.13.0: 1.13.0 does not have 72259\n" in ran.out


def test_options_without_a_name_mean_every_scenario(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with pretending(monkeypatch) as pretence:
        shell("check", "--release", "1.19.0")
    assert {"nominated-node-race", "removed-node-blocks-pods"} <= {r.scenario.name for r in pretence.runs}
    assert {r.composition.label for r in pretence.runs} == {"1.19.0"}


def test_scenarios_with_a_gate_that_a_release_lacks_are_none_of_every_scenario(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pretending(monkeypatch) as pretence:
        shell("check", "--release", "1.34.0")
    older = {r.scenario.name for r in pretence.runs}
    with pretending(monkeypatch) as pretence:
        shell("check", "--release", "1.36.3")
    newer = {r.scenario.name for r in pretence.runs}
    assert sorted(newer - older) == [
        "dismissed-member",
        "gangs-deadlock",
        "shared-in-flight",
        "stranger-in-group",
    ]
    assert shell("check", "gangs-deadlock", "--release", "1.34.0").code == 2


def test_a_scenario_that_names_nothing_is_checked_for_everything_on_the_newest_release(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare.yml").write_text("nodes: {n: {cpu: 1}}\npods: {p: {cpu: 1}}\n")
    with pretending(monkeypatch) as pretence:
        shell("check", "bare.yml")
    assert [r.property for r in pretence.runs] == list(PROPERTIES)
    assert {r.composition.label for r in pretence.runs} == {NEWEST}


BEFORE: dict[str, Word] = {
    NEWEST: "VIOLATED",
    "1.13.0": "VIOLATED",
    "1.13.0 + 72259 S-NOM": "VIOLATED",
    "1.8.0": "VIOLATED",
    "1.8.0 + 53647 S-ERR": "VIOLATED",
}


def test_without_arguments_the_seed_races_run_before_and_after(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pretending(monkeypatch, "HOLDS", BEFORE) as pretence:
        ran = shell("check")
    labels = [(r.scenario.name, r.composition.label, r.expected) for r in pretence.runs]
    assert list(dict.fromkeys(labels)) == [
        ("gone-victim", NEWEST, "VIOLATED"),
        ("removed-node-blocks-pods", "1.8.0", "VIOLATED"),
        ("removed-node-blocks-pods", "1.8.0 + 53647", "HOLDS"),
        ("removed-node-blocks-pods", "1.8.0 + 53647", "VIOLATED"),
        ("removed-node-blocks-pods", "1.8.0 + 53647 + node-list-from-cache", "HOLDS"),
        ("nominated-node-race", "1.13.0", "VIOLATED"),
        ("nominated-node-race", "1.13.0 + 72259", "HOLDS"),
        ("nominated-node-race", "1.13.0 + 72259", "VIOLATED"),
        ("nominated-node-race", "1.13.0 + 72259 + 77990 + 90660", "HOLDS"),
    ]
    assert ran.code == 0
    assert ran.out.count("there, as expected") + ran.out.count("gone, as expected") == len(labels)
    assert "residual" not in ran.out
    with pretending(monkeypatch, "HOLDS", BEFORE):
        whole = shell("check", "-v")
    assert (
        "note: nominated-node-race, 1.13.0 + 72259: still open after 72259: another interleaving breaks S-NOM although the "
        "fix is in\n"
    ) in whole.out
    assert f"note: gone-victim, {NEWEST}: it is open in {NEWEST}, the newest version\n" in ran.out
    assert (
        "\nAll 9 verdicts are as expected: each race is there before its fix, not after.\n\nWhat to do next:\n"
    ) in ran.out
    commands = [line.split("#")[0].split() for line in ran.out.splitlines() if line.startswith("  podrace ")]
    assert [line[1] for line in commands[-4:]] == ["check", "check", "check", "init"]


@pytest.mark.parametrize(
    ("verdicts", "otherwise", "code"),
    [
        ({k: v for k, v in BEFORE.items() if k != "1.8.0"}, "HOLDS", 1),  # a race that does not show up
        ({k: v for k, v in BEFORE.items() if "S-NOM" not in k}, "HOLDS", 1),  # a residual that is gone
        (BEFORE, "VIOLATED", 1),  # a fix that does not help
        (BEFORE, "INCONCLUSIVE", 3),
    ],
)
def test_without_arguments_anything_unexpected_fails(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, verdicts: dict[str, Word], otherwise: Word, code: int
) -> None:
    with pretending(monkeypatch, otherwise, verdicts):
        assert shell("check").code == code


def test_json(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with pretending(monkeypatch, "VIOLATED"):
        ran = shell("check", "72124", "-o", "json", "--with-fix", "77990")
    (row,) = json.loads(ran.out)
    assert (ran.code, ran.err, row["verdict"], row["trace"]) == (1, "", "VIOLATED", [])
    assert (row["release"], row["fixes"]) == ("1.13.0", {"added": ["77990"], "removed": []})


MOVED = ("--property", "S-CONS")  # one pod alone says nothing of S-CAP


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_real_search(shell: Shell, engine: str) -> None:
    ran = shell("check", "tiny.yaml", *MOVED, "--engine", engine, "-o", "json")
    (row,) = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert (row["verdict"], row["vacuous"], row["engine"]) == ("HOLDS", False, engine)
    assert row["states"] > 10
    assert "scheduler.assume" in row["steps_fired"]


@pytest.mark.parametrize("option", [("--max-states", "3"), ("--max-memory", "1k"), ("--timeout", "1ms")])
def test_a_budget_that_runs_out_is_never_holds(shell: Shell, option: tuple[str, str]) -> None:
    ran = shell("check", "tiny.yaml", *MOVED, "--engine", "reference", *option)
    assert (ran.code, ran.err) == (3, "")
    assert "tiny, 1.19.0: S-CONS INCONCLUSIVE\n" in ran.out
    assert "HOLDS" not in ran.out
    assert "To go on, raise --max-states, --max-memory or --timeout" in ran.out


def test_the_seed_race_reads_like_the_issue(shell: Shell) -> None:
    ran = shell("check", "72124")
    assert ran.code == 1
    story = [
        "Another pod takes the room that preemption made\n",
        "Property S-NOMVIS: After preemption has chosen a node for a pod,",
        "For users: A pod takes the room that preemption has just freed.",
        "The cluster: node n1 has 2 cpu.\n",
        "Pod p asks for 2 cpu, has priority 10 and is pending.\n",
        "Preemption decides: p is to go to n1.\n",
        "The scheduler writes to the API server that p is nominated to n1.\n",
        "From here on views differ on p: API server: nominated to n1; lister and nominator: not nominated.\n",
        "The scheduler evicts v for p: the API server deletes it.\n",
        "The scheduler takes q from the head of activeQ.\n",
        "The filters pass: q fits on n1.\n",
        "The scheduler assumes q on n1: in its cache the pod is there already.\n",
        "How it ends\n",
        "p, nominated to n1, asks for 2 cpu and does not fit.\n",
        "Where the views disagreed\n",
        "The pod watch's event for p had not reached the queue handler yet.\n",
        "What would have prevented it\n",
        "The queue handler could have acted before step 14: ",
        "\nscenario             release  property  verdict",
    ]
    places = [" ".join(ran.out.split()).find(" ".join(words.split())) for words in story]
    assert -1 not in places
    assert places == sorted(places)
    assert "see kubernetes/kubernetes#72124" in ran.out


def test_the_other_seed_race_shows_what_repeats_for_ever(shell: Shell) -> None:
    ran = shell("check", "53647", "--property", "L-ISO")
    assert ran.code == 1
    story = [
        "Node n is deleted.",
        "from here there is no way out; for example, it goes on like this:",
        "All nodes are tried for p, m last, and the attempt ends in an error: there is no node n to be found.",
        "and these steps repeat indefinitely:",
    ]
    told = " ".join(ran.out.split())
    places = [told.find(words) for words in story]
    assert -1 not in places
    assert places == sorted(places)
    repeated = told[places[-1] :]
    assert "The scheduler takes p from the head of activeQ." in repeated
    assert "the attempt ends in an error" in repeated


def test_functions_and_lanes_of_the_seed_race(shell: Shell) -> None:
    usual, whole = (shell("check", "72124", *more).out for more in ((), ("-v",)))
    assert "choose_candidate(p, n1)  Choose the node" in whole
    assert "choose_candidate(p, n1)" not in usual


@pytest.mark.ci
def test_the_first_run_fits_on_a_screen_and_ends_on_what_comes_next(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = shell("check").out.splitlines()
    assert sum(max(1, -(-len(line) // 80)) for line in lines) <= 50
    assert ["release", "property", "verdict", "the", "race", "is"] in [line.split() for line in lines]
    assert lines[-5] == "What to do next:"
    assert "The scheduler evicts v for p:" in " ".join(lines)


def test_the_same_input_gives_the_same_output_but_for_seconds(shell: Shell) -> None:
    def rows() -> list[dict[str, object]]:
        found: list[dict[str, object]] = json.loads(shell("check", "72124", "-o", "json").out)
        return [{k: v for k, v in row.items() if k != "seconds"} for row in found]

    assert rows() == rows()


def test_drawings(shell: Shell, tmp_path: Path) -> None:
    ran = shell("check", "72124", "--graph", "race.svg", "--property", "S-NOMVIS", "--property", "S-NOM")
    assert ran.code == 1
    assert ran.err == (
        "wrote race.svg (nominated-node-race, 1.13.0: S-NOMVIS)\n"
        "wrote race-2.svg (nominated-node-race, 1.13.0: S-NOM)\n"
    )
    assert (tmp_path / "race.svg").read_text().startswith("<?xml")
    assert (tmp_path / "race-2.svg").exists()


def test_nothing_to_draw(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pretending(monkeypatch, "HOLDS"):
        ran = shell("check", "tiny.yaml", "--graph", "race.svg")
    assert (ran.code, ran.err) == (0, "no counterexample to draw: race.svg was not written\n")
    assert not (tmp_path / "race.svg").exists()


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "podrace: interrupted\n"),
        (MemoryError(), 3, "podrace: out of memory before the search ended: limit it with --max-memory\n"),
    ],
)
def test_a_search_that_is_cut_short(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(chain, "verdict_on", fail)
    ran = shell("check", "tiny.yaml")
    assert (ran.code, ran.out, ran.err) == (code, "", message)


def test_an_engine_that_is_wrong_gives_no_verdict(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from podrace.checker.core.result import EngineDisagreement

    def fail(*arguments: object) -> None:
        raise EngineDisagreement("step 3 is not enabled")

    monkeypatch.setattr(chain, "verdict_on", fail)
    ran = shell("check", "tiny.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "podrace: internal error, no verdict can be trusted: step 3 is not enabled; please report it\n"
    )


def test_bugs_are_not_hidden(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(output, "report", fail)
    with pretending(monkeypatch), pytest.raises(RuntimeError, match="a bug"):
        shell("check", "tiny.yaml")


def test_a_search_uses_all_cores_and_a_share_of_memory_unless_told_otherwise(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pretending(monkeypatch) as pretence:
        shell("check", "tiny.yaml")
        shell("check", "tiny.yaml", "--jobs", "3", "--max-memory", "1G")
    usual, told = pretence.budgets
    assert usual.jobs == cores()
    assert usual.max_memory is not None
    assert told == Budget(max_memory=1 << 30, jobs=3)


def test_an_unfinished_search_says_how_to_go_on(shell: Shell) -> None:
    ran = shell("check", "tiny.yaml", *MOVED, "--max-states", "5")
    assert ran.code == 3
    assert "note: tiny, 1.19.0: to go on: allow more with --max-states\n" in ran.out
    ran = shell("check", "tiny.yaml", *MOVED, "--max-memory", "1k")
    assert ran.code == 3
    assert "to go on: allow more with --max-memory (it was 1.0 KiB)" in ran.out


def test_what_closes_a_race_is_told_in_the_text_alone(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def found(
        runs: object, findings: object, budget: object, method: object, seconds: float, *rest: object
    ) -> object:
        asked.append(seconds)
        return {0: ["12345 closes it."]}

    monkeypatch.setattr("podrace.analysis.closing.closings", found)
    with pretending(monkeypatch, "VIOLATED"):
        told = shell("check", "tiny.yaml", "--closing", "1m")
        assert "\n  What closes it\n    12345 closes it.\n" in told.out
        assert shell("check", "tiny.yaml", "-o", "json", "--closing", "1m").code == 1
        assert "What closes it" not in shell("check", "tiny.yaml", "--closing", "0").out
    assert asked == [60.0]
    assert shell("check", "tiny.yaml", "--closing", "soon").err == (
        "podrace: --closing: `soon` is not a duration: use for example 20s or 1m, or 0\n"
    )


def test_a_file_may_be_named_like_a_scenario_of_podrace(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scenarios").mkdir()
    Path("scenarios/dead-node-in-snapshot.yaml").write_text(TINY)
    names = ["scenarios/dead-node-in-snapshot.yaml", "dead-node-in-snapshot"]
    for order in (names, names[::-1]):
        rows = json.loads(shell("check", *order, "--property", "S-CAP", "-o", "json").out)
        assert sorted(row["scenario"] for row in rows) == ["dead-node-in-snapshot", "tiny"]
        assert {row["place"]["file"] for row in rows} == {names[0]}


def test_a_violation_is_told_with_what_it_means_to_users(shell: Shell) -> None:
    said = PROPERTIES["S-NOMVIS"].consequence
    line = ("check", "72124", "--closing", "0")
    assert f"For users: {said} " in flat(shell(*line).out)
    (found,) = json.loads(shell(*line, "-o", "json").out)
    assert found["consequence"] == said
    assert f'<p class="sentence">For users: {said}</p>' in shell(*line, "-o", "html").out
    assert "For users: A pod takes the room" in shell(*line, "-o", "markdown").out
    holds = ("check", "dropped-by-pop", "--with-fix", "139450")
    assert "For users" not in shell(*holds).out
    (found,) = json.loads(shell(*holds, "-o", "json").out)
    assert (found["verdict"], "consequence" in found) == ("HOLDS", False)


@pytest.mark.parametrize("condition", ["{Ready: 'False'}", "{DiskPressure: 'True'}"])
def test_a_condition_that_was_a_filter_is_refused_where_it_was(
    shell: Shell, tmp_path: Path, condition: str
) -> None:
    """Up to 1.11 CheckNodeCondition kept pods away from a node that is not ready; S-NOMVIS held with such a node, which took a pod."""
    file = tmp_path / "unready.yaml"
    file.write_text(
        f"name: unready\nnodes: {{n1: {{cpu: 1, conditions: {condition}}}}}\npods: {{p: {{cpu: 1}}}}\n"
    )
    said = "podrace: unready: that the conditions of n1 keep pods away, as up to 1.11, is not modelled: "
    ran = shell("check", str(file), "--property", "S-UNIQ", "--release", "1.9.0")
    assert (ran.code, ran.err.startswith(said)) == (2, True)
    assert shell("check", str(file), "--property", "S-UNIQ", "--release", "1.12.0").code == 0


def test_a_node_lifecycle_controller_that_makes_conditions_false_is_refused_up_to_1_11(
    shell: Shell, tmp_path: Path
) -> None:
    file = tmp_path / "unwell.yaml"
    file.write_text(
        "name: unwell\nnodes: {n1: {cpu: 1}}\npods: {p: {cpu: 1}}\nscope: {node_lifecycle: true, node_failures: 1}\n"
    )
    ran = shell("check", str(file), "--property", "S-UNIQ", "--release", "1.9.0")
    assert (ran.code, "leave them out (and `node_lifecycle`)" in ran.err) == (2, True)


def test_a_violation_names_the_orders_of_the_file(shell: Shell) -> None:
    """With the members of the gang in the other order the shortest run is of 18 steps; nothing said that the file decides it."""
    order = "podrace tried pods that wait alike and equal members of groups only in the order of the file."
    assert order in flat(shell("check", "dismissed-member", "--no-cache").out)
    assert (
        "the order of the file" not in shell("check", "gone-victim", "--release", "1.36.3", "--no-cache").out
    )
