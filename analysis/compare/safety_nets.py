"""Safety nets: what a change is compared by though nobody asked, so that a race closed by losing pods is no success.

The scheduler with the change is searched first. Only where a net is violated there does the other one have to be searched.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from ...base.structs import Data
from ...checker.core.exploration import Budget
from ...checker.reduction.questions import explored_slice
from ...checker.trace.fingerprint import fingerprint
from ...properties.placement.bindings import Capacity, NoPodLost
from ...properties.scheduling.conditions import RejectedPodsSaySo
from ...properties.scheduling.liveness import NotStuck, PendingPodsAreScheduled
from ...properties.scheduling.places import FlightEnds
from ...reports.verify.comparison import Lost, Net, NetOutcome
from ..altered_questions import altered
from ..chain import verdict_in
from ..findings import witness_words
from ..request.method import Method, Watcher
from ..request.plan import Run
from ..systems import system_of
from .reaching import reached_in, unharmed

NETS = (
    NoPodLost.id,
    FlightEnds.id,
    Capacity.id,
    NotStuck.id,
    PendingPodsAreScheduled.id,
    RejectedPodsSaySo.id,
)
"""No pod is lost, none stays in flight, no node is overfull, no pod is stuck, none waits for ever although it fits, and one that cannot be scheduled says so."""

LEAST_STATES = 1_000_000
FACTOR = 4
"""A net may look at so many times the states of what was asked, and at LEAST_STATES in any case."""


class NetSearch(Data):
    """How the nets of one scenario are searched. `states` is the largest search of what was asked there.

    `lost` gets the witnesses of a net that the first scheduler reaches without a violation, and the second does not reach.
    """

    budget: Budget
    method: Method
    watcher: Watcher
    states: int = 0
    lost: list[Lost] = field(default_factory=list)

    @property
    def bounded(self) -> Budget:
        """What one net may use: what the user says, else in proportion to what was asked."""
        if self.budget.max_states is not None:
            return self.budget
        return replace(self.budget, max_states=max(LEAST_STATES, FACTOR * self.states))

    def compare(self, before: Run, after: Run) -> Net:
        """One net on both schedulers."""
        name = f"{after.scenario.name} {after.property}, a regression check,"
        first, second = system_of(before), system_of(after)
        slices = (explored_slice(system, after.property) for system in (first, second))
        if len({fingerprint(one) for one in slices}) == 1:
            return Net(after.scenario.name, after.property, "no difference")
        self.watcher.start(f"{name} on {after.composition.label}")
        found = verdict_in(second, after, self.bounded, self.method, self.watcher.watch)
        if found.verdict == "HOLDS":
            missed = [name for name in first.witnesses if witness_words(name) in found.witnesses_missed]
            reached, _ = reached_in(unharmed(first), missed, self.bounded)
            self.lost.extend(Lost(after.scenario.name, witness_words(name)) for name in reached)
        if found.verdict != "VIOLATED":
            altered_ = found.verdict == "HOLDS" and bool(altered(after).alters)
            outcome: NetOutcome = "holds" if found.verdict == "HOLDS" and not altered_ else "inconclusive"
            return Net(
                after.scenario.name,
                after.property,
                outcome,
                found.states,
                vacuous=found.vacuous,
                altered=altered_,
            )
        self.watcher.start(f"{name} on {before.composition.label}")
        known = verdict_in(first, before, self.bounded, self.method, self.watcher.watch)
        outcomes: dict[str, NetOutcome] = {"HOLDS": "REGRESSED", "VIOLATED": "violated before"}
        outcome = outcomes.get(known.verdict, "inconclusive")
        regressed = outcome == "REGRESSED"
        return Net(
            after.scenario.name,
            after.property,
            outcome,
            max(found.states, known.states),
            after=found if regressed else None,
        )


def nets_beside(runs: Sequence[Run]) -> Iterator[Run]:
    """The runs of one scenario's nets that are not asked for anyhow."""
    asked = {run.property for run in runs}
    for net in NETS:
        if net not in asked:
            yield replace(runs[0], property=net, own=None, expected=None, expected_steps=None)
