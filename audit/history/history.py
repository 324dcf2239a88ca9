"""The writes of a log, in order, as the histories of its pods and nodes; those who ask are told when something can have changed."""

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Iterator

import msgspec

from ..reading.reading import LATEST
from ..reading.records import EVER, ContainerStatus, Node, Pod, Write
from .amounts import allocatable, anti_affinity, ports, requests
from .contradictions import FINISHED, Contradictions
from .objects import BEFORE, NodeHistory, NodeState, PodHistory, Sent, Stay
from .versions import number_of

REMEMBERED = 600_000_000
"""So long what was known of a node is kept after it has gone: a Binding to it may still be on its way."""


class Watcher:
    """Somebody who answers a question about the history, and looks at nothing unless it says so."""

    def possible(self, node: NodeHistory, moment: int, stay: Stay | None) -> None:
        """Something may have come to the node at this moment. All that can be there then is known."""

    def certain(self, node: NodeHistory, since: int, moment: int, stay: Stay | None) -> None:
        """By this moment something surely has come, which may have begun `since`. All that began by then is known."""

    def seen(self, pod: PodHistory, body: Pod, write: Write | None) -> None:
        """A body of a pod; without a write it is of the state at the start."""

    def patched(self, pod: PodHistory, sent: Pod, write: Write) -> None:
        """A status of which only what was sent is known."""

    def wrote(self, write: Write, pod: PodHistory | None) -> None:
        """Any write; for one of a pod with the pod, where it is known."""


class History:
    """Histories of live objects. `gaps` counts what cannot be if the log is complete, `from_before` what cannot be unless it was there when the log
    began; `missing` what was not logged; `contradictions` what lines say against each other."""

    def __init__(self, watchers: Iterable[Watcher] = (), skew: int = 0) -> None:
        self.watchers = list(watchers)
        self.skew = skew
        self.nodes: dict[str, NodeHistory] = {}
        self.pods: dict[str, PodHistory] = {}
        self.named: dict[str, PodHistory] = {}
        self.gaps: Counter[str] = Counter()
        self.from_before: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self.first, self.last = EVER, BEFORE
        self._due: list[tuple[int, int, NodeHistory, int, Stay | None]] = []
        self._leaving: deque[PodHistory] = deque()
        self._underway: dict[str, int] = {}
        self._lives = 0
        self._left: dict[str, NodeHistory] = {}
        self.contradictions = Contradictions(self.gaps)
        self._number = 0

    # The state at the start.

    def begin_with(self, pods: Iterable[Pod], nodes: Iterable[Node]) -> None:
        """What there was when the log began."""
        for node in nodes:
            self._node_is(node, BEFORE, BEFORE, created=True)
            self.nodes[node.metadata.name].at_start = number_of(node.metadata.resourceVersion)
        for pod in pods:
            history = self._new_pod(pod.metadata, BEFORE)
            if pod.spec.nodeName:
                self._came(history, pod.spec.nodeName, BEFORE, BEFORE)
            self._body(history, pod, BEFORE, BEFORE, None)
            history.at_start = number_of(pod.metadata.resourceVersion)

    # Writes.

    def take(self, writes: Iterable[Write]) -> None:
        """All of them, in the order in which they began."""
        for write in self._causes_first(writes) if self.skew else writes:
            write.begin, write.end = write.begin - self.skew, write.end + self.skew
            self._settle(write.begin)
            self.first, self.last = min(self.first, write.begin), max(self.last, write.end)
            pod = self._take(write)
            for watcher in self.watchers:
                watcher.wrote(write, pod)
        self._settle(EVER)

    def _causes_first(self, writes: Iterable[Write]) -> Iterator[Write]:
        """The same, but what a write needs, and the clock of another API server has put up to `skew` later, is said to have begun with it.

        So more orders are possible than before, and none less.
        """
        coming = iter(writes)
        ahead: deque[Write] = deque()
        pulled = set[int]()
        following = next(coming, None)
        while ahead or following is not None:
            while following is not None and (not ahead or following.begin <= ahead[0].begin + self.skew):
                ahead.append(following)
                following = next(coming, None)
            write = ahead.popleft()
            if id(write) in pulled:
                pulled.discard(id(write))
                continue
            for cause in self._missed_by(write, ahead, pulled):
                pulled.add(id(cause))
                cause.begin = write.begin
                yield cause
            yield write

    def _missed_by(self, write: Write, ahead: Iterable[Write], pulled: set[int]) -> list[Write]:
        """The creation of its pod, and the Binding to the node on which its body shows it, where they are not known and are among those ahead."""
        if write.resource != "pods" or write.creates or write.refused:
            return []
        uid = (write.binding.metadata.uid if write.binding else "") or _uid(write)
        if not uid:
            return []
        pod = self.pods.get(uid)
        node = write.pod.spec.nodeName if write.pod is not None else None
        bound = not node or (pod is not None and any(stay.node == node for stay in pod.stays))
        if pod is not None and bound:
            return []
        accepted = [w for w in ahead if w.key == write.key and w.accepted and id(w) not in pulled]
        created = [w for w in accepted if w.creates and w.resource == "pods" and _uid(w) == uid]
        bindings = [
            w for w in accepted if _is_binding(w) and w.binding is not None and w.binding.target.name == node
        ]
        return [*(created[:1] if pod is None else ()), *(() if bound else bindings[:1])]

    def _take(self, write: Write) -> PodHistory | None:
        if write.refused and not _is_binding(write):
            return None
        if write.verb == "deletecollection":
            self._collection(write)
        elif write.resource == "nodes":
            self._node(write)
        elif _is_binding(write):
            return self._binding(write)
        elif write.resource == "pods":
            return self._pod(write)
        return None

    def _collection(self, write: Write) -> None:
        """Pods or nodes that are deleted without being named."""
        self.missing["a deletecollection, whose objects no line names"] += 1
        if write.resource == "pods":
            self._goes_on(f"{write.namespace}/", write)
            for pod in self.named.values():
                if write.namespace in ("", pod.namespace):
                    pod.may_have_gone(write.begin, _latest(write))
        elif write.resource == "nodes":
            for node in self.nodes.values():
                node.must_go = min(node.must_go, write.begin)

    # Nodes.

    def _node(self, write: Write) -> None:
        if write.verb == "delete":
            node = self._known_node(write.name)
            if not node.known:
                self._gap("a node that no line creates", at_start=True)
            if not (write.node and write.node.metadata.finalizers):
                node.must_go = min(node.must_go, write.begin)
                if write.accepted and write.whole:
                    node.may_go = write.end
                    self._forget_nodes(write.begin)
                    self._left[node.name] = node
                elif write.accepted:  # it may have finalizers, or nothing may have been meant to come of it
                    self.missing["bodies of nodes"] += 1
            return
        if write.patch and write.node is not None:
            sent = write.node.status.allocatable
            node = self._known_node(write.name)
            if sent is None:
                return  # a heartbeat, which changes nothing else
            self.missing["bodies of nodes"] += 1
            last = node.states.last
            node.states.add(write.begin, write.end, None, NodeState(None, last.labels if last else ()))
            self._changed(node, write.begin, write.end, created=False)
            return
        if write.node is not None and write.accepted:
            self._node_is(write.node, write.begin, write.end, write.creates)
            return
        node = self._known_node(write.name)
        self.missing["bodies of nodes"] += 1
        last = node.states.last
        node.states.add(write.begin, write.end, None, NodeState(None, last.labels if last else ()))
        if write.creates:
            node.known, node.life = True, self._next_life()
            node.may_exist, node.must_exist = min(write.begin, node.may_exist), EVER
            node.must_go = node.may_go = EVER

    def _node_is(self, body: Node, begin: int, end: int, created: bool) -> None:
        node = self._known_node(body.metadata.name)
        uid = body.metadata.uid
        was_there = node.known and node.may_go > begin and (created or not uid or uid == node.uid)
        if created and was_there and node.may_go == node.must_go == EVER:
            self.gaps["a node that was created again, and that no line deletes"] += 1
        elif not created and not was_there:
            self._gap("a node that no line creates", at_start=not node.known)
        if created or not was_there:
            node.uid, node.life = uid, self._next_life()
            again = node.may_exist if was_there else begin if created else BEFORE
            node.known, node.may_exist, node.must_exist = True, again, end
            node.must_go = node.may_go = EVER
        node.seen_at = max(node.seen_at, begin)
        if begin != BEFORE:
            self.contradictions.node_shown(node, number_of(body.metadata.resourceVersion), end)
        if body.metadata.deletionTimestamp and not body.metadata.finalizers:
            node.must_go, node.may_go = min(node.must_go, begin), end
        labels = tuple(sorted((body.metadata.labels or {}).items()))
        state = NodeState(allocatable(body), labels)
        changed = node.states.add(begin, end, number_of(body.metadata.resourceVersion), state)
        if begin != BEFORE and (changed or created):
            self._changed(node, begin, end, created)

    def _changed(self, node: NodeHistory, begin: int, end: int, created: bool) -> None:
        """Where the node has other amounts or labels, a Binding that is under way may have come before or after."""
        underway = any(stay.must_come > begin for stay in node.stays)
        if underway or created:
            self._tell_possible(node, begin, None)
        if created:
            self._later(node, begin, end, None)

    def _next_life(self) -> int:
        self._lives += 1
        return self._lives

    def _forget_nodes(self, now: int) -> None:
        """Nodes that were gone before, and on which nobody is."""
        for name, node in list(self._left.items()):
            if node.may_go == EVER or self.nodes.get(name) is not node:
                del self._left[name]
            elif node.may_go < now - REMEMBERED and not node.stays:
                del self._left[name], self.nodes[name]

    def _known_node(self, name: str) -> NodeHistory:
        if name not in self.nodes:
            self.nodes[name] = NodeHistory(name)
        return self.nodes[name]

    # Pods.

    def _pod(self, write: Write) -> PodHistory | None:
        if write.creates:
            return self._created(write)
        pod = self._pod_of(write)
        if pod is not None:
            self.contradictions.may_change(pod, write, _latest(write))
        if write.sub == "eviction" or not write.accepted:
            self._goes_on(write.key, write)
            if pod is not None:
                self._may_have_changed(pod, write)
            return pod
        if write.patch and pod is not None and pod.body is not None:
            self._patched(pod, pod.body, write)
            return pod
        if write.pod is None or write.patch:
            self.missing["bodies of pods"] += 1
            if write.verb == "delete":
                self._goes_on(write.key, write)
            if pod is None:
                self._unknown(write, "a pod that no line creates")
            else:
                self._may_have_changed(pod, write)
            return pod
        if pod is None:
            self._unknown(write, "a pod that no line creates")
            pod = self._new_pod(write.pod.metadata, BEFORE)
        if write.verb == "delete" and not _is_graceful(write.pod):
            meta, node = write.pod.metadata, write.pod.spec.nodeName
            self.contradictions.shown(pod, write.pod, number_of(meta.resourceVersion), write)
            if node:
                self._is_on(pod, node, write.begin, write.end)
            self._gone(pod, write.begin, write.end)
            for watcher in self.watchers:
                watcher.seen(pod, write.pod, write)
            return pod
        self._body(pod, write.pod, write.begin, write.end, write)
        return pod

    def _patched(self, pod: PodHistory, before: Pod, write: Write) -> None:
        """A status of which only what was sent is known: it changes that, and nothing of the specification."""
        assert write.pod is not None
        sent, begin, end = write.pod.status, write.begin, write.end
        finished = sent.phase in FINISHED
        if sent.containerStatuses is not None or sent.initContainerStatuses is not None:
            status = msgspec.structs.replace(
                before.status,
                containerStatuses=_merged(before.status.containerStatuses, sent.containerStatuses),
                initContainerStatuses=_merged(
                    before.status.initContainerStatuses, sent.initContainerStatuses
                ),
            )
            pod.body = msgspec.structs.replace(before, status=status)
            known = pod.asks.last is not None  # else its specification may be another one by now
            if known and pod.asks.add(begin, end, None, requests(pod.body)) and pod.stays:
                self._tell_possible(self._known_node(pod.stays[0].node), begin, None)
        if finished:
            pod.must_leave, pod.may_leave = min(pod.must_leave, begin), min(pod.may_leave, end)
            self._leaving.append(pod)
        elif sent.phase and write.pod.metadata.uid and write.pod.metadata.uid == pod.uid:
            pod.alive_at = max(pod.alive_at, begin)
        for watcher in self.watchers:
            watcher.patched(pod, write.pod, write)

    def _goes_on(self, what: str, write: Write) -> None:
        """A request that may end a pod that is created while it goes on, too: of a name, or of a namespace (`namespace/`, / for all)."""
        if len(self._underway) > 1000:
            self._underway = {key: end for key, end in self._underway.items() if end >= write.begin}
        self._underway[what] = max(_latest(write), self._underway.get(what, BEFORE))

    def _may_have_changed(self, pod: PodHistory, write: Write) -> None:
        """A write of which nobody knows what it did, or whether it did it."""
        pod.may_have_gone(write.begin, _latest(write))
        if write.verb != "delete" and write.sub != "eviction":
            pod.asks.add(write.begin, _latest(write), None, None)
            pod.labels.add(write.begin, _latest(write), None, None)
            if pod.stays:
                self._tell_possible(self._known_node(pod.stays[0].node), write.begin, None)

    def _created(self, write: Write) -> PodHistory | None:
        if not write.accepted:
            # Without a node it does nothing until it is bound, which another line says.
            if write.pod is None or write.pod.spec.nodeName:
                self.gaps["a pod whose creation ran into an error, and that may be on a node"] += 1
            return None
        if write.pod is None:
            self.missing["bodies of pods"] += 1
            if not write.name:
                self.gaps["a pod that was created, and whose name no line says"] += 1
                return None
        before = self.named.get(write.key)
        if before is not None and not before.gone:
            if write.pod is not None and before.uid == write.pod.metadata.uid:
                if before.born == BEFORE and before.at_start is not None:
                    self.contradictions.is_of_before(before, write.end)
                return before
            if before.doubt == EVER:
                self.gaps["a pod that was created again, and that no line deletes"] += 1
            self._gone(before, write.begin, write.end)
        if write.pod is None:
            pod = PodHistory(write.key, write.uid, write.begin, write.begin)
            self._keep(pod, write.begin)
            return pod
        pod = self._new_pod(write.pod.metadata, write.begin)
        pod.born = write.begin
        if write.pod.spec.nodeName:
            self._came(pod, write.pod.spec.nodeName, write.begin, write.end, by=write.user)
        self._body(pod, write.pod, write.begin, write.end, write)
        return pod

    def _binding(self, write: Write) -> PodHistory | None:
        uid = (write.binding.metadata.uid if write.binding else "") or write.uid
        pod = self._pod_of(write, uid)
        if write.refused:
            if pod is not None:
                pod.bindings.append(_sent(write))
            return pod
        if pod is None:
            self._unknown(write, "a Binding of a pod that no line creates")
            pod = PodHistory(write.key, uid)
            self._keep(pod)
        node = write.binding.target.name if write.binding else ""
        pod.bindings.append(_sent(write))
        if not node:
            self.missing["bodies of Bindings"] += 1
            return pod
        there = next((stay for stay in pod.stays if stay.node == node), None)
        if there is not None:
            if write.accepted and there.must_come == BEFORE and pod.at_start is not None:
                self.contradictions.is_of_before(pod, write.end)
            there.may_come = min(there.may_come, write.begin)
            if write.accepted and there.must_come == EVER:
                there.must_come = write.end
                self._later(self._known_node(node), there.may_come, write.end, there)
            return pod
        must = write.end if write.accepted else EVER
        if write.accepted and any(stay.must_come != EVER for stay in pod.stays):
            self.gaps["a pod that is on two nodes"] += 1
        self._came(pod, node, write.begin, must, by=write.user, binding=True)
        return pod

    def _came(
        self, pod: PodHistory, name: str, may: int, must: int, by: str = "", binding: bool = False
    ) -> None:
        node = self._known_node(name)
        if must != EVER:
            for other in [stay for stay in pod.stays if stay.must_come == EVER]:
                pod.stays.remove(other)
                self._known_node(other.node).stays.remove(other)
        stay = Stay(pod, name, may, must, by, binding)
        pod.stays.append(stay)
        node.stays.append(stay)
        if may == BEFORE:
            return
        self._tell_possible(node, may, stay)
        if must != EVER:
            self._later(node, may, must, stay)

    def _body(self, pod: PodHistory, body: Pod, begin: int, end: int, write: Write | None) -> None:
        """What a body shows: the state after some moment between these."""
        finished = body.status.phase in FINISHED
        number = number_of(body.metadata.resourceVersion)
        if write is not None:
            self.contradictions.shown(pod, body, number, write)
        changed = pod.asks.add(begin, end, number, requests(body))
        pod.labels.add(begin, end, number, tuple(sorted((body.metadata.labels or {}).items())))
        pod.terms, pod.ports, pod.known = anti_affinity(body), ports(body), True
        pod.priority = body.spec.priority or 0
        pod.body, pod.body_at = body, begin
        if body.spec.nodeName:
            self._is_on(pod, body.spec.nodeName, begin, end)
        else:
            pod.unbound_at = max(pod.unbound_at, begin)
        if finished:
            pod.must_leave, pod.may_leave = min(pod.must_leave, begin), min(pod.may_leave, end)
            self._leaving.append(pod)
        if _is_removed(body):
            self._gone(pod, begin, end)
        elif not finished and begin >= pod.alive_at:
            pod.alive_at = begin
            if pod.doubted <= begin:
                pod.doubt, pod.doubted = EVER, BEFORE
        if changed and begin != BEFORE:
            for stay in pod.stays:
                if any(other.must_come > begin for other in self._known_node(stay.node).stays):
                    self._tell_possible(self._known_node(stay.node), begin, None)
        for watcher in self.watchers:
            watcher.seen(pod, body, write)

    def _is_on(self, pod: PodHistory, name: str, begin: int, end: int) -> None:
        there = next((stay for stay in pod.stays if stay.node == name), None)
        if there is not None:
            if there.must_come == EVER:
                there.must_come = end
                self._later(self._known_node(name), there.may_come, end, there)
            others = [stay for stay in pod.stays if stay is not there]
        else:
            if any(sent.node == "" and not 300 <= sent.code < 500 for sent in pod.bindings):
                since = min(sent.begin for sent in pod.bindings if sent.node == "")
                self._came(pod, name, max(since, pod.unbound_at), end, binding=True)
                return
            at_start = pod.unbound_at == BEFORE and not pod.bindings
            self._gap("a pod that is on a node to which no line binds it", at_start)
            others = list(pod.stays)
            self._came(pod, name, pod.unbound_at, end)
        for other in others:
            pod.stays.remove(other)
            self._known_node(other.node).stays.remove(other)

    def _gone(self, pod: PodHistory, begin: int, end: int) -> None:
        pod.must_leave, pod.may_leave = min(pod.must_leave, begin), min(pod.may_leave, end)
        pod.gone = True
        self._leaving.append(pod)

    def _new_pod(self, meta: object, begin: int) -> PodHistory:
        name, namespace, uid = (getattr(meta, field) for field in ("name", "namespace", "uid"))
        pod = PodHistory(f"{namespace or 'default'}/{name}", uid, unbound_at=begin)
        self._keep(pod, begin)
        return pod

    def _gap(self, what: str, at_start: bool) -> None:
        """Something that no line brought about: it was there when the log began, or the log is not complete."""
        (self.from_before if at_start else self.gaps)[what] += 1

    def _unknown(self, write: Write, what: str) -> None:
        """A pod that no line creates. Where another one has its name, it cannot have been there at the start."""
        self._gap(what, at_start=write.key not in self.named)

    def _keep(self, pod: PodHistory, begin: int = BEFORE) -> None:
        for what in (pod.key, f"{pod.namespace}/", "/"):
            if self._underway.get(what, BEFORE) >= begin > BEFORE:
                pod.may_have_gone(begin, self._underway[what])
        self.named[pod.key] = pod
        if pod.uid:
            self.pods[pod.uid] = pod

    def _pod_of(self, write: Write, uid: str = "") -> PodHistory | None:
        """The pod that a write is about. One of another UID is another pod."""
        uid = uid or (write.pod.metadata.uid if write.pod else "") or write.uid
        if uid and uid in self.pods:
            return self.pods[uid]
        pod = self.named.get(write.key)
        if pod is None or (uid and pod.uid and pod.uid != uid):
            return None
        if uid and not pod.uid:
            pod.uid = uid
            self.pods[uid] = pod
        return pod

    # Time passes.

    def _tell_possible(self, node: NodeHistory, moment: int, stay: Stay | None) -> None:
        for watcher in self.watchers:
            watcher.possible(node, moment, stay)

    def _later(self, node: NodeHistory, since: int, moment: int, stay: Stay | None) -> None:
        self._number += 1
        heapq.heappush(self._due, (moment, self._number, node, since, stay))

    def _settle(self, now: int) -> None:
        """Tell of what has surely happened by now, and forget who has left."""
        self.contradictions.settle(now)
        while self._due and self._due[0][0] < now:
            moment, _, node, since, stay = heapq.heappop(self._due)
            for watcher in self.watchers:
                watcher.certain(node, since, moment, stay)
        while self._leaving and self._leaving[0].may_leave < now:
            self._forget(self._leaving.popleft())

    def _forget(self, pod: PodHistory) -> None:
        for stay in pod.stays:
            node = self.nodes.get(stay.node)
            if node is not None and stay in node.stays:
                node.stays.remove(stay)
        if pod.gone and self.named.get(pod.key) is pod:
            del self.named[pod.key]
        if pod.gone and self.pods.get(pod.uid) is pod:
            del self.pods[pod.uid]

    def live(self) -> Iterator[Stay]:
        """Who is or may be on a node."""
        for node in self.nodes.values():
            yield from node.stays


def _latest(write: Write) -> int:
    """When a request has had its effect at the latest: one that ran into an error may still be carried out after it."""
    return write.end if write.accepted else write.end + LATEST


def _uid(write: Write) -> str:
    return write.uid or (write.pod.metadata.uid if write.pod is not None else "")


def _is_binding(write: Write) -> bool:
    return write.verb == "create" and write.of_binding


def _sent(write: Write) -> Sent:
    node = write.binding.target.name if write.binding else ""
    uid = (write.binding.metadata.uid if write.binding else "") or write.uid
    return Sent(write.begin, write.end, node, write.code, write.user, write.address, uid)


def _merged(
    before: list[ContainerStatus] | None, sent: list[ContainerStatus] | None
) -> list[ContainerStatus]:
    """Statuses of containers, those that were sent in the place of those before, by their names."""
    return list({status.name: status for status in (*(before or ()), *(sent or ()))}.values())


def _is_graceful(pod: Pod) -> bool:
    """Whether a DELETE that gave this body only marked the pod."""
    return bool(pod.metadata.finalizers) or bool(pod.metadata.deletionGracePeriodSeconds)


def _is_removed(pod: Pod) -> bool:
    """Whether an update that gave this body took away what kept a deleted pod there."""
    meta = pod.metadata
    return bool(meta.deletionTimestamp) and meta.deletionGracePeriodSeconds == 0 and not meta.finalizers
