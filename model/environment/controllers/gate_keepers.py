"""Gate keepers: controllers that hold pods back by a scheduling gate each, such as Kueue (its pod integration) or a provisioner of devices.

A pod may have several gates, and the API server lets each be taken away by itself (ValidatePodUpdate: none can be added). Kueue takes its gate away in
the update in which it writes what it has decided: node selectors, tolerations and labels of the flavour (`podset.Merge`, `utilpod.Ungate`; KEP-3838 lets them
be written as long as there is any gate). What it lets go counts against a quota until the pod is gone.

Where a scenario has no `gateKeepers`, all gates of a pod go at once (`Users.remove_gates`).
"""

from ...language import (
    Component,
    Expr,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    count,
    per,
    require,
    step,
    tells,
    when,
)
from ..api import APIServer
from ..cluster.pod_versions import PodVersion, versions_in
from ..gates import Gate, GateKeeper


class GateKeepers(Component):
    """Controllers that add scheduling gates to pods. `open[g]`: the gate was removed from its pod, which still has others. `directed[g]`: the gate's keeper has written its changes, and the gate still exists.

    A keeper acts on the newest object, some time after it came to be so: its writes carry the version that it has read, so that one from an older object is refused
    and repeated. It hears of the end of a pod late by acting late.
    """

    api: APIServer

    kinds = (GateKeeper, Gate)

    open = per(Gate, boolean())
    directed = per(Gate, boolean())

    phrases = {
        "open": Words("API server: the {0} is taken away, and the pod has others", "", decisive=True),
        "directed": Words("the keeper of the {0} has said what it asks for", ""),
    }

    def others(self, gate: Gate) -> list[Gate]:
        """The other gates of its pod."""
        return [other for other in self.universe[Gate] if other.pod is gate.pod and other is not gate]

    def is_shut(self, gate: Gate) -> Expr:
        """Whether the gate holds the pod back."""
        current = self.api.pod[gate.pod]
        return as_expr(current.exists & current.gated & ~self.open[gate])

    def is_let_go(self, gate: Gate) -> Expr:
        """Whether the pod exists, and counts as admitted by the keeper."""
        current = self.api.pod[gate.pod]
        return as_expr(current.exists & (~current.gated | self.open[gate]))

    def has_quota(self, keeper: GateKeeper) -> Expr:
        """Whether the keeper has quota for one more pod."""
        if keeper.of.quota is None:
            return as_expr(True)
        mine = [gate for gate in self.universe[Gate] if gate.keeper is keeper]
        return count(self.is_let_go(gate) for gate in mine) < keeper.of.quota

    def may_act(self, gate: Gate) -> Expr:
        """Whether the keeper handles the pod now: it may wait until other gates are removed."""
        keeper = gate.keeper
        assert keeper is not None
        awaited = [other for other in self.others(gate) if other.gate in keeper.of.waits_for]
        return all_of(~self.is_shut(other) for other in awaited) & self.has_quota(keeper)

    def _take_away(self, gate: Gate, version: PodVersion | None = None) -> None:
        others = self.others(gate)
        last = ~any_of(self.is_shut(other) for other in others)
        self.api.remove_gate(gate.pod, last, version)
        self.directed[gate] = False
        with when(last):
            for other in others:
                self.open[other] = False
        if others:
            with when(~last):
                self.open[gate] = True

    def wanted(self, gate: Gate) -> PodVersion | None:
        """The version of the pod that the keeper wants to write, if any."""
        keeper, versions = gate.keeper, versions_in(self.universe, gate.pod)
        return next((v for v in versions if keeper is not None and v.name in keeper.of.directs), None)

    def is_taken(self, version: PodVersion) -> Expr:
        """Whether the API server accepts an update to this version, or the pod has it already. A refused update is retried."""
        current = self.api.pod[version.pod]
        return self.api.may_be_updated(version) | (current.version == version.number)

    def is_apart(self, gate: Gate) -> bool:
        """Whether the keeper writes its changes in a separate update, before it removes the gate."""
        return gate.keeper is not None and gate.keeper.of.apart and self.wanted(gate) is not None

    @step(actor="gate keeper", each="gate")
    @tells("The keeper of the {gate} writes where the pod is to go.")
    def direct(self, gate: Gate) -> None:
        """A separate update with the keeper's changes."""
        version = self.wanted(gate)
        if version is None or not self.is_apart(gate):
            require(False)
            return
        require(self.is_shut(gate) & ~self.directed[gate] & self.may_act(gate) & self.is_taken(version))
        self.directed[gate] = True
        self.api.update_pod(version)

    @step(actor="gate keeper", each="gate")
    @tells("The {gate} is taken away by its keeper.")
    def let_go(self, gate: Gate) -> None:
        """An update that removes the gate, together with the keeper's changes if they are not written yet."""
        require(gate.keeper is not None)
        version = self.wanted(gate)
        require(self.is_shut(gate) & self.may_act(gate))
        if version is None or self.is_apart(gate):
            require(as_expr(self.directed[gate]) if self.is_apart(gate) else as_expr(True))
            self._take_away(gate)
        else:
            require(self.is_taken(version))
            self._take_away(gate, version)

    @step(actor="user", fair=False)
    @tells("The {gate} is taken away.")
    def remove(self, gate: Gate) -> None:
        """A gate without a keeper is removed by a user, or never."""
        require(gate.keeper is None)
        require(self.is_shut(gate))
        self._take_away(gate)
