"""Versions of installed packages, by the folders that describe them."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from podrace.checker.core.installed import version_of_package


@pytest.fixture(autouse=True)
def _asked_anew() -> None:
    version_of_package.cache_clear()


@pytest.mark.parametrize("name", ["podrace", "llvmlite", "numpy", "z3-solver", "PyYAML"])
def test_it_is_the_version_that_the_metadata_has(name: str) -> None:
    assert version_of_package(name) == version(name)


def test_what_is_not_installed_has_none() -> None:
    assert version_of_package("no-such-package") is None


def test_the_first_place_counts_and_two_in_one_place_are_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, far = tmp_path / "near", tmp_path / "far"
    for folder, number in ((near, "2.0"), (far, "1.0"), (far, "3.0")):
        info = folder / f"some_thing-{number}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Name: some-thing\nVersion: {number}\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", ["/no/such/place", str(near), str(far)])
    assert version_of_package("Some.Thing") == "2.0"
    version_of_package.cache_clear()
    monkeypatch.setattr(sys, "path", [str(far)])
    assert version_of_package("some-thing") == version("some-thing")
