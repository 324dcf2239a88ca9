"""Whether pods can all be placed, each on a node that exists and passes all filters for it: what `L-PLACE` asks of the cluster.

Pods that are bound or assumed stay where they are. The others count as they were created: with the volumes and devices that they had at the start, and
without what a gate keeper has written since about where they are to go.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, TypeVar

from ...model.environment.cluster.owned_pods import Owned
from ...model.environment.cluster.pod_versions import PodVersion
from ...model.environment.gates import GateKeeper
from ...model.environment.objects import Claim, Device, Node, Pod, PodGroup, Volume, VolumeClaim
from ...model.language import Expr, all_of, any_of, as_expr, count, select
from ...model.scheduler.framework.placement import Placement
from ..base import truth
from ..base.property import Property

MOST_PLACEMENTS = 4096
"""More placements are not looked at."""

Way = Mapping[Pod, Node]
"""Where some of the pods are placed."""

T = TypeVar("T")


def to_be_placed(prop: Property) -> list[Pod]:
    """The pods that need a place at some time: those that are not on a node from the start, and those that a controller makes."""
    made = {owned.pod for owned in prop.universe[Owned]}
    return [pod for pod in prop.pods if pod.node is None or pod in made]


def are_too_many(nodes: Sequence[Node], pods: Sequence[Pod]) -> bool:
    """Whether there are more ways to place these pods than are looked at."""
    return (len(nodes) + 1) ** len(pods) > MOST_PLACEMENTS


class PlacingTogether:
    """The question in one state. Pods are placed one after the other; where their order can matter, in every order."""

    def __init__(self, prop: Property) -> None:
        self.prop = prop
        self.parts = prop._model.parts
        self.pods = to_be_placed(prop)
        forms = [form for pod in self.pods for form in (pod, *pod.later.values())]
        self.ordered = any(
            form.spread or any(t.required and not t.anti for t in form.terms) for form in forms
        )
        self.all_there = False
        self.known: dict[frozenset[tuple[Pod, Node]], Expr] = {}

    def is_possible(self) -> Expr:
        """Whether there is a place for each pod that is there."""
        if not self.ordered:  # where all have a place, fewer have, too
            self.all_there = True
            found = self._from({})
            if found.is_const and found.value:
                return found
            self.all_there = False
            self.known.clear()
        return self._from({})

    def _from(self, way: Way) -> Expr:
        """Whether the pods without a place have one when the others are placed so."""
        key = frozenset(way.items())
        if key not in self.known:
            self.known[key] = self._found(way)
        return self.known[key]

    def _found(self, way: Way) -> Expr:
        left = [pod for pod in self.pods if pod not in way]
        if not left:
            return self._groups_are_whole() & self._have_volumes(way) & self._have_devices(way)
        return any_of(_up_to_true(self._steps(way, left if self.ordered else left[:1])))

    def _steps(self, way: Way, pods: Sequence[Pod]) -> Iterator[Expr]:
        where = self._placement(way)
        for pod in pods:
            for node in self.prop.nodes:
                may = self._may_be_on(pod, node, where)
                if not (may.is_const and not may.value):
                    yield may & self._from({**way, pod: node})

    # --- pods and nodes --------------------------------------------------------------------------------

    def _is_there(self, pod: Pod) -> Expr:
        if self.all_there and pod in self.pods:
            return as_expr(True)
        current = self.prop.api.pod[pod]
        return as_expr(current.exists) & ~current.terminating

    def _may_be_on(self, pod: Pod, node: Node, where: Placement) -> Expr:
        taken = {n: truth.taken(self.prop, pod, n) for n in self.prop.nodes}
        fits = where.live[node] & truth.fits(self.prop, pod, node, where, self._number(pod))
        return ~self._is_there(pod) | select(any_of(taken.values()), taken[node], fits)

    def _placement(self, way: Way) -> Placement:
        """What is bound or assumed, and these pods where they are placed."""

        def is_on(pod: Pod, node: Node) -> Expr:
            taken = truth.taken(self.prop, pod, node)
            return taken if pod not in way else self._is_there(pod) & as_expr(way[pod] is node)

        prop = self.prop
        return Placement(
            {pod: {node: is_on(pod, node) for node in prop.nodes} for pod in prop.pods},
            {node: as_expr(prop.api.node_exists[node]) for node in prop.nodes},
            {pod: as_expr(prop.api.pod[pod].terminating) for pod in prop.pods},
            shown={v: as_expr(prop.api.node_version[v.node] == v) for v in prop.versions},
            held={v: self._number(v.pod) == v.number for v in prop.pod_versions},
        )

    def _number(self, pod: Pod) -> Expr:
        """The version that the pod counts in: the first, if a gate keeper has had it become another."""
        number = as_expr(self.prop.api.pod[pod].version)
        for version in self._directed(pod):
            number = select(number == version.number, 0, number)
        return number

    def _directed(self, pod: Pod) -> list[PodVersion]:
        written = {name for keeper in self.prop.universe[GateKeeper] for name in keeper.of.directs}
        return [v for v in self.prop.pod_versions if v.pod is pod and v.name in written]

    def _groups_are_whole(self) -> Expr:
        """Whether the groups of the pods that are there exist, and have as many pods as they need."""
        groups, found = self.prop.pod_groups, []
        for group in self.prop.universe[PodGroup] if groups.is_there() else ():
            there = [self._is_there(member.pod) for member in groups.members(group)]
            enough = count(there) >= (group.min_count or 0)
            found.append(~any_of(there) | (as_expr(groups.exists[group]) & enough))
        return all_of(found)

    # --- what they claim -------------------------------------------------------------------------------

    def _uses(self, way: Way, name: str, of: Callable[[Pod], Sequence[str]]) -> dict[Pod, Node]:
        """Which of the pods use a claim, and where they are placed."""
        return {pod: node for pod, node in way.items() if name in of(pod)}

    def _reach(self, uses: Way, reaches: Callable[[Node], bool]) -> Expr:
        """Whether all users that are there are placed on nodes from which they reach something."""
        return all_of(~self._is_there(pod) | as_expr(reaches(node)) for pod, node in uses.items())

    def _have_volumes(self, way: Way) -> Expr:
        """Whether all claims of volumes have one, each its own, that its pods reach."""
        claims = [c for c in self.prop.universe[VolumeClaim] if self._uses(way, c.name, _volumes)]
        if not claims:
            return as_expr(True)
        named = {c.volume for c in self.prop.universe[VolumeClaim]}
        storage: Any = self.parts["storage"]
        found, free = [], {}
        for claim in claims:
            uses = self._uses(way, claim.name, _volumes)
            used = any_of(map(self._is_there, uses))
            current = storage.claim[claim]
            found.append(~used | (as_expr(current.exists) & ~current.terminating))
            own = claim.volume or next((v for v in self._volumes() if v.claim == claim.name), None)
            if own is not None:
                there = as_expr(storage.volume[own].exists)
                found.append(~used | (there & self._reach(uses, own.is_on)))
            elif claim.storage_class.provisions:
                pairs = [pair for pair in combinations(uses.items(), 2) if pair[0][1] is not pair[1][1]]
                found += [~self._is_there(one) | ~self._is_there(other) for (one, _), (other, _) in pairs]
            else:
                free[claim] = (
                    used,
                    {
                        volume: as_expr(storage.volume[volume].exists) & self._reach(uses, volume.is_on)
                        for volume in self._volumes()
                        if volume.storage_class is claim.storage_class
                        and volume.claim is None
                        and volume.provisioned_for is None
                        and volume not in named
                    },
                )
        return all_of(found) & _each_has_its_own(list(free.values()))

    def _volumes(self) -> tuple[Volume, ...]:
        return self.prop.universe[Volume]

    def _have_devices(self, way: Way) -> Expr:
        """Whether all claims of devices have one, each its own, that its pods reach."""
        every = self.prop.universe[Claim]
        claims = [c for c in every if self._uses(way, c.name, _claims)]
        if not claims:
            return as_expr(True)
        allocated = tuple(c.device for c in every if c.device is not None)
        objects: Any = self.parts["resource_claims"]
        found, free = [], []
        for claim in claims:
            uses = self._uses(way, claim.name, _claims)
            used = any_of(map(self._is_there, uses))
            if claim.owner is None and not claim.special:
                found.append(~used | objects.is_there(claim))
            if claim.device is not None:
                found.append(self._reach(uses, claim.device.is_on))
                continue
            devices: dict[Device, Expr] = {
                device: self._reach(uses, device.is_on)
                for device in self.prop.universe[Device]
                if claim.rank(device) is not None
            }
            free.append((used, devices))
        return all_of(found) & _each_has_its_own(free, allocated, _is_left)


def _is_left(device: Device, taken: Sequence[Device]) -> bool:
    """Whether a device can be had beside others."""
    drawn = ((c, sum(d.draws.get(c, 0) for d in (device, *taken))) for c in device.draws)
    return all(amount <= counter.capacity for counter, amount in drawn)


def _volumes(pod: Pod) -> Sequence[str]:
    return pod.volumes


def _claims(pod: Pod) -> Sequence[str]:
    return pod.claims


def _each_has_its_own(
    wanted: Sequence[tuple[Expr, Mapping[T, Expr]]],
    taken: tuple[T, ...] = (),
    is_left: Callable[[T, Sequence[T]], bool] = lambda choice, taken: choice not in taken,
) -> Expr:
    """Whether each, if it wants any, can have one of what it may have that `is_left` beside those that are taken: by itself, no two the same."""
    if not wanted:
        return as_expr(True)
    (wants, choices), *others = wanted
    none = ~wants & _each_has_its_own(others, taken, is_left)
    some = (
        may & _each_has_its_own(others, (*taken, choice), is_left)
        for choice, may in choices.items()
        if is_left(choice, taken)
    )
    return any_of(_up_to_true(chain([none], some)))


def _up_to_true(found: Iterator[Expr]) -> Iterator[Expr]:
    """These, up to the first that is so in any case."""
    for one in found:
        yield one
        if one.is_const and one.value:
            return
