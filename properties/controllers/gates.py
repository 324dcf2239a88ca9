"""Properties of scheduling gates and of those who keep them."""

from collections.abc import Iterator

from ...model.environment.controllers.gate_keepers import GateKeepers
from ...model.environment.gates import Gate
from ...model.language import Expr, any_of
from ..base.property import Property


class QuotaIsNotHeldBack(Property):
    """When the controllers and the scheduler can take no step, no gated pod holds quota that another pod
    waits for.

    A user sees an admitted workload whose pod stays SchedulingGated, while another workload waits for the quota. The property does not assume that users remove
    gates that have no keeper.
    """

    id = "S-QUOTA"
    consequence = "A gated pod holds quota. Another pod waits for this quota until the first pod loses its last gate, or is deleted."
    kind = "deadlock freedom"
    concerns = "the pod that waits for the quota"

    gate_keepers: GateKeepers

    def waits(self, gate: Gate) -> Expr:
        """Whether the gate is shut, and its keeper has no quota left."""
        assert gate.keeper is not None
        return self.gate_keepers.is_shut(gate) & ~self.gate_keepers.has_quota(gate.keeper)

    def is_held_back(self, gate: Gate) -> Expr:
        """Whether the keeper has let the pod go, and it has another gate."""
        return self.gate_keepers.is_let_go(gate) & self.api.pod[gate.pod].gated

    @property
    def rivals(self) -> list[tuple[Gate, Gate]]:
        """Each gate with the same keeper's gate of another pod, if violations of the first one's pod count."""
        kept = [g for g in self.universe[Gate] if g.keeper is not None and g.keeper.of.quota is not None]
        return [
            (g, o)
            for g in kept
            for o in kept
            if g.keeper is o.keeper and g is not o and g.pod in self.subjects
        ]

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for gate, other in self.rivals:
            held = self.waits(gate) & self.is_held_back(other)
            yield (
                f"{gate.pod.name} waits for quota that {other.pod.name} has, which another gate holds back",
                held,
            )

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod waits for quota": any_of(self.waits(gate) for gate, _ in self.rivals)}
