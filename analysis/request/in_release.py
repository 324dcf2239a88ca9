"""What a scenario can have that the model knows of some releases only."""

from __future__ import annotations

from ...model.history import Composition
from ...model.history.versions import exact, version_of
from ...scenarios import Scenario
from .options import FIRST_WITH_CLAIMS, FIRST_WITH_EXTENDED

GATE_OF_GROUPS = "GangScheduling"


def refusal_of(scenario: Scenario, composition: Composition) -> str | None:
    """Why the scenario says nothing of this scheduler, whose gates are set as the scenario has them; None if it does."""
    spec, release = scenario.spec, composition.release

    def before(first: str) -> bool:
        return version_of(release) < version_of(first)

    def later(what: str, first: str) -> str:
        return f"{scenario.name}: {what} are modelled from {first} on: ask for a later release than {exact(release)}"

    if spec.claims and before(FIRST_WITH_CLAIMS):
        return later("resourceClaims", FIRST_WITH_CLAIMS)
    if any(claim.special for claim in spec.claims) and before(FIRST_WITH_EXTENDED):
        return later("extended resources of deviceClasses", FIRST_WITH_EXTENDED)
    if spec.scope.device_taints and before(FIRST_WITH_EXTENDED):
        return later("device_taints", FIRST_WITH_EXTENDED)
    if spec.volume_claims and before(FIRST_WITH_CLAIMS):
        return later("volumeClaims", FIRST_WITH_CLAIMS)
    if spec.groups and (GATE_OF_GROUPS, True) not in composition.gates:
        return (
            f"{scenario.name}: podGroups are for where the feature gate {GATE_OF_GROUPS} is on: "
            f"add --gate {GATE_OF_GROUPS}=true, with release 1.35 or 1.36"
        )
    return None
