"""The informers of pods as they were: the failure handler had one of its own (1.19)."""

from ....environment.names import namesakes
from ....environment.objects import Pod, PodObject
from ....environment.watch import PodWatch, pod_backlog
from ....language import UNTOLD, Record, any_of, fifo, per, record, ref, require, step, tells, when
from ....scheduler import FailureHandler
from ....scheduler.cycles.failure import FailurePhase
from ...registry.change import before

_TITLE = "the failure handler reads pods from the informer that feeds the queue"


class OwnEvent(Record):
    """An event of the failure handler's informer: the pod, and its object after the write."""

    pod = ref(Pod)
    object = record(PodObject)


@before("93044", _TITLE, first_in="1.20", issues=(104521,), since="1.19", backports=("1.19.15",))
class TwoInformers(PodWatch):
    """A second informer, which the factory of informers had made, watched pods for the failure handler's lister alone (factory.go, 1.19).

    It may be ahead of the one that feeds queue and cache, and behind. `own` holds the events that it has still to receive, of pods that can be
    tried; once there are as many as the other watch holds at most, it receives the oldest. `own_lister` is its store.
    """

    own = fifo(pod_backlog, OwnEvent)
    own_lister = per(Pod, PodObject)

    phrases = UNTOLD

    def setup(self) -> None:
        super().setup()
        for pod in self.universe[Pod]:
            self.own_lister[pod] = self.api.at_start(pod)

    def is_read(self, pod: Pod) -> bool:
        """Whether a failure handler may read the pod."""
        tried = [q for q in (pod, *namesakes(self.universe, pod)) if q.node is None and not q.foreign]
        return bool(tried)

    def publish(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        super().publish(pod, old, new)
        if self.is_read(pod):
            with when(self.own.is_full):
                self.receive()
            self.own.push(OwnEvent(pod=pod, object=new))

    def receive(self) -> None:
        """The next event reaches the store of the second informer."""
        for pod in self.universe[Pod]:
            with when(self.own.head.pod == pod):
                self.own_lister[pod] = self.own.head.object
        self.own.pop()

    def relist(self, handled: bool) -> None:
        super().relist(handled)
        for pod in self.universe[Pod]:
            self.own_lister[pod] = self.api.pod[pod]


@before("93044", _TITLE, first_in="1.20", issues=(104521,), since="1.19", backports=("1.19.15",))
class ReadsOtherInformer(FailureHandler):
    """A pod that the second informer did not have yet was taken for one that is gone, and never queued again."""

    pod_watch: TwoInformers

    def listed(self, pod: Pod) -> PodObject:
        return self.pod_watch.own_lister[pod]

    @step(actor="second pod informer", random=True)
    @tells("The informer from which the failure handler reads pods receives the next event, about {pod}.")
    def catch_up(self, pod: Pod) -> None:
        """The second informer receives an event. That is looked at only when a failure handler is about to read: nobody else could tell."""
        require(self.pod_watch.is_read(pod))
        reading = any_of(self.phase[p] == FailurePhase.READ for p in self.universe[Pod])
        require(reading & ~self.pod_watch.own.is_empty & (self.pod_watch.own.head.pod == pod))
        self.pod_watch.receive()
