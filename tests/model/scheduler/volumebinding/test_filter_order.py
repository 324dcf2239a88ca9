"""VolumeBinding runs before PodTopologySpread and InterPodAffinity (getDefaultPlugins, 1.36): if several reject a pod, it is the first."""

from __future__ import annotations

import pytest

from podrace.checker.core.interpreter import Interpreter
from podrace.model.history import resolve
from podrace.model.scheduler.framework.status import NodeStatus
from podrace.properties import instrument
from podrace.scenarios import find_scenarios

TO_THE_FILTER = (
    "scheduler.pop(pod=r1)", "scheduler.take_snapshot(pod=r1)", "scheduler.filter(pod=r1, node=n2)", "scheduler.filter(pod=r1, node=n1)",
    "scheduler.assume(pod=r1, node=n2)", "scheduler.start_binding(pod=r1)",
    "scheduler.pop(pod=r0)", "scheduler.take_snapshot(pod=r0)", "volume_binding.read_claim(use=data-0 of r0)", "scheduler.filter(pod=r0, node=n2)",
)  # fmt: skip


@pytest.mark.parametrize("release", ["1.34.4", "1.36.3", "1.37.2"])
def test_the_volume_is_elsewhere_and_anti_affinity_is_violated_too(release):
    """r0's volume is on n1 alone, and r1, which r0 keeps away from, is assumed on n2."""
    (scenario,) = find_scenarios("only-place-taken")
    system = instrument(scenario.spec, resolve(release).classes, [])
    interpreter = Interpreter(system)
    numbers = {t.label: n for n, t in enumerate(system.transitions)}
    state = interpreter.initial
    for label in TO_THE_FILTER:
        while numbers[label] not in interpreter.enabled(state):
            own = interpreter.enabled(state)[0]  # reads and reserves volumes
            state = interpreter.successor(state, own)
        state = interpreter.successor(state, numbers[label])
    values = dict(zip((v.name for v in system.variables), state, strict=True))
    rejecting = {name for name, value in values.items() if name.startswith("scheduler.rejected_by") and value}
    assert list(NodeStatus)[values["scheduler.verdict[n2]"]] is NodeStatus.UNRESOLVABLE
    assert rejecting == {"scheduler.rejected_by[VolumeBinding]"}
