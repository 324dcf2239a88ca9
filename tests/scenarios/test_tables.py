"""The tables of fields: what a row refers to is there."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest

from podrace.model.environment.cluster.scope import BOUNDS, Config
from podrace.model.environment.cluster.workloads import ExtenderSpec, KeeperSpec, OwnerSpec, StrategySpec
from podrace.model.environment.faults import Fault
from podrace.model.environment.objects import (
    Claim,
    Device,
    DisruptionBudget,
    ExtensionPoint,
    Node,
    Pod,
    PodGroup,
    StorageClass,
    Volume,
)
from podrace.scenarios.tables.actors import CONTROLLERS, EXTENDERS, KEEPERS, PLUGINS
from podrace.scenarios.tables.all import TABLES
from podrace.scenarios.tables.file import CONFIG, FILE, SCOPE
from podrace.scenarios.tables.nodes import NODE_UPDATES, NODES
from podrace.scenarios.tables.objects import BUDGETS, CLAIMS, DEVICES, GROUPS, STORAGE_CLASSES, VOLUMES
from podrace.scenarios.tables.pods import POD_UPDATES, PODS
from podrace.scenarios.tables.table import Table

MADE_OF = (
    (NODES, Node), (PODS, Pod), (BUDGETS, DisruptionBudget), (DEVICES, Device), (CLAIMS, Claim), (STORAGE_CLASSES, StorageClass),
    (VOLUMES, Volume), (GROUPS, PodGroup), (CONTROLLERS, OwnerSpec), (PLUGINS, StrategySpec), (KEEPERS, KeeperSpec),
    (EXTENDERS, ExtenderSpec), (CONFIG, Config),
)  # fmt: skip


@pytest.mark.parametrize(("table", "made"), MADE_OF, ids=lambda value: getattr(value, "part", ""))
def test_an_attribute_is_one_that_the_model_takes(table: Table, made: Any) -> None:
    assert {row.attribute for row in table.rows if row.attribute} <= set(signature(made).parameters)


def test_what_is_updated_is_a_field() -> None:
    assert set(NODE_UPDATES.names) <= set(NODES.names)
    assert set(POD_UPDATES.names) <= set(PODS.names)


def test_every_row_says_what_is_so_without_the_field() -> None:
    assert all(row.default and row.words and row.kind.words for table in TABLES for row in table.rows)


def test_what_a_bound_needs_or_excludes_can_be_there() -> None:
    known = {
        *BOUNDS,
        *FILE.names,
        *(point.value for point in ExtensionPoint),
        "finalizers",
        "NoExecute",
        "scales",
    }
    named = [
        name for of in BOUNDS.values() for names, _ in (*of.needs, *of.excludes) for name in names.split()
    ]
    assert set(named) <= known


def test_the_faults_are_the_bounds_that_count() -> None:
    assert [kind.value for kind in Fault] == [name for name, of in BOUNDS.items() if of.least == 0]


def test_the_type_of_a_fault_names_the_sections_that_it_can_affect() -> None:
    assert SCOPE["device_taints"].kind.words == "count or `devices`"
    assert SCOPE["volume_deletions"].kind.words == "count or `volumes`, `volumeClaims`"
    assert SCOPE["watch_stalls"].kind.words == "count"
