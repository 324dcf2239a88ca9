"""The scheduler as a process: it may be started anew, or hand over to a standby (cmd/kube-scheduler/app/server.go).

Everything that the scheduler has in its memory is lost: queue, nominations, assumptions, attempts, binding cycles. What
comes after it is made from what the API server has.
"""

from ..environment.api import APIServer
from ..environment.faults import Fault, Faults
from ..environment.objects import Node, Pod, PodObject
from ..environment.watch import Handler, NodeWatch, PodWatch
from ..language import (
    UNTOLD,
    Component,
    Expr,
    Lasts,
    as_expr,
    constraint,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from .api_dispatcher import APIDispatcher
from .cache.node_info import NodeInfos
from .cache.node_tree import NodeTree
from .cache.scheduler_cache import Cache
from .cache.snapshot import Snapshot
from .cycles.binding import Binding, BindingPhase
from .cycles.failure import FailureHandler
from .cycles.schedule_one import Scheduler
from .dynamicresources.assume_cache import AssumeCache
from .dynamicresources.dynamic_resources import DynamicResources
from .dynamicresources.slice_informer import SliceInformer
from .event_handlers import EventHandlers
from .framework.waiting_pods import WaitingPods
from .preemption.async_preemption import AsyncPreemption
from .preemption.evaluator import Preemption
from .queue.clock import Clock
from .queue.nominator import Nominator
from .queue.scheduling_queue import PriorityQueue
from .volumebinding.assume_cache import VolumeCache
from .volumebinding.csi_informers import CsiInformers
from .volumebinding.volume_binding import VolumeBinding


class Process(Component):
    """The process that holds the lease.

    `sent[p]` is the node of a Binding that the API server may still execute, although nobody hears what comes of it: a process sent it before it
    lost the lease (it counts as a lost reply), or an error came back for it, as of a time-out (a late Binding).
    """

    api: APIServer
    faults: Faults
    pod_watch: PodWatch
    node_watch: NodeWatch
    scheduler: Scheduler
    binding: Binding
    waiting: WaitingPods
    failure: FailureHandler
    api_dispatcher: APIDispatcher
    queue: PriorityQueue
    clock: Clock
    nominator: Nominator
    cache: Cache
    node_infos: NodeInfos
    node_tree: NodeTree
    snapshot: Snapshot
    preemption: Preemption
    async_preemption: AsyncPreemption
    dynamic_resources: DynamicResources
    claim_cache: AssumeCache
    slice_informer: SliceInformer
    volume_binding: VolumeBinding
    volume_cache: VolumeCache
    csi_informers: CsiInformers
    handlers: EventHandlers

    sent = per(Pod, ref(Node))

    phrases = UNTOLD

    @step(actor="process", fair=False)
    @tells("The scheduler is restarted: its memory is gone, and it lists everything again.")
    def restart(self) -> None:
        """The process ends, and a new one lists what the API server has."""
        require(bool(self.scope.restarts))
        self._require_idle_handlers()
        self.faults.spend(Fault.RESTART)
        self.start_anew()

    def start_anew(self) -> None:
        """A new process lists what the API server has."""
        self._lose_memory()
        handled = self.waits_for_handlers()
        self.pod_watch.relist(handled)
        self.node_watch.relist(handled)
        self.claim_cache.relist()
        self.slice_informer.relist()
        self.volume_cache.relist()
        self.csi_informers.relist()
        if handled:
            self._learn({n: (self.api.node_exists[n], self.api.node_version[n]) for n in self.universe[Node]})

    @step(actor="process", fair=False)
    @tells("A standby takes over: it knows only what its informers have shown it.")
    def change_leader(self) -> None:
        """A standby takes the lease. Its informers are as new as those of the old leader, and its memory is built from them."""
        require(bool(self.scope.leader_changes))
        self._require_idle_handlers()
        require(self.may_lead())
        self.faults.spend(Fault.LEADER_CHANGE)
        nodes = {
            n: (as_expr(self.cache.live[n]), as_expr(self.cache.node_version[n])) for n in self.universe[Node]
        }
        if self.scope.lost_replies:
            for pod in self.universe[Pod]:
                sending = self.binding.phase[pod] == BindingPhase.BIND
                self.sent[pod] = select(sending, self.binding.node[pod], self.sent[pod])
        self._lose_memory()
        self.claim_cache.take_over()
        self.volume_cache.take_over()
        self._learn(nodes)

    @step(actor="API server", fair=False)
    @tells("The binding of {pod} to {node}, sent by an earlier leader, is executed.")
    def land(self, pod: Pod, node: Node) -> None:
        """A Binding that an earlier leader has sent is executed."""
        require(bool(self.scope.leader_changes) and bool(self.scope.lost_replies))
        self.faults.spend(Fault.LOST_REPLY, pod)
        self._land(pod, node)

    @step(actor="binding cycle", each="pod", lasts=Lasts.SHORT)
    @tells(
        "The binding goroutine asks the API server to bind {pod}: an error comes back, and the Binding may still be executed."
    )
    def bind_in_doubt(self, pod: Pod) -> None:
        """POST the Binding. The API server or etcd has not finished it when the client times out."""
        require(bool(self.scope.late_bindings))
        self.binding.require_bind(pod)
        self.faults.spend(Fault.LATE_BINDING, pod)
        if self.scope.late_bindings > 1:
            constraint("late Bindings of one pod: 1 at a time", as_expr(self.sent[pod]).is_none)
        self.sent[pod] = self.binding.node[pod]
        self.binding.bind_answered(pod, as_expr(False))

    @step(actor="API server", fair=False)
    @tells("The binding of {pod} to {node}, for which an error came back, is executed.")
    def land_late(self, pod: Pod, node: Node) -> None:
        """A Binding that returned an error is executed later, unless the pod can no longer be bound."""
        require(bool(self.scope.late_bindings))
        self._land(pod, node)

    def _land(self, pod: Pod, node: Node) -> None:
        require(self.sent[pod] == node)
        self.api.bind(pod, node)
        self.sent[pod] = None

    def waits_for_handlers(self) -> bool:
        """Whether scheduling begins only after every handler has received the initial list (WaitForHandlersSync)."""
        return True

    def may_lead(self) -> Expr:
        """Whether a standby schedules as soon as it has the lease, even if its informers are behind."""
        return as_expr(True)

    def _require_idle_handlers(self) -> None:
        # What a handler did to memory is lost with it, so the process might as well have ended before that.
        busy = self.handlers
        require(busy.is_queue_idle() & ~busy.cache_busy & ~busy.node_busy)

    def _lose_memory(self) -> None:
        for part in (
            self.scheduler,
            self.binding,
            self.waiting,
            self.failure,
            self.api_dispatcher,
            self.queue,
            self.clock,
            self.nominator,
            self.cache,
            self.node_infos,
            self.node_tree,
            self.snapshot,
            self.preemption,
            self.async_preemption,
            self.dynamic_resources,
            self.volume_binding,
        ):
            part.reset()

    def _learn(self, nodes: dict[Node, tuple[Expr, Expr]]) -> None:
        """The handlers receive these nodes, each if it exists and in this version, and the pods as in `seen`."""
        for node, (exists, version) in nodes.items():
            with when(exists):
                self.cache.add_node(node, version=version)
        for pod in self.universe[Pod]:
            pending: PodObject = self.pod_watch.seen[Handler.QUEUE][pod]
            with when(pending.exists):
                self.queue.add(pod, pending)
            assigned: PodObject = self.pod_watch.seen[Handler.CACHE][pod]
            with when(assigned.exists):
                self.cache.add_pod(pod, assigned)
        self.clock.found_together(
            {p: self.pod_watch.seen[Handler.QUEUE][p].exists for p in self.universe[Pod]}
        )
