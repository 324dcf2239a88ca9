"""A scheduler of the user's own: what is read of a directory, what the driver's module has of it, and what is said of one that cannot be built."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podrace.base.problems import UsageProblem
from podrace.reproduce.modules.module import go_mod, parse_version
from podrace.reproduce.modules.own import FILE, OwnScheduler, own_scheduler
from podrace.reproduce.modules.toolchain import Go, find_go
from podrace.reproduce.outcome import Decision, Outcome, OutcomeStep
from podrace.reproduce.running import driver_files, key_of
from tests.reproduce.fake_go import DECLARED, OF_OWN


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A module with a package of plugins in `sched/`."""
    folder = tmp_path / "mine" / "sched"
    folder.mkdir(parents=True)
    (tmp_path / "mine" / "go.mod").write_text(f"module {OF_OWN}\n", encoding="utf-8")
    (folder / "plugins.go").write_text("package sched\n", encoding="utf-8")
    return folder


def read(folder: Path) -> OwnScheduler:
    return own_scheduler(str(folder), find_go())


def test_a_package_is_imported_by_its_path_in_its_module(go: Path, own: Path) -> None:
    found = read(own)
    assert (found.package, found.version) == ("example.com/own/sched", "v0.0.0")
    version = replace(parse_version("v1.36.3"), own=found)
    text = go_mod(DECLARED, version, {})
    assert "\texample.com/own v0.0.0\n" in text
    assert f'\texample.com/own => "{own.parent}"\n' in text
    assert 'import user "example.com/own/sched"\n' in driver_files(version)[FILE]
    assert FILE not in driver_files(parse_version("v1.36.3"))
    assert str(version) == f"v1.36.3 with {own}"


def test_what_it_replaces_is_replaced_unless_podrace_does() -> None:
    replaces = (
        ("example.com/own", '"/mine"'),
        ("k8s.io/api", "k8s.io/api v0.35.7"),
        ("example.com/a", "b.com/a v1.0.0"),
    )
    own = OwnScheduler("mine", Path("/mine"), Path("/mine"), "example.com/own", replaces, "", "")
    lines = go_mod(DECLARED, replace(parse_version("v1.36.3"), own=own), {}).splitlines()
    assert "\texample.com/a => b.com/a v1.0.0" in lines
    assert [line for line in lines if line.startswith("\tk8s.io/api =>")] == [
        "\tk8s.io/api => k8s.io/api v0.36.3"
    ]


@pytest.mark.parametrize(("module", "version"), [("example.com/own", "v0.0.0"), ("example.com/own/v3", "v3.0.0"), ("gopkg.in/own.v2", "v2.0.0")])  # fmt: skip
def test_the_version_goes_with_the_path(module: str, version: str) -> None:
    assert OwnScheduler("mine", Path("/mine"), Path("/mine"), module, (), "", "").version == version


def test_a_change_of_the_configuration_needs_no_build(go: Path, own: Path) -> None:
    def key() -> str:
        version = replace(parse_version("v1.36.3"), own=read(own))
        return key_of(version, Go("go", "go1.26.8"), {})

    first = key()
    (own / "scheduler.yaml").write_text("kind: KubeSchedulerConfiguration\n", encoding="utf-8")
    assert (key(), read(own).configuration) == (first, "kind: KubeSchedulerConfiguration\n")
    (own.parent / "other.go").write_text("package other\n", encoding="utf-8")
    assert key() != first


def test_what_is_no_package_is_refused(go: Path, own: Path, tmp_path: Path) -> None:
    def said(folder: Path) -> str:
        with pytest.raises(UsageProblem) as problem:
            read(folder)
        return str(problem.value)

    wanted = "a Go package that has `func Registry() runtime.Registry`"
    gone, empty, loose = tmp_path / "gone", tmp_path / "empty", tmp_path / "loose"
    assert said(gone) == f"--scheduler {gone}: there is no such directory: name one with {wanted}"
    empty.mkdir()
    assert said(empty) == f"--scheduler {empty}: it has no Go files: name a directory with {wanted}"
    loose.mkdir()
    (loose / "plugins.go").touch()
    assert said(loose) == f"--scheduler {loose}: no go.mod there or above: run `go mod init` there"
    (own / "scheduler.yaml").write_bytes(b"\xff")
    assert said(own).startswith(f"--scheduler {own}: scheduler.yaml cannot be read: ")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("# example.com/own/sched\n../mine/sched/plugins.go:3:1: undefined: x\n", "it does not compile with v1.36.3: ../mine/sched/plugins.go:3:1: undefined: x"),
        ("# other.com/x\n/mod/other.com/x@v1/x.go:3:1: undefined: y\n", "it does not compile with v1.36.3: /mod/other.com/x@v1/x.go:3:1: undefined: y"),
        ("# k8s.io/kubernetes/pkg/scheduler/podrace\n./own_user.go:5:29: undefined: user.Registry\n",
         "package example.com/own has no `func Registry() runtime.Registry`: undefined: user.Registry"),
        ("own_user.go:3:8: import \"example.com/own\" is a program, not an importable package\n",
         "package example.com/own has no `func Registry() runtime.Registry`: import \"example.com/own\" is a program, not an importable package"),
    ],
)  # fmt: skip
def test_whose_mistake_it_is_is_said(said: str, words: str) -> None:
    own = OwnScheduler("mine", Path("/mine"), Path("/mine"), "example.com/own", (), "", "")
    assert own.problem_of(said, "v1.36.3") == f"--scheduler mine: {words}"


def test_a_mistake_of_the_driver_is_not_the_users() -> None:
    own = OwnScheduler("mine", Path("/mine"), Path("/mine"), "example.com/own", (), "", "")
    said = "# k8s.io/kubernetes/pkg/scheduler/podrace\n./world.go:7:2: undefined: scheduler.New\n"
    assert own.problem_of(said, "v1.36.3") == ""


def test_a_decision_counts_in_its_step_or_for_its_pod_later() -> None:
    filtered = Decision("NoNode", "Filter", "Unschedulable", "no", "p", "n1")
    order = Decision("Names", "QueueSort", "other order", "q before p", "q")
    steps = (OutcomeStep(decided=(order,)), OutcomeStep(decided=(filtered,)), OutcomeStep())
    outcome = Outcome("a", "DIFFERS", steps=steps)
    assert filtered.words == "NoNode at Filter: Unschedulable for p on n1 (no)"
    assert outcome.decided_by(0, set()) == order
    assert outcome.decided_by(2, {"r"}) == filtered
    assert outcome.decided_by(3, {"p"}) == filtered
    assert outcome.decided_by(3, {"q"}) == order
    assert outcome.decided_by(3, {"r"}) is None
