"""What was kept of a cluster and what was not, in sentences."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ...base.text import counted, listed
from ..contention import ClusterQuestion
from ..kept_lives import Lives
from ..left_out import affinity_of, constraints_of, leaving
from ..members import ClusterNode, ClusterPod
from ..reading.resource_amounts import write_amount
from ..representative import Representative, Size, is_of_daemon_set, why_never
from .untested import not_asked

MOST_LINES = 8
"""So many questions and budgets are listed."""


def title_of(kept: Representative) -> str:
    """In one line, what the verdict is about."""
    inventory = kept.inventory
    pods, there = len(kept.pods), len(inventory.bound) + sum(p.stands_for for p in inventory.pending)
    return (
        f"{counted(pods, 'pod')} and {counted(len(kept.nodes), 'node')} that represent "
        f"{counted(there, 'pod')} and {counted(len(inventory.nodes), 'node')}"
    )


def caveat_of(kept: Representative) -> str:
    """What the verdict does not say."""
    return (
        f"the verdict is about {listed([p.name for p in kept.pods])} on {listed([n.name for n in kept.nodes])}, "
        "not about the whole cluster; it assumes that no other pod is created, deleted or evicted"
    )


def account_of(kept: Representative, doubts: Sequence[str] = ()) -> list[str]:
    """What there is, what was kept for which question, what is in doubt of it, and what was left out; a line for each."""
    return [
        *_cluster(kept),
        *_questions(kept),
        *_budgets(kept),
        *_affinity(kept),
        *_spread(kept),
        *_kept(kept),
        *_controllers(kept),
        *_claims(kept),
        *_groups(kept),
        *(f"not modelled, so HOLDS becomes INCONCLUSIVE: {line}" for line in doubts),
        *_left_out(kept),
        *(f"not checked by default: {name}: {why}" for name, why in not_asked(kept).items()),
    ]


def _cluster(kept: Representative) -> Iterator[str]:
    inventory, groups = kept.inventory, kept.groups
    waiting = sum(p.stands_for for p in inventory.pending)
    yield (
        f"cluster: {counted(len(inventory.nodes), 'node')} of {counted(len(groups.of_nodes), 'kind')}, "
        f"{len(inventory.bound):,} bound and {waiting:,} waiting pods of {counted(len(groups.of_pods), 'kind')}; "
        f"{counted(inventory.workloads, 'workload')}, {counted(inventory.classes, 'priority class')}, "
        f"{counted(len(inventory.budgets), 'disruption budget')}"
    )
    for reason, number in inventory.set_aside.items():
        yield f"  not counted: {counted(number, 'pod')} {reason}"


def _questions(kept: Representative) -> Iterator[str]:
    able = [q for q in kept.asked if q.node is not None]
    yield f"questions: {len(able)} of {counted(len(kept.asked), 'kind')} of waiting pods can get a node"
    if kept.hypothetical:
        yield "  no pod waits: asked is what happens to a pod that its controller creates once more"
        daemons = sum(map(is_of_daemon_set, kept.inventory.bound))
        if daemons:
            yield (
                f"  not asked about: {counted(daemons, 'pod')} of DaemonSets, which come back to their own nodes and may preempt there"
            )
    for question in able[:MOST_LINES]:
        yield f"  {_question(question, kept)}"
    if len(able) > MOST_LINES:
        yield f"  and {len(able) - MOST_LINES} more; --focus POD chooses one"
    hopeless = [q.pod for q in kept.asked if q.node is None]
    if stuck := [p.name for p in hopeless if p.preempts]:
        yield f"  no room, and evicting pods of lower priority would not help: {_some(stuck)}"
    for why in dict.fromkeys(why_never(p, kept.inventory) for p in hopeless if not p.preempts):
        names = [p.name for p in hopeless if not p.preempts and why_never(p, kept.inventory) == why]
        yield f"  no room, and nobody is evicted for it ({why}): {_some(names)}"


def _question(question: ClusterQuestion, kept: Representative) -> str:
    pod, node = question.pod, question.node
    assert node is not None
    many = kept.groups.like(pod)
    alike = f", {many} alike" if many > 1 else ""
    where = f"{counted(question.nodes, 'node')}, such as {node.name}"
    if question.victims:
        does = f"can preempt {_some([v.name for v in question.victims])} on {where}"
    elif question.leaving:
        gone = (
            "is gone, which is being deleted"
            if len(question.leaving) == 1
            else "are gone, which are being deleted"
        )
        does = f"fits {where}, once {_some([p.name for p in question.leaving])} {gone}"
    else:
        does = f"fits {where}"
    rivals = sum(r.stands_for for r in question.rivals)
    contest = (
        f"; {counted(rivals, 'pod')} may want the same room, such as {question.rivals[0].name}"
        if rivals
        else ""
    )
    return f"{pod.name} (priority {pod.priority}{alike}) {does}{contest}"


def _budgets(kept: Representative) -> Iterator[str]:
    lines = []
    protecting = {of.budget.meta.name for of in Lives(kept).budgets}
    for budget in kept.inventory.budgets:
        protected = [p for p in kept.inventory.bound if budget.protects(p.entity)]
        none = "left out, it protects none of the kept pods that could be evicted"
        mark = "kept" if budget.meta.name in protecting else none
        what = f"{counted(len(protected), 'pod')}, {counted(budget.allowed, 'disruption')} allowed"
        lines.append((mark != "kept", f"  {budget.meta.name}: {what}; {mark}"))
    if lines:
        yield "disruption budgets:"
        yield from (line for _, line in sorted(lines)[:MOST_LINES])
        if len(lines) > MOST_LINES:
            yield f"  and {len(lines) - MOST_LINES} more, left out"


def _affinity(kept: Representative) -> Iterator[str]:
    domains: dict[tuple[str, str], int] = {}
    for pod in (*kept.inventory.bound, *kept.inventory.pending):
        for term in pod.terms:
            what = ("anti-affinity" if term.anti else "affinity", term.topology_key)
            domains[what] = domains.get(what, 0) + 1
    if domains:
        yield "required affinity between pods:"
    for (kind, key), number in sorted(domains.items())[:MOST_LINES]:
        yield f"  {kind} by {key}: {counted(number, 'term')} of pods, {_domains(key, kept)}"


def _spread(kept: Representative) -> Iterator[str]:
    keys = Counter(c.topology_key for p in (*kept.inventory.bound, *kept.inventory.pending) for c in p.spread)
    if keys:
        yield "topology spread that must be kept:"
    for key, number in sorted(keys.items())[:MOST_LINES]:
        yield f"  by {key}: {counted(number, 'constraint')} of pods, {_domains(key, kept)}"


def _domains(key: str, kept: Representative) -> str:
    return counted(len({n.labels[key] for n in kept.inventory.nodes if key in n.labels}), "domain")


def _kept(kept: Representative) -> Iterator[str]:
    lives = Lives(kept)
    yield f"representative: {title_of(kept)}"
    if kept.question.needs > Size().pods:
        yield f"  every node has too little room for {kept.question.pod.name}: {kept.question.needs - 1} pods have to go"
    for node in kept.nodes:
        ready = f"; Ready is {node.ready}" if node.ready != "True" else ""
        deleted = "; being deleted" if node.deleted else ""
        yield f"  {node.name}: {_node(node, kept)}{ready}{deleted}"
        if node.ails:
            yield "    the node lifecycle controller decides on its condition Ready and the taints that go with it"
    for pod in kept.pods:
        yield f"  {pod.name}: {_pod(pod, kept)}"
        yield from (f"    {line}" for line in lives.lines(pod))
        affinity = affinity_of(pod, kept)
        if affinity.closed:
            names = _some([n.name for n in affinity.closed])
            yield f"    affinity to pods that are left out closes {names} to it"
        if not affinity.exact:
            yield "    an affinity term means kept pods and others: only the kept ones count for it"
        for node in (n for p, n in leaving(kept) if p is pod):
            yield f"    taints of {node.name} with NoExecute may have it leave"
        for constraint in constraints_of(pod, kept):
            if constraint.others:
                numbers = [f"{number} in {domain}" for domain, number in constraint.others.items()]
                yield f"    its spread by {constraint.topology_key} goes on counting pods that are left out: {_some(numbers)}"


def _controllers(kept: Representative) -> Iterator[str]:
    if kept.makers is None:
        return
    yield f"controllers that recreate kept pods: {len(kept.makers.controllers)}"
    for made in kept.makers.controllers:
        keeps = f"  {made.owner} keeps {counted(made.wanted, 'pod')}, as {_some([p.name for p in made.pods])}"
        policy = " (its object is not there: taken for one with the default policy)" if made.assumed else ""
        yield keeps + policy
    for why in dict.fromkeys(kept.makers.left_out.values()):
        names = [name for name, reason in kept.makers.left_out.items() if reason == why]
        yield f"  not recreated: {_some(names)}: {why}"


def _groups(kept: Representative) -> Iterator[str]:
    if kept.together.groups:
        yield "groups of pods:"
    for line in kept.together.lines:
        yield f"  {line}"


def _claims(kept: Representative) -> Iterator[str]:
    if kept.claims.lines:
        yield "claims:"
    for line in kept.claims.lines[: 2 * MOST_LINES]:
        yield f"  {line}"


def _node(node: ClusterNode, kept: Representative) -> str:
    like = kept.groups.of_nodes[kept.groups.node(node)]
    same = f"one of {like} nodes alike" if like > 1 else "no other node is like it"
    dropped = kept.dropped_on(node)
    taken = kept.taken_on(node)
    shown = {r for p in kept.pods for r, a in p.requests.items() if a}
    room = ", ".join(f"{r} {write_amount(r, taken[r])}" for r in taken if r in shown and taken[r])
    rest = (
        f"; left out: {counted(len(dropped), 'pod')} on it, still using {room or 'no room'}"
        if dropped
        else ""
    )
    return same + rest


def _pod(pod: ClusterPod, kept: Representative) -> str:
    like = kept.groups.like(pod) if pod.exists else 1
    same = f", one of {like} pods alike" if like > 1 else ""
    owner = f", of {pod.owner}" if pod.owner else ""
    if pod is kept.question.pod:
        role = "would be created, and waits" if not pod.exists else "waits"
    elif pod in kept.question.victims:
        role = f"on {pod.node}, can be evicted for {kept.question.pod.name}"
    elif pod in kept.question.leaving:
        role = f"on {pod.node}, is being deleted: {kept.question.pod.name} waits for its room"
    elif not pod.exists and kept.makers is not None and kept.makers.of(pod) is not None:
        role = "its controller creates it when another one of its pods is gone"
    elif not pod.exists:
        role = "the controller may create it, at any moment (also before the pod that it replaces is gone)"
    elif pod.node is not None:
        role = f"on {pod.node}"
    elif pod.group and pod.group == kept.question.pod.group:
        role = f"waits, with {kept.question.pod.name}"
    else:
        role = "waits, and may want the same room"
    group = f", of group {kept.together.name_of(pod.group)}" if kept.together.name_of(pod.group) else ""
    return f"{role}; priority {pod.priority}{owner}{group}{same}"


def _left_out(kept: Representative) -> Iterator[str]:
    inventory = kept.inventory
    nodes = len(inventory.nodes) - len(kept.nodes)
    bound = sum(p not in kept.pods for p in inventory.bound)
    waiting = sum(p.stands_for for p in inventory.pending) - sum(
        p.exists and p.node is None for p in kept.pods
    )
    unsound = len(inventory.nodes) - len(kept.situation.sound_nodes)
    over = f" ({unsound} of them overcommitted)" if unsound else ""
    wait = "waits" if waiting == 1 else "wait"
    yield (
        f"left out: {counted(nodes, 'node')}{over}, {counted(bound, 'pod')} on nodes, "
        f"{counted(max(0, waiting), 'pod')} that {wait}; "
        "podrace chose the kept pods and nodes by rules of thumb, and checks only these"
    )


def _some(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"
