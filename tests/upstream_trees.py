"""Upstream's sources, where Go's module cache has them: what needs them is skipped elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from podrace.analysis.upstream.source_tree import missing_modules

CACHE = Path(
    os.environ.get("GOMODCACHE") or Path(os.environ.get("GOPATH") or Path.home() / "go") / "pkg" / "mod"
)


def tree_of(version: str) -> Path:
    """The source tree of a version. Skips the test if it is not there."""
    tree = CACHE / "k8s.io" / f"kubernetes@v{version}"
    if not tree.is_dir():
        pytest.skip(f"k8s.io/kubernetes {version} is not in Go's module cache")
    if missing := missing_modules(tree):
        pytest.skip(f"{missing[0]} is not in Go's module cache")
    return tree
