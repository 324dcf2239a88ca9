"""A tree in Go's module cache and the modules next to it that belong to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.analysis.upstream.source_tree import functions_in, missing_modules
from podrace.base.problems import UsageProblem

FUNCTION = "package framework\n\nfunc F() {}\n"


def tree(cache: Path, *replaced: str) -> Path:
    """kubernetes 1.37.2 as the module cache has it: go.mod says what is staged, and its files are not there."""
    root = cache / "kubernetes@v1.37.2"
    (root / "pkg/scheduler").mkdir(parents=True)
    (root / "pkg/scheduler/scheduler.go").write_text("package scheduler\n\nfunc New() {}\n")
    lines = [f"\tk8s.io/{module} => ./staging/src/k8s.io/{module}\n" for module in replaced]
    (root / "go.mod").write_text("".join(["replace (\n", *lines, ")\n"]))
    return root


def test_a_tree_without_its_staged_modules_is_refused(tmp_path: Path) -> None:
    """Their functions counted as gone."""
    root = tree(tmp_path, "kube-scheduler", "dynamic-resource-allocation")
    missing = ["k8s.io/dynamic-resource-allocation@v0.37.2", "k8s.io/kube-scheduler@v0.37.2"]
    assert sorted(set(missing_modules(root))) == missing
    with pytest.raises(UsageProblem) as raised:
        functions_in(root)
    assert str(raised.value) == (
        "Go's module cache has `kubernetes@v1.37.2` without k8s.io/dynamic-resource-allocation@v0.37.2, which belongs to it: "
        "`go mod download k8s.io/dynamic-resource-allocation@v0.37.2 k8s.io/kube-scheduler@v0.37.2` fetches it"
    )


def test_the_modules_next_to_it_are_read(tmp_path: Path) -> None:
    root = tree(tmp_path, "kube-scheduler")
    (tmp_path / "kube-scheduler@v0.37.2/framework").mkdir(parents=True)
    (tmp_path / "kube-scheduler@v0.37.2/framework/types.go").write_text(FUNCTION)
    assert missing_modules(root) == []
    assert "staging/kube-scheduler/framework/types.go:F" in functions_in(root)


def test_an_older_tree_has_fewer_modules(tmp_path: Path) -> None:
    assert missing_modules(tree(tmp_path)) == []
    assert list(functions_in(tmp_path / "kubernetes@v1.37.2")) == ["scheduler.go:New"]


def test_a_checkout_has_them_inside(tmp_path: Path) -> None:
    root = tree(tmp_path, "kube-scheduler").rename(tmp_path / "checkout")
    assert missing_modules(root) == []
    (root / "staging/src/k8s.io/kube-scheduler/framework").mkdir(parents=True)
    (root / "staging/src/k8s.io/kube-scheduler/framework/types.go").write_text(FUNCTION)
    assert "staging/kube-scheduler/framework/types.go:F" in functions_in(root)
