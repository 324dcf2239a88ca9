"""`check -f --drain NODE` and `--upgrade X.Y`: what becomes of the cluster, and both verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from podrace.analysis.request import representative_cluster
from podrace.base.problems import Problem
from podrace.manifests import drained, read_manifests, represent
from tests.cli.helpers import Ran, Shell, flat
from tests.manifests.manifest_objects import meta, owned, spec


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def node(name: str, cpu: str = "2") -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": f"uid-{name}"},
        "status": {"allocatable": {"cpu": cpu, "pods": "10"}},
    }  # fmt: skip


def pod(name: str, cpu: str, at: str | None = None, owner: str = "ReplicaSet", **more: Any) -> dict[str, Any]:
    owners: dict[str, Any] = {"ownerReferences": owned(owner, f"{name}-of")} if owner else {}
    where = {"nodeName": at} if at else {}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": meta(name, labels={"app": name}, **owners),
        "spec": spec(cpu, **where, **more),
        "status": {"phase": "Running" if at else "Pending", "startTime": "2026-01-01T00:00:00Z"},
    }  # fmt: skip


def budget(name: str, app: str, allowed: int) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta(name),
        "spec": {"selector": {"matchLabels": {"app": app}}}, "status": {"disruptionsAllowed": allowed},
    }  # fmt: skip


def written(*objects: dict[str, Any]) -> str:
    Path("dump.yaml").write_text(yaml.safe_dump_all(objects))
    return "dump.yaml"


def test_what_a_drain_evicts_and_what_stays(shell: Shell) -> None:
    text = written(
        node("n1", "8"), node("n2"),
        pod("web", "1", "n1"), pod("kept", "1", "n1"), pod("twice", "1", "n1"), pod("bare", "1", "n1", ""),
        pod("daemon", "1", "n1", "DaemonSet"), pod("static", "1", "n1", "Node"), pod("far", "1", "n2"),
        budget("some", "web", 1), budget("none", "kept", 0), budget("one", "twice", 1), budget("two", "twice", 1),
    )  # fmt: skip
    inventory = read_manifests([text])
    after = drained(inventory, "n1")
    assert after.account == [
        "drained: n1 is cordoned; evicted: shop/web and shop/bare; created again: shop/web-again",
        "  stays: shop/kept: shop/none allows no eviction of it now",
        "  stays: shop/twice: has several budgets, so the API server refuses its eviction",
        "  stays: shop/daemon: of a DaemonSet",
        "  stays: shop/static: a static pod of its kubelet",
    ]
    now = after.inventory
    assert [p.name for p in now.bound if p.terminating] == ["shop/web", "shop/bare"]
    assert [p.name for p in now.pending] == ["shop/web-again"]
    assert [n.unschedulable for n in now.nodes] == [True, False]
    assert [n.entity.unschedulable for n in inventory.nodes] == [False, False]
    assert {b.meta.name: b.allowed for b in now.budgets} == {
        "shop/some": 0, "shop/none": 0, "shop/one": 1, "shop/two": 1,
    }  # fmt: skip
    kept = represent(now, among=after.again)
    assert (kept.question.pod.name, [n.name for n in kept.nodes]) == ("shop/web-again", ["n2"])


def test_a_budget_lets_go_as_many_as_it_allows(shell: Shell) -> None:
    pods = [pod(name, "1", "n1") for name in ("a", "b", "c")]
    for one in pods:
        one["metadata"]["labels"] = {"app": "web"}
    inventory = read_manifests([written(node("n1", "8"), node("n2"), *pods, budget("web", "web", 2))])
    after = drained(inventory, "n1")
    assert after.account[1:] == ["  stays: shop/c: shop/web allows no eviction of it now"]


def test_what_waits_already_is_not_what_a_drain_asks_about(shell: Shell) -> None:
    inventory = read_manifests(
        [written(node("n1"), node("n2"), pod("web", "1", "n1"), pod("urgent", "2", priority=9))]
    )
    assert represent(inventory).question.pod.name == "shop/urgent"
    after = drained(inventory, "n1")
    assert represent(after.inventory, among=after.again).question.pod.name == "shop/web-again"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("n3", "--drain: no node `n3` is among the objects; the nearest: n2, n1; name one of them"),
        (
            "n2",
            "--drain n2: no pod is evicted that a controller creates again, so nothing is to be scheduled",
        ),
    ],
)
def test_nothing_to_drain(shell: Shell, name: str, said: str) -> None:
    inventory = read_manifests([written(node("n1"), node("n2"), pod("web", "1", "n1"))])
    with pytest.raises(Problem) as problem:
        drained(inventory, name)
    assert str(problem.value) == said


RACE = (
    node("n1", "3"), node("n2"), node("n3", "500m"), pod("high", "2", "n1", priority=10), pod("other", "1", "n1", priority=10),
    pod("low", "2", "n2", "", priority=0), pod("calm", "500m"),
)  # fmt: skip
"""Draining n1 has `high` preempt `low` on n2, and `other` may take the room. Before, only `calm` waits, for which there is room."""


def race(shell: Shell, release: str, *more: str) -> Ran:
    return shell("check", "-f", written(*RACE), "--release", release, "--property", "S-NOMVIS", *more)


def test_a_drain_shows_the_race_that_it_brings_about(shell: Shell) -> None:
    assert race(shell, "1.13.0").code == 0
    ran = race(shell, "1.13.0", "--drain", "n1")
    assert (ran.code, "VIOLATED" in ran.out) == (1, True)
    assert "evicted: shop/high and shop/other; created again: shop/high-again and shop/other-again" in ran.out


@pytest.mark.ci
def test_a_version_without_the_race_holds_amid_a_drain(shell: Shell) -> None:
    ran = race(shell, "1.14.0", "--drain", "n1")
    assert (ran.code, "S-NOMVIS HOLDS" in ran.out, "(vacuous)" in ran.out) == (0, True, False)


WAITING = (
    node("n1"), pod("low", "2", "n1", "", priority=0), pod("high", "2", priority=10), pod("other", "1", priority=10),
)  # fmt: skip


@pytest.mark.ci
@pytest.mark.parametrize(
    ("running", "to", "code", "row"),
    [
        ("1.13.0", "1.14.0", 0, "fixed"),
        pytest.param("1.14.0", "1.13.0", 1, "REGRESSED", marks=pytest.mark.nightly),
    ],
)
def test_two_versions_side_by_side(shell: Shell, running: str, to: str, code: int, row: str) -> None:
    line = ("check", "-f", written(*WAITING), "--release", running, "--property", "S-NOMVIS")
    ran = shell(*line, "--upgrade", to)
    assert ran.code == code, ran.err
    assert f"before: {running}   after: {to}" in ran.out
    assert row in next(text for text in ran.out.splitlines() if text.startswith("1/1"))
    assert "representative: 3 pods and 1 node" in ran.out
    assert "not about the whole cluster" in flat(ran.out)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--upgrade", "v1.13.0"), "--upgrade v1.13.0 is the same release as 1.13.0: name another"),
        (("--upgrade", "9.9"), "unknown release `9.9`"),
        (("--upgrade", "1.14", "-o", "html"), "--upgrade prints text, json, markdown: leave out --output html"),
        (("--upgrade", "1.14", "--with-fix", "72259"), "--upgrade compares two versions of the scheduler: leave out --with-fix"),
        (("--upgrade", "1.14", "--affected"), "--upgrade compares two versions of the scheduler: leave out --affected"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_with_it(shell: Shell, more: tuple[str, ...], said: str) -> None:
    ran = shell("check", "-f", written(*WAITING), "--release", "1.13.0", *more)
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith(f"podrace: {said}")


ALONE = (node("n1"), pod("only", "1"))


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_every_form_says_what_the_verdict_is_about(shell: Shell, form: str) -> None:
    ran = shell(
        "check", "-f", written(*ALONE), "--release", "1.36.0", "--property", "S-CAP", "--upgrade", "1.37.0", "-o", form
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "the verdict is about shop/only on n1, not about the whole cluster" in flat(ran.out)


def test_what_is_not_modelled_in_full_is_not_compared(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(representative_cluster, "doubts_of", lambda *_: ("a claim",))
    ran = shell("check", "-f", written(*ALONE), "--release", "1.36.0", "--upgrade", "1.37.0")
    assert (ran.code, ran.out) == (2, "")
    assert "--upgrade: podrace does not model all that decides it (a claim)" in ran.err
