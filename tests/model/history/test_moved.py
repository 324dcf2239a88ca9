"""Patches that users wrote before the changes had a folder of their own are still read."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("nomination_changes", "preempting.nominations", "Before77990"),
        ("queue_changes", "queueing.queue", "Before73309"),
        ("cache_changes", "caching.cache", "AssumedPodsExpire"),
        ("changes.queue", "queueing.queue", "Before73309"),
        ("changes.async_calls", "cycles.async_calls", "ClearedWhateverTheObject"),
    ],
)
def test_a_change_is_found_under_its_old_module(old: str, new: str, name: str) -> None:
    here = importlib.import_module(f"podrace.model.history.{old}")
    there = importlib.import_module(f"podrace.model.history.changes.{new}")
    assert here is there
    assert getattr(here, name) is getattr(there, name)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("schedule_one", "cycles.schedule_one", "Scheduler"),
        ("binding", "cycles.binding", "BindingPhase"),
        ("failure", "cycles.failure", "FailedAttempt"),
        ("dynamic_resources", "dynamicresources.dynamic_resources", "DynamicResources"),
    ],
)
def test_a_part_is_found_under_its_old_module(old: str, new: str, name: str) -> None:
    here = importlib.import_module(f"podrace.model.scheduler.{old}")
    assert here is importlib.import_module(f"podrace.model.scheduler.{new}")
    assert getattr(here, name)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("budgets", "controllers.budgets", "Budgets"),
        ("autoscaler", "controllers.autoscaler", "Autoscaler"),
        ("claims", "storage.claims", "ResourceClaims"),
        ("volumes", "storage.volumes", "Storage"),
    ],
)
def test_what_is_around_the_scheduler_is_found_under_its_old_module(old: str, new: str, name: str) -> None:
    importlib.import_module("podrace.model.scheduler")
    here = importlib.import_module(f"podrace.model.environment.{old}")
    assert here is importlib.import_module(f"podrace.model.environment.{new}")
    assert getattr(here, name)


@pytest.mark.parametrize(("name", "module"), [("ClaimChange", "claims"), ("VolumeClaimChange", "volumes")])
def test_a_class_is_found_in_its_old_module(name: str, module: str) -> None:
    importlib.import_module("podrace.model.scheduler")
    here = importlib.import_module("podrace.model.environment.objects")
    there = importlib.import_module(f"podrace.model.environment.storage.{module}")
    assert getattr(here, name) is getattr(there, name)


def test_there_are_no_old_names_that_never_were() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("podrace.model.history.change_changes")
