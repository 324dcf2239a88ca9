"""A counterexample told in sentences: the cluster, one sentence per step, which views disagreed, and what would have helped.

The sentences come with the steps; what is told beside them (events on their way, views that differ) is computed
from the memory of the finding. What a finding does not know is left out.
"""

from collections.abc import Sequence

import msgspec

from ...base.structs import Data
from ...base.text import listed
from ..ci_outcome import subject
from ..document import Finding, ShownStep
from ..evidence import Memory, ShownCluster, ShownCounterfactual
from ..picture import PODS, Placed, resources_asked_for, scenes
from ..quantities import asks_words, has_words, quantity
from ..states import State, ViewDifference, differences, published, states_of

HOW_IT_ENDS = "How it ends"
DIVERGES = "From here on"
"""How a note begins that says where views begin to differ."""
NOTHING = "nothing in particular"
"""Who asks for, or has, nothing that matters."""


class Told(Data):
    """One step: its sentence, what else is to be said of the moment after it, and a remark that stands before it.

    `diverges` says that views begin to differ here. `decisive`: the step changed something that stands out.
    """

    number: int
    actor: str
    text: str
    notes: tuple[str, ...] = ()
    remark: str = ""
    diverges: bool = False
    decisive: bool = False


class Explanation(Data):
    """A counterexample in sentences; `ending` is a remark that stands after the last step.

    `outcome` says what is wrong and what does not fit in the end, `disagreement` which views differed when it mattered, `remedy` what would
    have kept the run from its end.
    """

    opening: tuple[str, ...]
    steps: tuple[Told, ...]
    disagreement: tuple[str, ...] = ()
    remedy: tuple[str, ...] = ()
    ending: str = ""
    outcome: tuple[str, ...] = ()

    @property
    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What stands after the steps, by headings; those without lines are left out."""
        every = (
            (HOW_IT_ENDS, self.outcome),
            ("Where the views disagreed", self.disagreement),
            ("What would have prevented it", self.remedy),
        )
        return tuple((heading, lines) for heading, lines in every if lines)

    @property
    def closing(self) -> tuple[str, ...]:
        """What stands after the steps."""
        return tuple(line for _, lines in self.sections for line in lines)

    @property
    def text(self) -> str:
        """The whole of it as plain text, numbered."""
        lines = [*self.opening, ""]
        for told in self.steps:
            lines += [f"({told.remark})"] if told.remark else []
            lines.append(f"{told.number}. {' '.join((told.text, *told.notes))}")
        lines += [f"({self.ending})"] if self.ending else []
        return "\n".join([*lines, "", *self.closing]).strip() + "\n"


def explain(finding: Finding) -> Explanation:
    """The counterexample of a violated finding in sentences. Raises ValueError if it has none."""
    if finding.trace is None:
        raise ValueError(f"{subject(finding)} has no counterexample to tell")
    states = states_of(finding)
    remarks = finding.remarks
    steps = tuple(_told(finding, step, states, remarks.get(step.number, "")) for step in finding.story)
    return Explanation(
        opening=() if finding.cluster is None else opening(finding.cluster, states[0] if states else None),
        steps=steps,
        disagreement=_disagreement(finding, states),
        remedy=tuple(prevented(finding, way) for way in finding.counterfactuals),
        ending=remarks.get(len(steps) + 1, "") or _ending(finding),
        outcome=_outcome(finding, states),
    )


def _outcome(finding: Finding, states: list[State]) -> tuple[str, ...]:
    wrong = () if finding.wrong is msgspec.UNSET else finding.wrong
    return (*wrong, *(crowded(finding.cluster, states[0], states[-1]) if states and finding.cluster else ()))


def _ending(finding: Finding) -> str:
    return (
        ""
        if finding.no_way_back is not None or finding.lasso is not None
        else f"{finding.property} is violated"
    )


def crowded(cluster: ShownCluster, start: State, state: State) -> list[str]:
    """Nodes with more on them than they have room for, and pods nominated to a node where they do not fit because of one that came after the start.

    A pod that was there from the start may be a victim that is still to be evicted.
    """
    return [
        line
        for resource in resources_asked_for(cluster)
        for line in _crowded(cluster, start, state, resource)
    ]


def _crowded(cluster: ShownCluster, start: State, state: State, resource: str) -> list[str]:
    """The same of one resource."""
    seen = scenes(cluster, state, resource)
    meant = {(box.name, pod.name): pod for scene in seen for box in scene.boxes for pod in box.nominated}
    before = {
        (box.name, pod.name) for scene in scenes(cluster, start) for box in scene.boxes for pod in box.pods
    }
    lines = []
    for scene in seen:
        for box in scene.boxes:
            staying = [pod for pod in box.pods if not pod.terminating]
            used = sum(pod.size for pod in staying)
            names = listed([_asking(cluster, pod, resource) for pod in staying]) if staying else ""
            room = _amount(cluster, resource, box.capacity)
            if used > box.capacity:
                lines.append(
                    f"In the end, {scene.title}, {box.name} has {names} on it, and no more than {room}."
                )
            taken = any((box.name, pod.name) not in before for pod in staying)
            left = _amount(cluster, resource, max(box.capacity - used, 0)).partition(" ")[0]
            for (node, _), pod in meant.items():
                fits = used + pod.size <= box.capacity
                if node == box.name and taken and not fits and pod.name not in {p.name for p in staying}:
                    wants = (
                        "" if resource == PODS else f" asks for {_amount(cluster, resource, pod.size)} and"
                    )
                    lines.append(
                        f"In the end, {scene.title}, {box.name} has {names} on it, which leaves {left} of {room}. "
                        f"{pod.name}, nominated to {box.name},{wants} does not fit."
                    )
    return lines


def _asking(cluster: ShownCluster, pod: Placed, resource: str) -> str:
    return pod.name if resource == PODS else f"{pod.name} ({_amount(cluster, resource, pod.size)})"


def _amount(cluster: ShownCluster, resource: str, amount: int) -> str:
    said = f"{amount}" if resource == PODS else quantity(cluster, resource, amount)
    places = "place for pods" if amount == 1 else "places for pods"
    return f"{said} {places if resource == PODS else resource}"


def _told(finding: Finding, step: ShownStep, states: list[State], remark: str) -> Told:
    told = Told(step.number, step.actor, step.sentence, remark=remark, decisive=step.decisive)
    if not states or finding.memory is None:
        return told
    notes = notes_of(finding.memory, states[step.number - 1], states[step.number])
    diverges = any(note.startswith(DIVERGES) for note in notes)
    return Told(told.number, told.actor, told.text, notes, remark, diverges, step.decisive)


def notes_of(memory: Memory, before: State, after: State) -> tuple[str, ...]:
    """What is to be said of the moment after a step beside its sentence: events that went out, and what views differ on."""
    notes = [
        f"An event about {event.subject} goes out on the {channel}; it still has to reach {listed(event.waits_for)}."
        for channel, event in published(before, after)
        if event.waits_for
    ]
    earlier = {d.subject: d for d in differences(memory, before)}
    now = {d.subject: d for d in differences(memory, after)}
    new = [d for subject, d in now.items() if subject not in earlier]
    notes += [f"{DIVERGES} views differ on {d.subject}: {said(d, memory)}." for d in new]
    notes += [
        f"Views on {subject} now: {said(d, memory)}."
        for subject, d in now.items()
        if subject in earlier and d != earlier[subject]
    ]
    notes += [f"All views agree on {subject} again." for subject in earlier if subject not in now]
    return tuple(notes)


def badge_of(note: str) -> tuple[str, str]:
    """A note as a badge of a few words with its subject, and what the note says beyond that."""
    for begins, word, parted in _BADGES:
        if note.startswith(begins):
            subject, _, rest = note.removeprefix(begins).partition(parted)
            return f"{word} {subject}", rest
    return "", note


_BADGES = (
    (f"{DIVERGES} views differ on ", "views differ on", ": "),
    ("Views on ", "views of", " now: "),
    ("All views agree on ", "views agree on", " again."),
    ("An event about ", "event of", " goes out on the "),
)
"""How each kind of note begins, its badge, and what stands between its subject and the rest."""


def said(difference: ViewDifference, memory: Memory) -> str:
    """What each view says of a subject, views that say the same together."""
    words: dict[str, list[str]] = {}
    for view, facts in difference.said.items():
        phrases = [memory.words(fact, value) for fact, value in facts.items()]
        if facts.get("exists") is False:
            phrases = [memory.words("exists", False)]
        elif facts.get("exists") is True and len(facts) > 1:
            phrases = [memory.words(fact, value) for fact, value in facts.items() if fact != "exists"]
        words.setdefault(", ".join(filter(None, phrases)), []).append(view)
    return "; ".join(f"{listed(views)}: {phrase or 'nothing'}" for phrase, views in words.items())


def opening(cluster: ShownCluster, state: State | None) -> tuple[str, ...]:
    """A cluster in sentences, and where its pods are in this state."""
    nodes = "; ".join(f"node {n.name} has {has_words(cluster, n) or NOTHING}" for n in cluster.nodes)
    return (
        f"The cluster: {nodes}.",
        *(f"Node {n.name} {listed(n.says)}." for n in cluster.nodes if n.says is not msgspec.UNSET),
        *_pods(cluster, state),
        *cluster.others,
    )


def _pods(cluster: ShownCluster, state: State | None) -> tuple[str, ...]:
    truth = (
        state.views.get(cluster.pictures[0].placed) if state is not None and cluster.pictures else None
    ) or {}
    lines = []
    for pod in cluster.pods:
        facts = truth.get(pod.name, {})
        where = "is pending"
        if facts.get("exists") is False:
            where = "does not exist yet"
        elif facts.get("node") is not None:
            where = f"runs on {facts['node']}"
        lines.append(
            f"Pod {pod.name} asks for {asks_words(cluster, pod) or NOTHING}, has priority {pod.priority} and {where}."
            + ("" if pod.says is msgspec.UNSET else f" It {listed(pod.says)}.")
        )
    return tuple(lines)


def _disagreement(finding: Finding, states: list[State]) -> tuple[str, ...]:
    if not states or finding.memory is None or not finding.story:
        return ()
    last = finding.story[-1].number
    at_the_end = finding.lasso is not None or finding.no_way_back is not None
    state = states[-1] if at_the_end else states[-2]
    when = "At the end" if at_the_end else f"When step {last} was taken"
    lines = []
    for difference in disputed(finding.memory, state, finding.counterfactuals):
        lines.append(
            f"{when}, the views differed on {difference.subject}: {said(difference, finding.memory)}."
        )
        lines += _on_the_way(difference.subject, state)
    return tuple(lines)


def disputed(memory: Memory, state: State, ways: Sequence[ShownCounterfactual]) -> list[ViewDifference]:
    """The differences in a state; where a counterfactual would have closed some, those alone."""
    found = differences(memory, state)
    cells = {cell.variable: (view.name, cell.subject) for view in memory.views for cell in view.cells}
    closed = {
        cells[change.variable][1]
        for way in ways
        for step in way.steps
        for change in step.changes
        if change.variable in cells
    }
    return [d for d in found if d.subject in closed] or found


def _on_the_way(subject: str, state: State) -> list[str]:
    lines = []
    for channel, events in state.channels.items():
        readers = dict.fromkeys(r for e in events if e.subject == subject for r in e.waits_for)
        if readers:
            lines.append(f"The {channel}'s event for {subject} had not reached {listed(list(readers))} yet.")
    return lines


def prevented(finding: Finding, way: ShownCounterfactual) -> str:
    """What one counterfactual would have been, and what it would have stopped."""
    stopped = finding.story[way.stops - 1]
    told = " ".join(step.sentence for step in way.steps)
    return (
        f"The {way.steps[0].actor} could have acted before step {way.before}: {told} "
        f"After that, step {way.stops}, {stopped.call}, would have been impossible."
    )
