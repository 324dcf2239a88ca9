"""Each option of a scope and each section acts in a small scenario of its own."""

from __future__ import annotations

import pytest

from podrace.model.cluster import build_cluster
from podrace.model.environment.controllers import autoscaler, replacement
from podrace.model.environment.objects import Node, Pod
from podrace.model.language.systems.remembering import kept_for
from podrace.model.language.systems.system import initialise
from tests.scenarios.acting import parts_and_idle, read
from tests.scenarios.features import FEATURES
from tests.scenarios.test_every_pair_acts import in_order

OUTLIVED = {Pod: replacement.OUTLIVED, Node: autoscaler.OUTLIVED}


@pytest.mark.parametrize("name", FEATURES)
def test_each_is_accepted(name: str) -> None:
    assert read((name,)) is not None


def test_nobody_remembers_at_first_who_is_yet_to_come() -> None:
    """A controller and an autoscaler make only those whom nobody remembers: state that says of one that is not there that it is gone would keep it away."""
    for name in FEATURES:
        for owner in ("controllers", "autoscaler"):
            scenario = read(in_order({name, owner}))
            if scenario is None:
                continue
            model = build_cluster(scenario.spec)
            initialise(model)
            entities: list[Pod | Node] = [*scenario.spec.pods, *scenario.spec.nodes]
            known = {
                (name, variable.name)
                for entity in entities
                if not entity.exists
                for part in model.parts.values()
                for state, variable in kept_for(part, entity)
                if state not in OUTLIVED[type(entity)]
                and variable.initial != min(max(0, variable.lo), variable.hi)
            }
            assert not known


@pytest.mark.representatives(33)
@pytest.mark.ci
@pytest.mark.parametrize("name", FEATURES)
def test_each_acts(name: str) -> None:
    assert parts_and_idle((name,), 80, 500)[1] == set()
