"""The node lifecycle controller: it says of nodes that are not heard of that they are not ready, and taints those that are not (pkg/controller/nodelifecycle, 1.36).

Three goroutines of it write to a node, each by what it has read from the informer's store, which lags. The worker for node updates (doNoScheduleTaintingPass) sets and
removes the taints with effect NoSchedule whenever an update is in its queue. The monitor (monitorNodeHealth) looks at every node every few seconds: it writes Unknown for one that nothing
was heard of, puts those that are not ready into a queue, and removes the taints with effect NoExecute from those that are. Whoever empties that queue (doNoExecuteTaintingPass) adds
them. So both taints come and go apart, mostly NoSchedule before NoExecute, both times. A change of taints is an addition and a removal, in two calls.
Where no node is ready, the monitor takes its taints with NoExecute back and stops adding them (handleDisruption).

A kubelet is heard of by its lease and its status. One that is cut off (`silent`) hears of nothing either, and what runs there runs on.
"""

from collections.abc import Callable
from enum import Enum

from ...language import (
    Component,
    Expr,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    enum,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from ...language.expressions.sorts import sort_of_ref
from ..api import APIServer
from ..cluster.derived import Derived, Found, Roster
from ..cluster.node_health import (
    KEYS,
    NO_EXECUTE,
    NO_SCHEDULE,
    NOT_READY,
    Health,
    Mark,
    health_of,
    of_one_kind,
)
from ..cluster.node_versions import NodeVersion, versions_in
from ..faults import Fault, Faults
from ..objects import Node


class WatchedNode(Derived):
    """A node that the controller watches: one for each, where there is a controller."""

    node: Node

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        return ((node,) for node in cluster.spec.nodes if cluster.spec.scope.node_lifecycle)


class Worker(Enum):
    """Who writes to a node's object."""

    UPDATES = 0
    MONITOR = 1
    TAINTER = 2


class Stage(Enum):
    """What a worker does next to a node that it has read."""

    NONE = 0
    STATUS = 1
    ADD = 2
    REMOVE = 3
    TAKE_BACK = 4


class Judgement(Enum):
    """What the monitor last found of a node."""

    NONE = 0
    READY = 1
    NOT_READY = 2


NOTHING: frozenset[Mark] = frozenset()

UPDATES, MONITOR, TAINTER = (
    f"node lifecycle controller's {word}" for word in ("worker", "monitor", "tainter")
)
"""Its goroutines."""


def to_add(worker: Worker, read: Health) -> frozenset[Mark]:
    """The taints that a worker adds to a node that it has read like this."""
    if worker is Worker.UPDATES:
        return read.wanted(NO_SCHEDULE) - read.marks
    if worker is Worker.MONITOR and not to_remove(worker, read):
        return NOTHING
    return read.wanted(NO_EXECUTE)


def to_remove(worker: Worker, read: Health) -> frozenset[Mark]:
    """Those that it removes. RemoveTaintOffNode calls nobody if what was read has none of them."""
    if worker is Worker.UPDATES:
        return read.having(NO_SCHEDULE) - read.wanted(NO_SCHEDULE)
    return read.having(NO_EXECUTE) - read.wanted(NO_EXECUTE)


class NodeLifecycle(Component):
    """The node lifecycle controller: its view, its queues, the state of its goroutines; and the state of the kubelets.

    `silent[n]`: nothing is heard of the node's kubelet, nor does it hear anything. `unwell[n]`: the kubelet would report that the node is not ready.
    `listed[n]`: the node in the informer's store; none of one that is gone. `updated[n]`: it is in the queue of updates. `stage[w][n]`, `read[w][n]`: what a worker does next, and what it has read.
    `due[n]`: the node is in the queue of those to be tainted with NoExecute. `judged[n]`: what the monitor found; `halted`: no node was ready, and nothing is tainted.
    """

    api: APIServer
    faults: Faults

    kinds = (WatchedNode,)

    silent = per(WatchedNode, boolean())
    unwell = per(WatchedNode, boolean())
    listed = per(WatchedNode, ref(NodeVersion))
    updated = per(WatchedNode, boolean())
    stage = per(WatchedNode, per(Worker, enum(Stage)))
    read = per(WatchedNode, per(Worker, ref(NodeVersion)))
    due = per(WatchedNode, boolean())
    judged = per(WatchedNode, enum(Judgement))
    halted = boolean(possible=lambda scope: int(scope.node_lifecycle))

    phrases = {
        "silent": Words("kubelet of {0}: cut off", "kubelet of {0}: heard of again", decisive=True),
        "unwell": Words(
            "kubelet of {0}: the node is not ready", "kubelet of {0}: the node is ready", decisive=True
        ),
        "listed": Words("node lifecycle controller: has {after}", "node lifecycle controller: {0} is gone"),
        "due": Words("node lifecycle controller: {0} is to be tainted with NoExecute"),
        "halted": Words(
            "node lifecycle controller: no node is ready, none is tainted with NoExecute", decisive=True
        ),
    }

    def setup(self) -> None:
        """The controller has run for a while: the monitor has checked each node, and so has the worker for nodes that need nothing."""
        there = [node for node in self.universe[Node] if node.exists and self.runs]
        for node in there:
            seen, health = self.seen(node), health_of(node)
            self.listed[seen] = self.api.first_version(node)
            self.updated[seen] = health.having(NO_SCHEDULE) != health.wanted(NO_SCHEDULE)
            self.silent[seen], self.unwell[seen] = health.status == "Unknown", health.status == "False"
            self.judged[seen] = Judgement.READY if node.ready else Judgement.NOT_READY
            self.due[seen] = not health.wanted(NO_EXECUTE) <= health.marks
        self.halted = bool(there) and not any(node.ready for node in there)

    @property
    def runs(self) -> bool:
        """Whether there is such a controller."""
        return bool(self.scope.node_lifecycle)

    def seen(self, node: Node) -> WatchedNode:
        """The node as the controller's informer has it."""
        return self.universe[WatchedNode][node.index]

    # --- versions of a node by its health ----------------------------------------------------------------------

    def turned(self, node: Node, current: Expr, change: Callable[[Health], Health]) -> Expr:
        """The version that a write makes from the current one."""
        found = current
        for table in of_one_kind(versions_in(self.universe, node)):
            for health, version in table.items():
                other = change(health)
                if other != health:
                    found = select(current == version, table[other], found)
        return found

    def write(self, node: Node, change: Callable[[Health], Health]) -> None:
        """A PATCH or UPDATE of the node's current object. Does nothing if the node is gone or does not change."""
        current = as_expr(self.api.node_version[node])
        target = self.turned(node, current, change)
        with when(self.api.node_exists[node] & (target != current)):
            self.api.write_node(node, exists=True, version=target)

    def is_so(self, node: Node, version: Expr, question: Callable[[Health], bool]) -> Expr:
        """Whether the answer is yes for the node's version."""
        return any_of(
            version == v for v in versions_in(self.universe, node) if question(health_of(v.content))
        )

    def says(self, node: Node, status: str) -> Expr:
        """Whether the node's object has this status of the condition Ready."""
        return self.is_so(node, as_expr(self.api.node_version[node]), lambda health: health.status == status)

    def joins_as(self, node: Node) -> NodeVersion | None:
        """The version in which a node is created. Without a controller: none, for the first version in the scenario."""
        if not self.runs:
            return None
        (table, *_) = of_one_kind(versions_in(self.universe, node))
        return table[Health("False", self.admitted_with())]

    def may_become(self, version: NodeVersion) -> Expr:
        """Whether an update by another client can write this version. With a controller, only versions with the same health."""
        current = self.api.node_version[version.node]
        if not self.runs:
            return current != version
        health = health_of(version.content)
        others = [v for v in versions_in(self.universe, version.node) if v is not version]
        return any_of(current == v for v in others if health_of(v.content) == health)

    def admitted_with(self) -> frozenset[Mark]:
        """The taints that the API server adds to a new node (the admission plugin TaintNodesByCondition, 73097)."""
        return frozenset([(NOT_READY, NO_SCHEDULE)])

    # --- kubelets ----------------------------------------------------------------------------------------------

    def is_silent(self, node: Node) -> Expr:
        """Whether the node's kubelet is disconnected."""
        return as_expr(self.silent[self.seen(node)])

    def join(self, node: Node) -> None:
        """A node is created: its kubelet runs, and is not ready yet."""
        if self.runs:
            self.silent[self.seen(node)] = False
            self.unwell[self.seen(node)] = True

    @step(actor="user", fair=False)
    @tells("The kubelet of {node} is cut off: nothing is heard of it.")
    def cut_off(self, node: Node) -> None:
        """The kubelet, its machine or the network stops."""
        require(self.runs and bool(self.scope.heartbeat_losses))
        require(self.api.node_exists[node] & ~self.silent[self.seen(node)])
        self.faults.spend(Fault.HEARTBEAT_LOSS, node)
        self.silent[self.seen(node)] = True

    @step(actor="user", fair=False)
    @tells("The kubelet of {node} is heard of again.")
    def come_back(self, node: Node) -> None:
        """The kubelet is connected again."""
        require(self.runs)
        require(self.api.node_exists[node] & self.silent[self.seen(node)])
        self.silent[self.seen(node)] = False

    @step(actor="user", fair=False)
    @tells("Node {node} stops being ready.")
    def sicken(self, node: Node) -> None:
        """Something that the kubelet needs fails: its runtime, or the pod network."""
        require(self.runs and bool(self.scope.node_failures))
        require(self.api.node_exists[node] & ~self.unwell[self.seen(node)])
        self.faults.spend(Fault.NODE_FAILURE, node)
        self.unwell[self.seen(node)] = True

    @step(actor="user", fair=False)
    @tells("Node {node} is ready by now.")
    def recover(self, node: Node) -> None:
        """All that the kubelet needs works again."""
        require(self.runs)
        require(self.api.node_exists[node] & self.unwell[self.seen(node)])
        self.unwell[self.seen(node)] = False

    @step(actor="kubelet", goroutine="kubelet's status reports", each="node")
    @tells("The kubelet of {node} reports whether the node is ready.")
    def report(self, node: Node) -> None:
        """tryUpdateNodeStatus (pkg/kubelet): a PATCH of the status, if it has changed."""
        require(self.runs)
        seen = self.seen(node)
        right = select(self.unwell[seen], self.says(node, "False"), self.says(node, "True"))
        require(self.api.node_exists[node] & ~self.silent[seen] & ~right)
        for unwell, status in ((True, "False"), (False, "True")):
            if unwell and not self._knows(node, status):
                continue
            with when(self.unwell[seen] == unwell):
                self.write(node, lambda health, status=status: Health(status, health.marks))  # type: ignore[misc]

    def _knows(self, node: Node, status: str) -> bool:
        return any(health_of(v.content).status == status for v in versions_in(self.universe, node))

    # --- what it hears -----------------------------------------------------------------------------------------

    @step(actor="node lifecycle controller", goroutine="node lifecycle controller's informer", each="node")
    @tells("The node lifecycle controller is notified of node {node}.")
    def hear(self, node: Node) -> None:
        """The informer's store receives the current node, and the node enters the queue of updates."""
        require(self.runs)
        seen = self.seen(node)
        here, current = self.api.node_exists[node], self.api.node_version[node]
        require((here & (self.listed[seen] != current)) | (~here & self.listed[seen].is_some))
        self.listed[seen] = select(here, current, as_expr(None, sort_of_ref(NodeVersion)))
        self.updated[seen] = here
        with when(~here):
            self.judged[seen] = Judgement.NONE

    # --- what it writes ----------------------------------------------------------------------------------------

    @step(actor="node lifecycle controller", goroutine=UPDATES, each="node")
    @tells("The node lifecycle controller looks at the update of {node}, for taints with NoSchedule.")
    def look_at_update(self, node: Node) -> None:
        """doNoScheduleTaintingPass: compares the node's taints with those that its conditions require."""
        require(self.runs)
        seen = self.seen(node)
        require(self.updated[seen] & (self.stage[seen][Worker.UPDATES] == Stage.NONE))
        self.updated[seen] = False
        self.begin(Worker.UPDATES, node)

    def begin(self, worker: Worker, node: Node) -> None:
        """The worker has read the node, and will add and remove taints accordingly."""
        seen = self.seen(node)
        for version in versions_in(self.universe, node):
            with when(self.listed[seen] == version):
                self.plan(worker, node, version)

    def plan(self, worker: Worker, node: Node, read: NodeVersion) -> None:
        """The worker's next calls, after it has read the node in a version."""
        seen, health = self.seen(node), health_of(read.content)
        adds, removes = to_add(worker, health), to_remove(worker, health)
        if adds or removes:
            self.stage[seen][worker] = Stage.ADD if adds else Stage.REMOVE
            self.read[seen][worker] = read
        else:
            self.done(worker, node)

    def done(self, worker: Worker, node: Node) -> None:
        """The worker has finished the node."""
        self.stage[self.seen(node)][worker] = Stage.NONE
        self.read[self.seen(node)][worker] = None

    @step(actor="node lifecycle controller", goroutine=MONITOR, each="node")
    @tells("The node lifecycle controller's monitor looks at {node}.")
    def monitor(self, node: Node) -> None:
        """monitorNodeHealth: a node without reports becomes Unknown. For other nodes, the monitor reads the status in their objects."""
        require(self.runs)
        seen = self.seen(node)
        require(self.listed[seen].is_some & (self.stage[seen][Worker.MONITOR] == Stage.NONE))
        lost = self.silent[seen] & ~self.is_so(
            node, as_expr(self.listed[seen]), lambda h: h.status == "Unknown"
        )
        if not self._knows(node, "Unknown"):
            lost = as_expr(False)
        require(lost | self.would_change(node))
        with when(lost):
            self.stage[seen][Worker.MONITOR] = Stage.STATUS
            self.read[seen][Worker.MONITOR] = self.listed[seen]
        for version in versions_in(self.universe, node):
            with when(~lost & (self.listed[seen] == version)):
                self.judge(node, version)

    def would_change(self, node: Node) -> Expr:
        """Whether a check of the node, as the lister has it, changes anything."""
        seen = self.seen(node)
        found = []
        for version in versions_in(self.universe, node):
            health = health_of(version.content)
            ready = health.status == "True"
            news = self.judged[seen] != (Judgement.READY if ready else Judgement.NOT_READY)
            if ready:
                news |= as_expr(self.due[seen])
            elif not health.wanted(NO_EXECUTE) <= health.marks:
                news |= ~as_expr(self.due[seen])
            if to_remove(Worker.MONITOR, health):
                news = as_expr(True)
            found.append((self.listed[seen] == version) & news)
        return any_of(found)

    def judge(self, node: Node, read: NodeVersion) -> None:
        """processTaintBaseEviction: replaces a taint of the other kind immediately; queues a node that is not ready to be tainted, and removes a ready node from this queue."""
        seen, health = self.seen(node), health_of(read.content)
        ready = health.status == "True"
        self.judged[seen] = Judgement.READY if ready else Judgement.NOT_READY
        if ready:
            self.due[seen] = False
        elif not to_remove(Worker.MONITOR, health) and not health.wanted(NO_EXECUTE) <= health.marks:
            self.due[seen] = True
        self.plan(Worker.MONITOR, node, read)

    @step(actor="node lifecycle controller", goroutine=MONITOR, each="node")
    @tells(
        "The node lifecycle controller writes that {node} is Unknown, if nobody has written to it meanwhile."
    )
    def write_status(self, node: Node) -> None:
        """tryUpdateNodeHealth: an UPDATE of the status. After a conflict, it reads the node from the API server and checks it again."""
        require(self.runs and self._knows(node, "Unknown"))
        seen, here = self.seen(node), self.api.node_exists[node]
        require(self.stage[seen][Worker.MONITOR] == Stage.STATUS)
        read, current = as_expr(self.read[seen][Worker.MONITOR]), as_expr(self.api.node_version[node])
        with when(~here):
            self.done(Worker.MONITOR, node)
        for table in of_one_kind(versions_in(self.universe, node)):
            for health, version in table.items():
                unknown = table[Health("Unknown", health.marks)]
                with when(here & (current == version)):
                    with when(read == version):
                        self.api.write_node(node, exists=True, version=unknown)
                        self.judge_written(node, version, unknown)
                    lost = as_expr(self.silent[seen] if health.status != "Unknown" else False)
                    with when((read != version) & lost):
                        self.read[seen][Worker.MONITOR] = version
                    with when((read != version) & ~lost):
                        self.judge(node, version)

    def judge_written(self, node: Node, observed: NodeVersion, written: NodeVersion) -> None:
        """The consequences of the status that was just written."""
        self.judge(node, written)

    @step(actor="node lifecycle controller", goroutine=TAINTER, each="node")
    @tells("The node lifecycle controller takes {node} from the queue of those to be tainted with NoExecute.")
    def take_from_queue(self, node: Node) -> None:
        """doNoExecuteTaintingPass: reads the node. If the node is ready by now, it does nothing."""
        require(self.runs)
        seen = self.seen(node)
        require(self.due[seen] & ~as_expr(self.halted) & (self.stage[seen][Worker.TAINTER] == Stage.NONE))
        self.due[seen] = False
        for version in versions_in(self.universe, node):
            if health_of(version.content).status in KEYS:
                with when(self.listed[seen] == version):
                    self.plan(Worker.TAINTER, node, version)

    @step(actor="node lifecycle controller", each="worker")
    @tells("The node lifecycle controller adds a taint to {node}.")
    def add_taints(self, node: Node, worker: Worker) -> None:
        """SwapNodeControllerTaint, AddOrUpdateTaintOnNode: a PATCH of the newest object, repeated after a conflict."""
        self._call(node, worker, Stage.ADD)

    @step(actor="node lifecycle controller", each="worker")
    @tells("The node lifecycle controller removes a taint from {node}.")
    def remove_taints(self, node: Node, worker: Worker) -> None:
        """RemoveTaintOffNode: a PATCH of the newest object, repeated after a conflict."""
        self._call(node, worker, Stage.REMOVE)

    def _call(self, node: Node, worker: Worker, stage: Stage) -> None:
        require(self.runs)
        seen = self.seen(node)
        require(self.stage[seen][worker] == stage)
        read = self.read[seen][worker]
        reads: dict[tuple[frozenset[Mark], frozenset[Mark]], list[Expr]] = {}
        for version in versions_in(self.universe, node):
            health = health_of(version.content)
            reads.setdefault((to_add(worker, health), to_remove(worker, health)), []).append(read == version)
        for (adds, removes), shown in reads.items():
            if adds if stage is Stage.ADD else removes:
                with when(any_of(shown)):
                    self.call(node, worker, stage, adds, removes)

    def call(
        self, node: Node, worker: Worker, stage: Stage, adds: frozenset[Mark], removes: frozenset[Mark]
    ) -> None:
        """One call of a worker that adds these taints and then removes those."""
        if stage is Stage.ADD:
            self.write(node, lambda health: Health(health.status, health.marks | adds))
        else:
            self.write(node, lambda health: Health(health.status, health.marks - removes))
        if stage is Stage.ADD and removes:
            self.stage[self.seen(node)][worker] = Stage.REMOVE
        else:
            self.done(worker, node)

    @step(actor="node lifecycle controller", goroutine=MONITOR)
    @tells(
        "The node lifecycle controller finds that no node is ready, and takes its taints with NoExecute back."
    )
    def halt(self) -> None:
        """handleDisruption: all zones are disrupted. The controller's copies of the nodes say which taints to remove."""
        require(self.runs)
        require(~as_expr(self.halted) & self._pass_is_over() & self.is_disrupted())
        self.halted = True
        for node in self.universe[Node]:
            seen = self.seen(node)
            self.due[seen] = False
            for version in versions_in(self.universe, node):
                if health_of(version.content).having(NO_EXECUTE):
                    with when(self.listed[seen] == version):
                        self.stage[seen][Worker.MONITOR] = Stage.TAKE_BACK

    @step(actor="node lifecycle controller", goroutine=MONITOR, each="node")
    @tells("The node lifecycle controller takes its taint with NoExecute back from {node}.")
    def take_back(self, node: Node) -> None:
        """markNodeAsReachable, for a node that is not reachable."""
        require(self.runs)
        require(self.stage[self.seen(node)][Worker.MONITOR] == Stage.TAKE_BACK)
        self.write(node, lambda health: Health(health.status, health.marks - health.having(NO_EXECUTE)))
        self.done(Worker.MONITOR, node)

    @step(actor="node lifecycle controller", goroutine=MONITOR)
    @tells("The node lifecycle controller finds that a node is ready again, and goes on with its taints.")
    def go_on(self) -> None:
        """handleDisruption: some zone is no longer disrupted."""
        require(self.runs)
        require(as_expr(self.halted) & self._pass_is_over() & ~self.is_disrupted())
        self.halted = False

    def _pass_is_over(self) -> Expr:
        """Whether the monitor has checked all nodes that it knows."""

        def is_through(seen: WatchedNode) -> Expr:
            judged = self.listed[seen].is_none | (self.judged[seen] != Judgement.NONE)
            return judged & (self.stage[seen][Worker.MONITOR] == Stage.NONE)

        return all_of(is_through(seen) for seen in self.universe[WatchedNode])

    def is_disrupted(self) -> Expr:
        """Whether the monitor has found only nodes that are not ready."""
        judged = [self.judged[self.seen(node)] for node in self.universe[Node]]
        return any_of(j == Judgement.NOT_READY for j in judged) & ~any_of(
            j == Judgement.READY for j in judged
        )
