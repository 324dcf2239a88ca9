"""Groups of pods: what KEP-4671 (gang scheduling) promises of them, and what the scheduler must know of them for that.

The sections that are named are those of keps/sig-scheduling/4671-gang-scheduling.
"""

from collections.abc import Iterator
from functools import partial
from itertools import combinations, product

from ...model.environment.objects import Claim, Node, Pod, PodGroup
from ...model.environment.pod_groups import Member
from ...model.environment.watch import Handler
from ...model.language import Case, Expr, all_of, any_of, as_expr, before, count, when
from ...model.scheduler import PodGroupCycle, PodGroupStates, WaitingPods
from ...model.scheduler.event_handlers import Removal
from ...model.scheduler.framework.placement import Placement
from ...model.scheduler.framework.waiting_pods import Signal
from ..base import truth
from ..base.property import NeverHappens, Property
from .nominations import NominationMonitor


class AboutGroups(Property):
    """Base class of the properties of groups."""

    pod_group_states: PodGroupStates
    waiting: WaitingPods

    @property
    def gangs(self) -> list[PodGroup]:
        """The groups that are to be scheduled as a whole, with the trees of them."""
        return [g for g in self.universe[PodGroup] if (g.min_count or g.min_group_count) is not None]

    @property
    def wholes(self) -> list[PodGroup]:
        """Those that are scheduled on their own: of a tree of gangs, the root."""
        return [group for group in self.gangs if group.parent is None]

    def members(self, group: PodGroup) -> list[Member]:
        """The pods of a group."""
        return self.pod_groups.members(group)

    def told_of(self, pod: Pod) -> Expr:
        """Whether the handlers know the pod, and have not been told that it is gone."""
        seen = self.pod_watch.seen
        known = as_expr(seen[Handler.QUEUE][pod].exists) | seen[Handler.CACHE][pod].exists
        return known | self.handlers.is_adding(pod)

    def bound(self, group: PodGroup) -> Expr:
        """How many pods of the group are bound."""
        return count(self.api.pod[m.pod].assigned for m in self.members(group))

    def is_bound(self, group: PodGroup) -> Expr:
        """Whether enough of the group is bound: minCount pods, or minGroupCount groups of which that is true."""
        return self.pod_groups.complete(group, lambda m: self.api.pod[m.pod].assigned)

    def is_there(self, group: PodGroup) -> Expr:
        """Whether enough pods of the group exist, and are not being deleted."""
        return self.pod_groups.complete(group, lambda m: self.exists(m.pod))

    def exists(self, pod: Pod) -> Expr:
        """Whether the pod exists, and is not being deleted."""
        return as_expr(self.api.pod[pod].exists) & ~self.api.pod[pod].terminating

    def witnesses(self) -> dict[str, Expr]:
        waiting = [self.waiting.holds(m.pod) for group in self.gangs for m in self.members(group)]
        return {"a pod waits for its gang": any_of(waiting)}


class GangLetGoAsAWhole(NeverHappens, AboutGroups):
    """A pod of a gang is allowed to be bound only when at least minCount pods of the gang have a place: in the scheduler's cache, or in the result of their group's cycle.

    In a tree of groups, at least minGroupCount of its gangs must also have enough pods with a place. A pod
    keeps its place until the scheduler receives its deletion. (The KEP's "Summary": no pod of the group
    passes Permit before enough of them have reached Permit.) A later deletion or failed Binding does not
    violate the property.
    """

    id = "S-QUORUM"
    consequence = "Some pods of a gang start without enough others. They hold their room and do no work until the other pods start, or indefinitely."
    concerns = "the pod that is allowed to be bound"

    pod_group_cycle: PodGroupCycle

    def _has_place(self, member: Member) -> Expr:
        """Whether the cache has the pod on a node, or the cycle of its group, which can be scheduled, has a place for it."""
        cycle = self.pod_group_cycle
        return (self.cache.knows(member.pod) | cycle.has_place(member)) & self.told_of(member.pod)

    def _is_let_go(self, pod: Pod) -> Expr:
        passes = self.binding.active(pod) & ~self.waiting.holds(pod)
        return passes | (self.waiting.signal[pod] == Signal.ALLOWED)

    def observe(self) -> None:
        for group in self.gangs:
            members = self.members(group)
            placed = self.pod_groups.complete(group, self._has_place)
            for m in members:
                if m.pod not in self.subjects:
                    continue
                now = self._is_let_go(m.pod)
                earlier = before(lambda m=m: self._is_let_go(m.pod))  # type: ignore[misc]
                held = before(lambda m=m: self.binding.active(m.pod) & self.waiting.holds(m.pod))  # type: ignore[misc]
                refused = held & (self.waiting.signal[m.pod] != Signal.ALLOWED)
                with when(now & ~earlier & ~refused & ~placed):
                    self.broken = True

    def witnesses(self) -> dict[str, Expr]:
        let_go = [self._is_let_go(m.pod) for group in self.gangs for m in self.members(group)]
        return {"a pod of a gang is let go": any_of(let_go)}


class GangBoundAsAWhole(AboutGroups):
    """No gang stays indefinitely with some pods bound, but fewer than minCount, while at least minCount of its pods exist.

    The same applies to a tree of groups: no pod of the tree stays bound indefinitely while too few of its
    gangs are complete (fewer than minGroupCount), although enough of its gangs have minCount pods. (The KEP's
    "Goals" rule out this case: some pods of a gang run, and others can never run.) The property ignores a
    gang with fewer than minCount pods, for example after users delete some.
    """

    id = "L-WHOLE"
    consequence = "Part of a gang runs and the rest never starts. The pods that run hold their room and do no work, indefinitely."
    kind = "liveness"

    def _is_part(self, group: PodGroup) -> Expr:
        there = self.is_there(group) & self.is_there(self.pod_groups.root(group))
        return (self.bound(group) > 0) & ~self.is_bound(group) & there

    def cases(self) -> Iterator[Case]:
        for group in self.gangs:
            yield Case(f"some pods of {group.name} are bound indefinitely, and too few", self._is_part(group))

    def witnesses(self) -> dict[str, Expr]:
        return {"some pods of a gang are bound": any_of(self._is_part(group) for group in self.gangs)}


class GroupStatesAreRight(AboutGroups):
    """The state of a group contains no pod whose deletion the scheduler has received. Each pod is in at most one of its sets: unscheduled, assumed, assigned.

    Each pod in one of these sets is also in the state's set of all pods. PreEnqueue counts only this last
    set. The property is not checked while a handler handles an event.
    """

    id = "S-GROUPSTATE"
    consequence = "The scheduler miscounts the pods of a group. The group may start too early, or stay Pending until the scheduler restarts."
    concerns = "the pod in the group's state"

    def _is_idle(self) -> Expr:
        busy = self.handlers
        return busy.is_queue_idle() & ~busy.cache_busy

    def holds(self) -> Expr:
        return all_of(~is_so for _, is_so in self.wrong())

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        states = self.pod_group_states
        for m in self.universe[Member]:
            if m.pod in self.subjects:
                name, known = m.pod.name, as_expr(states.known[m])
                sets = [as_expr(states.unscheduled[m]), states.assumed[m], states.assigned[m]]
                for words, is_so in (
                    (f"{name} is in two sets of the state of its group", count(sets) > 1),
                    (
                        f"{name} is in a set of the state of its group, which does not know it",
                        ~known & any_of(sets),
                    ),
                    (f"{name} is known to the state of its group, and is gone", known & ~self.told_of(m.pod)),
                    (
                        f"PreEnqueue counts {name} for its group, and it is gone",
                        states.is_tracked(m) & ~self.told_of(m.pod),
                    ),
                ):
                    yield words, self._is_idle() & is_so

    def witnesses(self) -> dict[str, Expr]:
        assumed = [as_expr(self.pod_group_states.assumed[m]) for m in self.universe[Member]]
        return {"a pod of a group is assumed": any_of(assumed)}


class DismissedPodsLeave(NeverHappens, AboutGroups):
    """If the failure handler gives up an assumed pod because it is deleted or being deleted, the state of the pod's group does not list it as unscheduled.

    If the pod's binding cycle moved the pod to the unscheduled ones earlier, S-GROUPSTATE covers this.
    """

    id = "S-DISMISSED"
    consequence = "The scheduler counts a terminating pod as a waiting pod of its group. The group is tried although it has too few pods."
    concerns = "the pod in the group's state"
    issues = (138422,)

    def observe(self) -> None:
        removing = before(lambda: self.handlers.queue_removal == Removal.FORGET)
        for m in self.universe[Member]:
            if m.pod in self.subjects:
                assumed = before(lambda m=m: self.cache.is_assumed(m.pod))  # type: ignore[misc]
                given_up = removing & assumed & (self.handlers.queue_removal != Removal.FORGET)
                with when(given_up & self.pod_group_states.unscheduled[m]):
                    self.broken = True

    def witnesses(self) -> dict[str, Expr]:
        removing = self.handlers.queue_removal == Removal.FORGET
        assumed = any_of(self.cache.is_assumed(m.pod) for m in self.universe[Member])
        return {"the handler is about to give up an assumed pod of a group": removing & assumed}


class GroupNominationsRespected(NominationMonitor):
    """While a group waits for a preemption, each of its pods keeps the node that the group's cycle gave it. No other pod of the same or a lower
    priority is assumed there unless the group's pod still fits next to it. This ends when the group's pod is assumed, deleted or tried again, or when
    its nomination is withdrawn. The property includes members for which no pod is preempted, because without their room the group cannot be
    placed as a whole.
    """

    id = "S-NOMGROUP"
    consequence = "A pod takes room that preemption freed for a group. The whole group stays Pending although pods were evicted for it, until it preempts again."
    issues = (139286,)

    pod_group_cycle: PodGroupCycle

    def decided(self, pod: Pod, node: Node) -> Expr:
        return self.pod_group_cycle.waits_with(pod, node)

    def over(self, pod: Pod, node: Node) -> Expr:
        current, nominated = self.api.pod[pod], partial(self.nominator.nominated_to, pod, node)
        holds = partial(self.pod_group_cycle.holds, pod)
        again, withdrawn = holds() & ~before(holds), before(nominated) & ~nominated()
        gone = ~current.exists | current.terminating
        return self.cache.is_assumed(pod) | current.node.is_some | gone | again | withdrawn


class PlacedWithinDomain(AboutGroups):
    """All bound pods of a group with a topology key are on nodes with one value of this label.

    (KEP-5732: the pods of the group are placed within one topology domain.) The property includes pods that
    are being deleted.
    """

    id = "S-DOMAIN"
    consequence = "A group that needs its pods close together runs across domains. No pod can be added to it any more: every later cycle of the group ends in an error."
    concerns = "a pod in another domain"

    def holds(self) -> Expr:
        return all_of(~is_so for _, is_so in self.wrong())

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for group in self._placed:
            domains, nodes = self.pod_groups.domains(group), self.nodes
            for one, other in combinations([m.pod for m in self.members(group)], 2):
                if one in self.subjects or other in self.subjects:
                    apart = any_of(
                        (self.api.pod[one].node == n) & (self.api.pod[other].node == o)
                        for n in nodes
                        for o in nodes
                        if not any(d.has(n) and d.has(o) for d in domains)
                    )
                    yield f"{one.name} and {other.name} are bound in two domains", apart

    @property
    def _placed(self) -> list[PodGroup]:
        return [group for group in self.universe[PodGroup] if self.pod_groups.keeps_together(group)]

    def witnesses(self) -> dict[str, Expr]:
        pairs = [
            self.api.pod[one.pod].assigned & self.api.pod[other.pod].assigned
            for group in self._placed
            for one, other in combinations(self.members(group), 2)
        ]
        return {"two pods of a group with a topology key are bound": any_of(pairs)}


class NoEndlessWaitOfGangs(AboutGroups):
    """Base class of what must not go on indefinitely: a gang that is there, waits, and would fit."""

    kind = "liveness"

    def rooms(self, group: PodGroup) -> Placement:
        """What counts as taken."""
        raise NotImplementedError

    def fits(self, group: PodGroup) -> Expr:
        """Whether so many of the pods of the group that are on no node fit, together, that it would have minCount.

        Those that are bound count. Pods that are assumed are taken as being on no node: they fit where they are.
        """
        where = self.rooms(group)
        return any_of(enough & self._fit_together(where, pods) for enough, pods in self._completions(group))

    def _completions(self, group: PodGroup) -> Iterator[tuple[Expr, list[Pod]]]:
        """Pods with which the group would have enough that is bound, and whether that is so."""
        if group.min_group_count is None:
            assert group.min_count is not None
            members = self.members(group)
            for size in range(1, group.min_count + 1):
                enough = self.bound(group) + size >= group.min_count
                for some in combinations(members, size):
                    yield enough, [m.pod for m in some]
            return
        children = self.pod_groups.children(group)
        for size in range(1, group.min_group_count + 1):
            for chosen in combinations(children, size):
                others = count(self.is_bound(child) for child in children if child not in chosen)
                for way in product(*(self._completions(child) for child in chosen)):
                    enough = all_of([others + size >= group.min_group_count, *(each for each, _ in way)])
                    yield enough, [pod for _, pods in way for pod in pods]

    def _fit_together(self, where: Placement, pods: list[Pod]) -> Expr:
        ways = product(self.nodes, repeat=len(pods))
        return any_of(self._fit_so(where, list(zip(pods, way, strict=True))) for way in ways)

    def _fit_so(self, where: Placement, way: list[tuple[Pod, Node]]) -> Expr:
        found, seen = [], where
        for pod, node in way:
            found.append(self._may_come(pod) & where.live[node] & truth.fits(self, pod, node, seen))
            seen = seen.with_present(node, {pod: as_expr(True)})
        pods = {pod for pod, _ in way}
        own = [c for c in self.universe[Claim] if any(c.name in pod.claims for pod in pods)]
        return all_of([*found, truth.have_devices(self, way, own)])

    def _may_come(self, pod: Pod) -> Expr:
        current = self.api.pod[pod]
        return current.pending & ~truth.waits_for_gates(self, pod) & ~current.terminating

    def without(self, away: list[Pod]) -> Placement:
        """Bound and assumed pods, of these only the bound ones."""

        def counts(pod: Pod, node: Node) -> Expr:
            if pod in away:
                return as_expr(self.api.pod[pod].node == node)
            return truth.taken(self, pod, node)

        return Placement(
            {pod: {node: counts(pod, node) for node in self.nodes} for pod in self.pods},
            {node: self.api.node_exists[node] for node in self.nodes},
            {pod: self.api.pod[pod].terminating for pod in self.pods},
            shown={v: self.api.node_version[v.node] == v for v in self.versions},
            held={v: self.api.pod[v.pod].version == v.number for v in self.pod_versions},
        )

    def waits_in_vain(self, group: PodGroup) -> Expr:
        """Whether the gang is there, has fewer than minCount pods bound, and fits."""
        there = self.pod_groups.exists[group] & self.is_there(group)
        return there & ~self.is_bound(group) & self.fits(group)

    def witnesses(self) -> dict[str, Expr]:
        return {"a gang waits although it fits": any_of(self.waits_in_vain(group) for group in self.wholes)}


class GangsAreScheduled(NoEndlessWaitOfGangs):
    """No gang waits indefinitely with fewer than minCount pods bound while at every moment enough of its pods exist and fit together. All other bound or assumed pods take room.

    A tree of groups counts as one gang: it waits if fewer than minGroupCount of its gangs are bound although that many fit together.

    (The KEP's "Goals": a workload that requires gang scheduling does not remain stuck.) The property does not assume the time-out of Permit, which ends such a wait only after minutes.
    """

    id = "L-GANG"
    consequence = "A gang stays Pending indefinitely although enough of its pods fit together."

    def rooms(self, group: PodGroup) -> Placement:
        return self.without([m.pod for m in self.members(group)])

    def cases(self) -> Iterator[Case]:
        for group in self.wholes:
            yield Case(f"{group.name} waits indefinitely although it fits", self.waits_in_vain(group))


class GangsDoNotBlockEachOther(NoEndlessWaitOfGangs):
    """No two gangs wait indefinitely although each would fit if the other released its assumed pods.

    (The KEP's "Goals" rule out this deadlock: two workloads of one priority each have the room that the other
    waits for.) The property does not assume the time-out of Permit.
    """

    id = "L-DEADLOCK"
    consequence = "Two gangs hold room that the other one needs. Both stay Pending until a time-out makes one release its room, or indefinitely."

    def rooms(self, group: PodGroup) -> Placement:
        return self.without([m.pod for gang in self.wholes for m in self.members(gang)])

    def _holds_some(self, group: PodGroup) -> Expr:
        return any_of(self.cache.is_assumed(m.pod) for m in self.members(group))

    def cases(self) -> Iterator[Case]:
        for one, other in combinations(self.wholes, 2):
            stuck = [self.waits_in_vain(gang) & self._holds_some(gang) for gang in (one, other)]
            yield Case(f"{one.name} and {other.name} wait for each other indefinitely", all_of(stuck))

    def witnesses(self) -> dict[str, Expr]:
        return {
            "two gangs wait": any_of(
                self.waits_in_vain(one) & self.waits_in_vain(other)
                for one, other in combinations(self.wholes, 2)
            )
        }


class GangsMakeProgress(NoEndlessWaitOfGangs):
    """No gang waits indefinitely while gangs assume and release pods again and again, if this gang would fit without the assumed pods of the
    other gangs.

    (The KEP's "Goals" and "Scheduler Changes": competing gangs do not block one another endlessly.)
    """

    id = "L-LIVELOCK"
    consequence = (
        "Gangs take room and release it again and again. No gang ever starts, and the scheduler stays busy."
    )

    def rooms(self, group: PodGroup) -> Placement:
        return self.without([m.pod for gang in self.wholes for m in self.members(gang)])

    def cases(self) -> Iterator[Case]:
        unbound = all_of(self.bound(gang) == 0 for gang in self.wholes)
        for gang in self.wholes:
            for m in self.members(gang):
                assumed = self.cache.is_assumed(m.pod)
                yield Case(
                    f"{m.pod.name} is assumed and let go again and again, and no gang is scheduled",
                    any_of(self.waits_in_vain(g) for g in self.wholes) & unbound,
                    (assumed, ~assumed),
                )


class PodsOfGroupsSayThatTheyWait(AboutGroups):
    """No pod of a group is tried again and again, indefinitely, while its object never says PodScheduled=False with reason Unschedulable."""

    id = "L-TOLD"
    consequence = (
        "The pods wait and do not say why. The autoscaler adds no node for them, and they wait indefinitely."
    )
    kind = "liveness"
    concerns = "the pod without the condition"

    pod_group_cycle: PodGroupCycle

    def cases(self) -> Iterator[Case]:
        for member in self.universe[Member]:
            pod = member.pod
            current, held = self.api.pod[pod], self.pod_group_cycle.holds(pod)
            silent = current.pending & ~current.terminating & ~current.failed
            yield Case(
                f"{pod.name} is tried again and again, and does not say that it waits", silent, (held, ~held)
            )

    def witnesses(self) -> dict[str, Expr]:
        return {
            "the object of a pod of a group says that it waits": any_of(
                self.api.pod[m.pod].failed for m in self.universe[Member]
            )
        }
