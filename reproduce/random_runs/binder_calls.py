"""What the binder of volumes does claim after claim within one call, in which nobody can be held: it reads the claims and lists the volumes, assumes what is to be written, and takes that back.

VolumeZone, which the model does not have (A-FILTERS), looks for the volumes of claims that are bound, in PreFilter, which is over with the first Filter. The queue is told of
claims in the scenario's order in the model, and in the order of the writes upstream (A-VOLUME-EVENTS): so one claim at a time has news.
"""

from copy import copy

from ...model.environment.objects import Pod
from ...model.environment.storage.volumes import VolumeUse
from ...model.language import State, Transition, TransitionSystem
from ...model.scheduler.framework.status import Phase
from ...model.scheduler.volumebinding.find_volumes import VolumeStage
from ...model.scheduler.volumebinding.volume_binding import TO_RESTORE

READ_CLAIM = ("volume_binding", "read_claim")
LIST = ("volume_binding", "list_volumes")
ASSUME = (("volume_binding", "assume_volume"), ("volume_binding", "assume_claim"))
OPENING = (READ_CLAIM, LIST, ("volume_binding", "look_again"), *ASSUME)
RESTORE = ("volume_binding", "restore")

READING = tuple(
    list(Phase).index(phase)
    for phase in (Phase.READ_VOLUME_CLAIMS, Phase.LIST_VOLUMES, Phase.FILTERING, Phase.FILTERING_NOMINATED)
)
RESERVING = list(Phase).index(Phase.RESERVE)
OPEN = list(VolumeStage).index(VolumeStage.OPEN)
RESTORED_LATER = tuple(list(VolumeStage).index(stage) for stage in TO_RESTORE)


class BinderCalls:
    """Of which pods a call of the binder's is under way. Goes along with a run."""

    def __init__(self, system: TransitionSystem) -> None:
        self._place = {variable.name: i for i, variable in enumerate(system.variables)}
        self._system = system
        self._behind = {
            variable: self._place[variable.name]
            for variable in system.variables
            if variable.name.startswith(("volume_cache.claim_lag[", "volume_cache.claim_news["))
        }
        self._uses: tuple[VolumeUse, ...] = tuple(system.universe[VolumeUse])
        self._under_way: set[Pod] = set()

    def for_another(self) -> "BinderCalls":
        """The calls of another run, which has come as far as this one."""
        found = copy(self)
        found._under_way = set(self._under_way)
        return found

    def tears(self, transition: Transition, before: State) -> bool:
        """Whether the step comes amid such a call and changes what it looks at, shows the pod a volume that its lister does not have, or makes news of a second claim."""
        if not self._uses:
            return False
        if self._is_second(transition, before):
            return True
        name = (transition.part, transition.step)
        if name == READ_CLAIM and self._lacks_volume(_use_of(transition), before):
            return True
        own = {_pod_of(transition)} if name == RESTORE else set()
        return name not in ASSUME and bool(self._under_way - own) and _changes_cache(transition)

    def go(self, transition: Transition, after: State) -> None:
        """Go on by a step that was taken."""
        name = (transition.part, transition.step)
        if transition.part == "scheduler":
            self._under_way -= {value for key, value in transition.args if key == "pod"}
        if name not in (*OPENING, RESTORE):
            return
        pod = _pod_of(transition)
        (self._under_way.add if self._goes_on(name, pod, after) else self._under_way.discard)(pod)

    def start_again(self) -> None:
        """Another process begins: nothing is amid a call."""
        self._under_way.clear()

    def _goes_on(self, name: tuple[str, str], pod: Pod, after: State) -> bool:
        phase = after[self._place["scheduler.phase"]]
        if name == RESTORE:
            return self._has(pod, after, *RESTORED_LATER)
        if name in (READ_CLAIM, LIST):
            return phase in READING
        return phase == RESERVING and self._has(pod, after, OPEN)

    def _is_second(self, transition: Transition, state: State) -> bool:
        """Whether the step writes a claim while the informer, or the queue, has not been notified of another."""
        written = [v.name for v in self._behind if v in transition.updates and "_lag[" in v.name]
        news = {variable.name.partition("[")[2] for variable, at in self._behind.items() if state[at]}
        return len(written) == 1 and bool(news - {written[0].partition("[")[2]})

    def _has(self, pod: Pod, state: State, *stages: int) -> bool:
        """Whether a claim of the pod is in one of these stages."""
        places = (self._place[f"volume_binding.stage[{use.name}]"] for use in self._uses if use.pod is pod)
        return any(state[at] in stages for at in places)

    def _lacks_volume(self, use: VolumeUse, state: State) -> bool:
        """Whether the informer has the claim as bound to a volume, and not that volume."""
        at = self._place[f"volume_cache.claim[{use.claim.name}].volume"]
        volume = self._system.universe.decode(self._system.variables[at].sort, state[at])
        return volume is not None and not state[self._place[f"volume_cache.volume[{volume}].exists"]]


def _changes_cache(transition: Transition) -> bool:
    """Whether the step may change the informers' stores or what is assumed; not what the queue is yet to be notified of."""
    return any(v.name.startswith("volume_cache.") and "news" not in v.name for v in transition.updates)


def _use_of(transition: Transition) -> VolumeUse:
    use = next(value for key, value in transition.args if key == "use")
    assert isinstance(use, VolumeUse)
    return use


def _pod_of(transition: Transition) -> Pod:
    pod = next((value for key, value in transition.args if key == "pod"), None)
    return pod if isinstance(pod, Pod) else _use_of(transition).pod
