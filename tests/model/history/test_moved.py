"""Patches that users wrote before the changes had a folder of their own are still read."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("nomination_changes", "nominations", "Before77990"),
        ("queue_changes", "queue", "Before73309"),
        ("cache_changes", "cache", "AssumedPodsExpire"),
    ],
)
def test_a_change_is_found_under_its_old_module(old: str, new: str, name: str) -> None:
    here = importlib.import_module(f"podrace.model.history.{old}")
    there = importlib.import_module(f"podrace.model.history.changes.{new}")
    assert here is there
    assert getattr(here, name) is getattr(there, name)


def test_there_are_no_old_names_that_never_were() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("podrace.model.history.change_changes")
