"""The Go tests on kube-scheduler's own code: they fail, and pass with the patch. Part of `make real`."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from podrace.analysis.request.method import Method, budget_for
from podrace.reproduce.go_tests import go_tests
from podrace.reproduce.go_tests.names import name_of
from podrace.reproduce.go_tests.running import run_go_tests
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.modules.toolchain import Go, GoProblem, find_go
from podrace.reproduce.patches import MADE_FOR, MENDED_BY, read_patch
from podrace.reproduce.reproducing import prepare
from podrace.reproduce.request import Wanted, questions
from tests.reproduce.go_tests.test_findings import FINDINGS, says

VERSION = parse_version(MADE_FOR)
CHOSEN = os.environ.get("PODRACE_REAL", "").replace(",", " ").split() or [VERSION.plain]

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(VERSION.plain not in CHOSEN, reason=f"only on {VERSION}"),
]


@pytest.fixture(scope="module")
def go() -> Go:
    try:
        return find_go()
    except GoProblem as problem:
        if os.environ.get("PODRACE_GO") == "required":
            raise
        pytest.skip(str(problem))


def written(*hazards: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for hazard in hazards:
        found |= go_tests(prepare(questions(Wanted(hazard, MADE_FOR), budget_for(), Method())))
    return found


def test_they_fail_and_say_what_the_pages_say(go: Go) -> None:
    found = run_go_tests(VERSION, go, written(*MENDED_BY), (), print)
    assert {name: result.passed for name, result in found.items()} == dict.fromkeys(
        map(name_of, MENDED_BY), False
    )
    for page in FINDINGS:
        (said,) = found[name_of(page.stem)].said
        assert_agree(re.sub(r"^\w+_test\.go:\d+: ", "", said), says(page))


WAITED = re.compile(r"(\d+)m(\d+)s")


def assert_agree(said: str, page: str) -> None:
    """The same words; how long somebody waits may be a second off, since an informer waits at random before it lists again."""
    assert WAITED.sub("", said) == WAITED.sub("", page)
    for one, other in zip(WAITED.findall(said), WAITED.findall(page), strict=True):
        assert abs(60 * (int(one[0]) - int(other[0])) + int(one[1]) - int(other[1])) <= 1


@pytest.mark.parametrize("patches", sorted(set(MENDED_BY.values())), ids=" ".join)
def test_they_pass_with_the_patch(go: Go, patches: tuple[str, ...]) -> None:
    hazards = [hazard for hazard, names in MENDED_BY.items() if names == patches]
    found = run_go_tests(VERSION, go, written(*hazards), [read_patch(name) for name in patches], print)
    assert {name: result.passed for name, result in found.items()} == dict.fromkeys(
        map(name_of, hazards), True
    )


OVERFULL = {
    "cpu": ("cpu: 1", "cpu: 1", "cpu: 1", "cpu of n has 1 allocatable, but 2 is requested for a, b"),
    "count": ("cpu: 2, pods: 1", "cpu: 1", "cpu: 1", "pods of n has 1 allocatable, but 2 is requested for a, b"),
    "ports": (
        "cpu: 2",
        "cpu: 1, hostPorts: [80]",
        "cpu: 1, hostPorts: [{port: 80, hostIP: 10.0.0.1}]",
        "a and b are on n, and both have the host port 80",
    ),
}  # fmt: skip


def test_an_overfull_node_is_seen_whatever_it_has_too_little_of(go: Go, tmp_path: Path) -> None:
    tests: dict[str, str] = {}
    for name, (node, a, b, _) in OVERFULL.items():
        file = tmp_path / f"{name}.yaml"
        file.write_text(
            f"properties: [S-CAP]\nnodes: {{n: {{{node}}}}}\npods: {{a: {{{a}}}, b: {{{b}}}}}\nscope: {{external_binds: 1, flush: false}}\n"
        )
        tests |= written(str(file))
    found = run_go_tests(VERSION, go, tests, (), print)
    assert {name: (found[name_of(name)].passed, found[name_of(name)].said) for name in OVERFULL} == {
        name: (False, (words,)) for name, (*_, words) in OVERFULL.items()
    }


INTERRUPTED = """package podrace

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestInterrupted(t *testing.T) {
	one := map[v1.ResourceName]string{"cpu": "1"}
	cluster := Cluster{
		Nodes: []*v1.Node{st.MakeNode().Name("n").UID("n").Capacity(one).Obj()},
		Pods: []*v1.Pod{
			st.MakePod().Namespace("default").Name("a").UID("a").Req(one).ZeroTerminationGracePeriod().Obj(),
			st.MakePod().Namespace("default").Name("b").UID("b").Req(one).ZeroTerminationGracePeriod().Obj(),
			st.MakePod().Namespace("default").Name("c").UID("c").Req(one).ZeroTerminationGracePeriod().Obj(),
		},
	}
	run(t, cluster, func(c *Moves) {
		c.SomebodyElseBinds("a", "n")
		c.DeletePod("b")
		c.WatchIsInterrupted()
		c.InformerStores("b")
		c.InformerStores("a")
		c.SomebodyElseBinds("c", "n")

		c.ExpectNoNodeOverfull()
	})
}
"""


def test_a_list_after_an_interrupted_watch_tells_in_the_order_of_the_test(go: Go) -> None:
    """Deletions come first; told by the order of the pods, the test would end at the first of them, and pass."""
    found = run_go_tests(VERSION, go, {"interrupted_test.go": INTERRUPTED}, (), print)
    said = ("cpu of n has 1 allocatable, but 2 is requested for a, c",)
    assert {name: (result.passed, result.said) for name, result in found.items()} == {
        "TestInterrupted": (False, said)
    }
