"""The Go tests of the hazards as they are written, and what their moves stand for."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from podrace.analysis.request.method import Method, budget_for
from podrace.base.problems import UsageProblem
from podrace.model.history import RELEASES, resolve
from podrace.properties import PROPERTIES, instrument
from podrace.reports.step import ShownStep
from podrace.reproduce.case import CaseStep
from podrace.reproduce.go_tests import file_of, go_tests
from podrace.reproduce.go_tests.claims import _CLAIMS
from podrace.reproduce.go_tests.model_values import values_at_start
from podrace.reproduce.go_tests.moves import COMPOSED, MOVES
from podrace.reproduce.go_tests.names import PROCESSORS, SYSTEMS, free_name, name_of
from podrace.reproduce.go_tests.objects import _port as port_line
from podrace.reproduce.go_tests.objects import quoted
from podrace.reproduce.go_tests.running import results_for, results_of
from podrace.reproduce.go_tests.text import UNFORCED, lines_of
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.modules.toolchain import GoProblem
from podrace.reproduce.patches import MADE_FOR, MENDED_BY
from podrace.reproduce.reproducing import Prepared, prepare
from podrace.reproduce.request import Wanted, questions
from podrace.reproduce.running import alone_in, driver_files
from podrace.scenarios import find_scenarios
from tests.reproduce.real.steps_table import rules, steps

GOLDEN = Path(__file__).parent


def prepared(name: str) -> list[Prepared]:
    return prepare(questions(Wanted(name, MADE_FOR), budget_for(), Method()))


PAGES = GOLDEN.parents[2] / "docs" / "findings"


@pytest.mark.parametrize("name", MENDED_BY)
def test_the_test_of_a_hazard(name: str) -> None:
    """A finding that has a page is searched for the page (test_findings.py), which has the test."""
    golden, page = GOLDEN / f"{file_of(name)}.txt", PAGES / f"{name}.md"
    if page.exists():
        (text,) = re.findall(r"<!-- test -->\n\n```go\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    else:
        ((file, text),) = go_tests(prepared(name)).items()
        assert file == file_of(name)
    if os.environ.get("PODRACE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


GROUPS = {
    "kept-by-the-gone": ("v1.37.2", "S-ROOM"),
    "member-counted-twice": ("v1.37.2", "S-STUCK"),
}
"""Scenarios with groups of pods, the versions for which their tests are written, and the properties."""


def group_test(name: str) -> dict[str, str]:
    version, prop = GROUPS[name]
    file = GOLDEN.parents[2] / "scenarios" / "groups" / f"{name}.yaml"
    return go_tests(prepare(questions(Wanted(str(file), version, None, [prop]), budget_for(), Method())))


@pytest.mark.parametrize("name", GROUPS)
def test_the_test_of_a_race_of_groups(name: str) -> None:
    golden = GOLDEN / f"{file_of(name)}.txt"
    ((file, text),) = group_test(name).items()
    assert file == file_of(name)
    if os.environ.get("PODRACE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("gofmt") is None, reason="no Go")
def test_they_are_as_gofmt_has_them(tmp_path: Path) -> None:
    for golden in GOLDEN.glob("*.txt"):
        shutil.copy(golden, tmp_path / golden.stem)
    assert len(list(tmp_path.iterdir())) == len({*MENDED_BY, *GROUPS})
    done = subprocess.run(["gofmt", "-l", str(tmp_path)], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == ""


def test_every_move_is_a_method_that_makes_its_step() -> None:
    source = driver_files(parse_version(MADE_FOR))["testing_moves.go"]
    bodies = dict(
        re.findall(r"^func \(c \*Moves\) (\w+)\((?:[^\n]*)\) \{(.*?)\}$", source, re.MULTILINE | re.DOTALL)
    )
    for step, move in MOVES.items():
        for name in [move.name] if move.names is None else move.names.values():
            assert f'"{step}"' in bodies[name], (step, name)
    for composed in COMPOSED:
        called = "".join(bodies[name] for name in re.findall(r"c\.(\w+)\(", bodies[composed.name]))
        for step in composed.pattern:
            assert step.rstrip("*") in called, composed.name


def test_every_move_is_a_step_of_the_model() -> None:
    steps: set[str] = set()
    hazards = Path(__file__).parents[3] / "scenarios" / "hazards"
    for name in (
        "72124",
        "announced",
        "emptied-zone",
        "ghost",
        "late-binding",
        "relabelled-domain",
        "half-kept-out",
        "namesake-evicted",
    ):
        file = hazards / f"{name}.yaml"
        (scenario,) = find_scenarios(str(file) if file.exists() else name)
        for release in (RELEASES[-1], "1.34", "1.33", "1.13"):
            system = instrument(scenario.spec, resolve(release).classes, [PROPERTIES["S-CAP"]])
            steps |= {f"{t.part}.{t.step}" for t in system.transitions}
    (scenario,) = find_scenarios(str(hazards / "late-patch.yaml"))
    queued = resolve(RELEASES[-1], (), (), scenario.feature_gates).classes
    system = instrument(scenario.spec, queued, [PROPERTIES["S-CAP"]])
    steps |= {f"{t.part}.{t.step}" for t in system.transitions}
    assert MOVES.keys() - steps <= {
        "cache.expire",
        "handlers.fetch_assumed",
        "node_watch.resume",
        "pod_watch.resume",
        "finalizer_owners.release",
        "users.remove_gates",
        "users.create_node",
        "users.bind_pod",
        "kubelet.reject",
    }


def step(number: int, name: str, actor: str = "scheduler", **args: Any) -> ShownStep:
    component, _, method = name.partition(".")
    return ShownStep(number, actor, component, method, args, "", (), f"{name}.")


def lines(*steps: ShownStep, waits: dict[int, int] | None = None) -> list[str]:
    timed = [CaseStep(s.step, s.actor, s.args, (waits or {}).get(s.number, 0), {}) for s in steps]
    case: Any = SimpleNamespace(steps=timed, groups=[])
    return [line.call for line in lines_of(steps, case)]


def test_steps_without_a_break_are_one_move() -> None:
    begun = [step(1, "scheduler.pop", pod="p"), step(2, "scheduler.take_snapshot", pod="p")]
    filters = [step(3, "scheduler.filter", pod="p", node="a"), step(4, "scheduler.filter", pod="p", node="b")]
    assert lines(*begun, *filters) == ['c.SchedulerTries("p", "a", "b")']
    assert lines(*begun) == ['c.SchedulerPops("p")', 'c.SchedulerTakesSnapshot("p")']
    between = step(9, "users.delete_pod", "user", pod="q")
    assert lines(*begun, between, *filters) == [
        'c.SchedulerPops("p")', 'c.SchedulerTakesSnapshot("p")', 'c.DeletePod("q")', 'c.SchedulerFilters("p", "a")', 'c.SchedulerFilters("p", "b")',
    ]  # fmt: skip


def test_a_wait_is_a_line_and_is_never_lost() -> None:
    begun = [
        step(1, "scheduler.pop", pod="p"),
        step(2, "scheduler.take_snapshot", pod="p"),
        step(3, "scheduler.filter", pod="p", node="a"),
    ]
    assert lines(*begun, waits={1: 2000}) == ["c.Wait(2 * time.Second)", 'c.SchedulerTries("p", "a")']
    assert lines(*begun, waits={3: 1500}) == [
        'c.SchedulerPops("p")', 'c.SchedulerTakesSnapshot("p")', "c.Wait(1500 * time.Millisecond)", 'c.SchedulerFilters("p", "a")',
    ]  # fmt: skip


def test_what_the_model_has_after_a_move_is_told_where_there_are_groups() -> None:
    """Once for each change that the driver tells apart; no move of several steps has one within it."""
    phase, stage, told = "scheduler.phase", "pod_group_cycle.stage", 'c.LeadsTo("scheduler.phase", '
    names = ["pop", "take_snapshot", "filter", "assume"]
    changes: list[dict[str, Any]] = [
        {phase: "POPPED", "scheduler.pod": "p"}, {phase: "FILTERING"}, {phase: "SELECT"}, {phase: "POD_GROUP", stage: "SUBMIT"},
    ]  # fmt: skip
    shown = [step(n, f"scheduler.{name}", pod="p", node="n") for n, name in enumerate(names, 1)]
    timed = [CaseStep(s.step, s.actor, s.args, 0, c) for s, c in zip(shown, changes, strict=True)]
    initial = {phase: "IDLE", stage: "NONE", "queue.pending[p]": False, "queue.gated[p]": False}
    case: Any = SimpleNamespace(steps=timed, groups=[[{}]], initial=initial)
    assert [line.call for line in lines_of(shown, case)] == [
        'c.SchedulerPops("p", "n")', f'{told}"OTHER")', 'c.SchedulerTakesSnapshot("p", "n")', 'c.SchedulerFilters("p", "n")',
        'c.SchedulerAssumes("p", "n")', f'{told}"POD_GROUP", "pod_group_cycle.stage", "SUBMIT")',
    ]  # fmt: skip
    assert values_at_start(case) == {phase: "IDLE", stage: "NONE", "queue.pending[p]": False}
    case.groups = []
    assert [line.call for line in lines_of(shown, case)] == ['c.SchedulerTries("p", "n")', 'c.SchedulerAssumes("p", "n")']  # fmt: skip
    assert values_at_start(case) == {}


def test_the_arguments_of_moves() -> None:
    assert lines(step(1, "binding.bind", pod="p", reply="LOST")) == ['c.BindsButReplyIsLost("p")']
    assert lines(step(1, "binding.pre_bind", pod="p", ok=False)) == ['c.PreBindFails("p")']
    assert lines(step(1, "handlers.handle_for_cache", pod="p")) == ['c.DeliverTo("cache handler", "p")']
    assert lines(step(1, "process.land", pod="p", node="n")) == [
        'c.Step("process.land", "pod", "p", "node", "n")'
    ]
    assert lines(step(1, "other.step", ok=True, node=None)) == [
        'c.Step("other.step", "ok", true, "node", nil)'
    ]


def test_the_versions_of_pods_have_no_numbers_in_a_test() -> None:
    """The driver numbers them by their names: what is written down is what somebody would write."""
    ((_, text),) = go_tests(prepared("update-lost")).items()
    (version,) = [line for line in text.splitlines() if line.strip().startswith('"b.tolerant": ')]
    assert '"tolerations": [{"key": "dedicated", "operator": "Exists"}]' in version
    assert "annotations" not in text
    assert '\t\tc.UpdatePod("b.tolerant") ' in text


def test_a_pod_of_a_test_has_its_host_ports() -> None:
    ((_, text),) = go_tests(prepared("port-of-two")).items()
    assert text.count('.Req(map[v1.ResourceName]string{"cpu": "1"}).HostPort(80).Obj()') == 3
    port = {"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}
    assert port_line(port) == (
        'ContainerPort([]v1.ContainerPort{{HostPort: 53, Protocol: "UDP", HostIP: "10.0.0.1"}})'
    )


def test_a_cluster_without_backoff_has_none_in_the_test_either(tmp_path: Path) -> None:
    for backoff, lines in ((True, 0), (False, 1)):
        file = tmp_path / "overfull.yaml"
        file.write_text(
            "properties: [S-CAP]\nnodes: {n: {cpu: 1}}\npods: {a: {cpu: 1}, b: {cpu: 1}}\n"
            f"scope: {{external_binds: 1, flush: false, backoff: {str(backoff).lower()}}}\n"
        )
        ((_, text),) = go_tests(prepared(str(file))).items()
        assert text.count("\t\tNoBackoff: true,\n") == lines


def test_what_no_wrapper_writes_is_written_as_json(tmp_path: Path) -> None:
    """And no package is imported that is not used then, which Go refuses."""
    file = tmp_path / "whole.yaml"
    file.write_text(
        "properties: [S-CAP]\nnodes: {n: {cpu: 1, conditions: {MemoryPressure: 'True'}}}\n"
        "podDisruptionBudgets: {b: {selector: {matchLabels: {app: x}}}}\n"
        "pods: {a: {cpu: 1, finalizers: [example.com/f]}, b: {cpu: 1, finalizers: [example.com/f]}}\nscope: {external_binds: 1, flush: false}\n"
    )
    ((_, text),) = go_tests(prepared(str(file))).items()
    imports = re.findall(r'^\t(?:\w+ )?"([^"]+)"$', text, re.MULTILINE)
    assert imports == ["testing", "k8s.io/api/core/v1", "k8s.io/api/policy/v1"]
    declared = text[text.index("cluster := Cluster{") : text.index("\trun(t, cluster")]
    assert declared.count("fromJSON[v1.Pod](`") == declared.count('"finalizers": ["') == 2
    assert declared.count('fromJSON[v1.Node](`{"apiVersion"') == declared.count('"MemoryPressure"') == 1
    assert (
        "\t\tBudgets: []policyv1.PodDisruptionBudget{\n\t\t\t*fromJSON[policyv1.PodDisruptionBudget](`"
        in declared
    )
    assert "st." not in re.sub("`[^`]*`", "", declared)


def test_names_and_literals() -> None:
    assert name_of("assumed-after-look") == "TestAssumedAfterLook"
    assert name_of("72124") == "Test72124"
    assert file_of("assumed-after-look") == "assumed_after_look_test.go"
    assert quoted('a"b\\c\n') == '"a\\"b\\\\c\\n"'


@pytest.mark.parametrize(
    ("scenario", "file"),
    [
        ("pod-on-windows", "pod_on_windows_race_test.go"),  # on another system Go does not build it
        ("pod.linux", "pod_linux_race_test.go"),
        ("slow-on-ARM64", "slow_on_arm64_race_test.go"),
        ("linux-arm64-slow", "linux_arm64_slow_test.go"),
        ("\u7ade\u6001", "race_test.go"),  # else it began with an underscore
        ("play-replay", "play_replay_race_test.go"),  # a file of the driver's
        ("replay", "replay_race_test.go"),  # the name of a test of the driver's
        ("main", "main_race_test.go"),  # Go's own name
        ("ghost", "ghost_test.go"),
    ],
)
def test_no_test_has_a_name_that_go_leaves_out_or_the_driver_has(scenario: str, file: str) -> None:
    assert file_of(free_name(scenario, "S-CAP", parse_version(MADE_FOR), ())) == file


def test_several_tests_of_one_scenario_have_files_of_their_own() -> None:
    version, taken = parse_version(MADE_FOR), ["ghost_test.go", "ghost_s_cap_test.go"]
    assert free_name("ghost", "S-ROOM", version, taken) == "ghost-S-ROOM"
    assert free_name("ghost", "S-CAP", version, taken) == "ghost-S-CAP-race"


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go")
def test_every_system_and_processor_that_go_builds_for_is_known() -> None:
    done = subprocess.run(["go", "tool", "dist", "list"], capture_output=True, encoding="utf-8", check=True)
    pairs = [line.split("/") for line in done.stdout.split()]
    assert ({pair[0] for pair in pairs} - SYSTEMS, {pair[1] for pair in pairs} - PROCESSORS) == (set(), set())


def test_no_test_where_there_is_no_counterexample() -> None:
    with pytest.raises(UsageProblem, match="--go-test: there is no counterexample to write down"):
        go_tests(prepare(questions(Wanted("gone-victim", "v1.34.0"), budget_for(), Method())))


def test_the_page_names_the_properties_that_have_a_test() -> None:
    page = (GOLDEN.parents[2] / "docs" / "reproduce.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"There are tests for (.*?)\. podrace writes no test", page, re.DOTALL)
    assert sorted(re.findall(r"S-\w+", told)) == sorted(_CLAIMS.keys() - {"ASK"})


def test_no_test_for_a_property_without_a_readable_end() -> None:
    with pytest.raises(UsageProblem, match="--go-test: there is no readable test for S-PDB yet"):
        go_tests(prepare(questions(Wanted("budget-overdrawn", "v1.32.13"), budget_for(), Method())))


def test_no_test_for_a_cluster_with_an_extender() -> None:
    file = str(Path(__file__).parents[3] / "scenarios" / "actors" / "late-extender.yaml")
    with pytest.raises(
        UsageProblem,
        match=r"the cluster has an extender, and a test has none: run the trace without --go-test$",
    ):
        go_tests(prepared(file))


@pytest.mark.parametrize(
    ("cluster", "pod", "what"),
    [
        ("devices: {d: {node: n}}\nresourceClaims: {c: {}}", "resourceClaims: [c]", "claims of devices"),
        (
            "storageClasses: {s: {volumeBindingMode: WaitForFirstConsumer}}\nvolumes: {v: {storageClassName: s}}\nvolumeClaims: {c: {storageClassName: s}}",
            "volumes: [c]",
            "claims of volumes",
        ),
        ("config: {scored: true}", "priority: 0", "scores that decide"),
        (
            "config: {}",
            "nodeAffinity: {required: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n]}]}]}}",
            "a pod whose node affinity names the nodes to try",
        ),
    ],
)  # fmt: skip
def test_no_test_for_what_a_test_cannot_say(tmp_path: Path, cluster: str, pod: str, what: str) -> None:
    """It would leave that out, come to another end, and pass."""
    file = tmp_path / "overfull.yaml"
    file.write_text(
        f"{cluster}\nproperties: [S-CAP]\nnodes: {{n: {{cpu: 1}}}}\npods: {{a: {{cpu: 1, {pod}}}, b: {{cpu: 1}}}}\n"
        "scope: {external_binds: 1, flush: false}\n"
    )
    with pytest.raises(UsageProblem, match=f"^--go-test: overfull S-CAP: the cluster has {what}, and a test has none: run the trace without --go-test$"):  # fmt: skip
        go_tests(prepared(str(file)))


@pytest.mark.parametrize(
    ("hazard", "what"),
    [
        ("hazards/leader-hand-over.yaml", "step 7, process.change_leader, goes by more than a move can say"),
        (
            "swapped-by-a-list.yaml",
            "step 4, handlers.handle_swap_for_cache, goes by more than a move can say",
        ),
    ],
)
def test_no_test_with_a_step_that_goes_by_what_the_model_knows(hazard: str, what: str) -> None:
    """A move without it would do something else, and the test would pass."""
    file = str(Path(__file__).parents[3] / "scenarios" / hazard)
    with pytest.raises(UsageProblem, match=f"^--go-test: .*: {what}: run the trace without --go-test$"):
        go_tests(prepared(file))


def test_no_test_with_a_step_that_the_driver_cannot_force() -> None:
    """At its move the test would end, and pass."""
    file = str(Path(__file__).parents[3] / "scenarios" / "hazards" / "in-doubt.yaml")
    with pytest.raises(UsageProblem, match=r"^--go-test: .*: process.bind_in_doubt cannot be forced on kube-scheduler, so a test would end before it: give a scope in which it does not happen$"):  # fmt: skip
        go_tests(prepared(file))


def test_what_cannot_be_forced_is_what_the_driver_has_no_rule_for() -> None:
    known = rules()
    assert {step for step in {*steps(), *known} if known.get(step, True)} == UNFORCED


def test_no_test_where_a_node_joins_in_another_version(tmp_path: Path) -> None:
    """With the node lifecycle controller it has the taint `not-ready`; `CreateNode` would create it without."""
    file = tmp_path / "joined.yaml"
    file.write_text(
        "properties: [S-CAP]\nnodes: {n: {cpu: 1, exists: false}}\npods: {a: {cpu: 1}, b: {cpu: 1}}\n"
        "scope: {external_binds: 2, flush: false, node_creations: 1, node_lifecycle: true}\n"
    )
    with pytest.raises(UsageProblem, match=r", users.create_node, goes by more than a move can say: run the trace without --go-test$"):  # fmt: skip
        go_tests(prepared(str(file)))


@pytest.mark.parametrize(
    ("hazard", "what"),
    [
        ("hazards/evicted-too.yaml", "budgets that are kept"),
        ("actors/taint-unseen.yaml", "an autoscaler that taints"),
    ],
)
def test_no_test_for_what_the_driver_knows_by_the_variables_of_the_model(hazard: str, what: str) -> None:
    file = str(Path(__file__).parents[3] / "scenarios" / hazard)
    with pytest.raises(UsageProblem, match=f"the cluster has {what}, and a test has none: run the trace without --go-test$"):  # fmt: skip
        go_tests(prepared(file))


def test_two_do_not_build_in_one_folder(tmp_path: Path) -> None:
    """Else one would run the other's binary, which may have another patch."""
    folder = tmp_path / "kept" / "go-tests"
    said: list[str] = []
    with alone_in(folder, said.append):
        assert said == []
        other = folder.with_name("go-tests.lock").open("ab")
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def say(words: str) -> None:
        said.append(words)
        other.close()

    with alone_in(folder, say):
        assert said == ["waiting for another podrace, which is running Go tests of this version"]


def test_what_go_says_of_tests() -> None:
    output = """\
=== RUN   TestGhost
E1122 11:00:00.000000 noise
    ghost_test.go:39: p is in the queue
--- FAIL: TestGhost (0.16s)
=== RUN   TestOther
--- PASS: TestOther (0.01s)
FAIL
"""
    found = list(results_of(output))
    assert [(r.name, r.passed, r.said) for r in found] == [
        ("TestGhost", False, ("p is in the queue",)),
        ("TestOther", True, ()),
    ]


def test_a_test_without_a_result_has_not_passed() -> None:
    """What ends the process, such as a panic or a hang, ends the tests that come after it, too."""
    output = "=== RUN   TestGhost\n--- PASS: TestGhost (0.16s)\n=== RUN   TestOther\nTestOther hangs\n"
    assert results_for(output, ["TestGhost"])["TestGhost"].passed
    with pytest.raises(GoProblem, match=r"(?s)^TestOther, TestThird: no result, for the process has ended: .*TestOther hangs$"):  # fmt: skip
        results_for(output, ["TestGhost", "TestOther", "TestThird"])
    with pytest.raises(GoProblem, match=r"^the tests did not run: no tests to run$"):
        results_for("no tests to run\n", ["TestGhost"])
