"""How long pods of gangs wait for permission: until five minutes are over, which the model has as a fault.

In 1.36 each pod waits for five minutes. In 1.35 those of a group wait until five minutes after the first of them began (SchedulingTimeout); a run that would have to start a second
such time is not made.
"""

from collections.abc import Iterator
from copy import copy

from ...model.environment.objects import Pod, PodGroup
from ...model.environment.pod_groups import Member
from ...model.language import State, TransitionSystem
from ...model.scheduler.framework.waiting_pods import Signal
from .durations import Bound

PATIENCE = 5 * 60


class GangWaits:
    """Who waits, since which step. `shared`: the pods of a group wait until one moment."""

    def __init__(self, system: TransitionSystem, *, shared: bool) -> None:
        place = {variable.name: i for i, variable in enumerate(system.variables)}
        self._shared = shared
        self._signals: dict[Pod, tuple[PodGroup, int]] = {
            member.pod: (member.group, place[name])
            for member in system.universe[Member]
            if (name := f"waiting.signal[{member.pod.name}]") in place
        }
        self._since: dict[Pod | PodGroup, int] = {}

    def for_another(self) -> "GangWaits":
        """The waits of another run, which has come as far as this one."""
        found = copy(self)
        found._since = dict(self._since)
        return found

    def bounds(self, number: int, before: State) -> Iterator[Bound]:
        """What the waits that last until this step say of its moment."""
        for pod, (group, at) in self._signals.items():
            since = self._since.get(group if self._shared else pod)
            if _waits(before[at]) and since is not None:
                why = f"{pod.name} has waited for its gang for less than five minutes at step {number}"
                yield Bound(since, number, 1 - PATIENCE, why)

    def go(self, number: int, before: State, after: State) -> None:
        """Go on by a step that was taken."""
        for pod, (group, at) in self._signals.items():
            if _waits(after[at]) and not _waits(before[at]):
                if self._shared:
                    self._since.setdefault(group, number)
                else:
                    self._since[pod] = number


def _waits(signal: int) -> bool:
    return signal == list(Signal).index(Signal.AWAITED)
