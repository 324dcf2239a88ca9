"""Scenario rows: what `expected` or `steps` say, read as a test: pods that come one after the other, and claims on what becomes of them.

Such a row has no fixed fields: what a field claims is told by the words of its name (`preemptor_nominated`, `never_bound`,
`pending_scheduled: false`), and whom it is about by its value, or by those words again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from podrace.base.text import one_line
from tests.conformance.cases.cases import REMARKS, Case, NotCovered, NotTranslated
from tests.conformance.cases.preemption_plugins import switches_of_preemption
from tests.conformance.cases.read_fields import refuse_unread
from tests.conformance.cases.shapes import POD
from tests.conformance.preemption.scenario_words import (
    BOUND,
    CREATE,
    EXPECT,
    NO,
    OPPOSITE,
    OTHERS,
    UNBOUND,
    Fate,
    fate_of,
    refuse_order,
    words,
)

MOST_PODS = 1000


@dataclass(frozen=True, slots=True)
class Claim:
    """What becomes of a pod, on a node if one is named, once the first `after` batches of pods were made."""

    pod: str
    fate: Fate
    node: str | None = None
    after: int = 0

    def __str__(self) -> str:
        return f"{self.pod} {self.fate.value}" + (f" ({self.node})" if self.node else "")


@dataclass
class Plot:
    """A scenario row as a test. `groups` are the pods by the field that names them; `batches` come one after the other, each when
    what was claimed before it is so.
    """

    pods: dict[str, Case] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    batches: list[list[str]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    nodes: tuple[str, ...] = ()
    preemptor: str | None = None

    def add(self, group: str, facts: Case) -> str:
        """Another pod; of one name there is one."""
        name = facts.get("name")
        if not isinstance(name, str) or not name:
            raise NotTranslated(f"a pod of {group} has no name")
        if name in self.pods and self.pods[name] != facts:
            raise NotTranslated(f"two pods are called {name}")
        self.pods[name] = facts
        members = self.groups.setdefault(group, [])
        if name not in members:
            members.append(name)
        return name

    @property
    def made(self) -> set[str]:
        """The pods that come later."""
        return {name for batch in self.batches for name in batch}


# --- pods --------------------------------------------------------------------------------------------------


def _is_pod(value: Any) -> bool:
    return isinstance(value, Mapping) and ("requests" in value or ("name" in value and "priority" in value))


def pods_in(at: str, value: Any) -> list[Case] | None:
    """The pods of a field: one, a list, an object by key, or some with a `count`; None if it is about something else."""
    if _is_pod(value):
        POD(at, value)
        number = value.get("count")
        if number is None:
            return [value]
        if not isinstance(number, int) or not 0 < number <= MOST_PODS:
            raise NotTranslated(f"{at}.count is {number!r}, not a number of pods up to {MOST_PODS}")
        stem = value.get("name") or at
        plain = {name: said for name, said in value.items() if name != "count"}
        return [{**plain, "name": f"{stem}-{i}", "uid": f"{stem}-{i}"} for i in range(number)]
    if isinstance(value, Mapping) and "count" in value:
        inner = next((value[name] for name in ("pod", "template") if _is_pod(value.get(name))), None)
        return None if inner is None else pods_in(at, {**inner, "count": value["count"]})
    entries = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(entries, list) or not entries or not all(map(_is_pod, entries)):
        return None
    return [pod for index, entry in enumerate(entries) for pod in pods_in(f"{at}[{index}]", entry) or ()]


_READ = {
    "id", "source", "applies_to", "notes", "filters", "pdbs", "namespaces", "integration", "extenders", "eligibility_hook", "args",
    "parallelism", "filteredNodeStatuses", "repetitions", "repeat", "rounds", "timeout_s",
}  # fmt: skip
"""Fields of a scenario row without pods: what the player reads, and how often upstream repeats the test."""


def read_plot(case: Case) -> Plot:
    """The test that a scenario row describes. Raises NotTranslated for what it says in other words."""
    plot = Plot(nodes=tuple(node["name"] for node in case.get("nodes") or ()))
    switches = switches_of_preemption(case)
    for name, value in case.items():
        if name in ("steps", "expected", "nodes", "cycles"):
            continue
        pods = pods_in(name, value)
        if pods is None and name not in switches:
            refuse_unread("", {name: value}, _READ)
        for facts in pods or ():
            made = plot.add(name, facts)
            if name == "preemptor":
                plot.preemptor = made
    expected, steps = case.get("expected"), case.get("steps")
    if steps is not None:
        if not isinstance(steps, list):
            raise NotTranslated("steps is no list")
        for number, step in enumerate(steps, 1):
            _step(plot, f"step {number}", step)
    if expected is not None:
        _claims(plot, "expected", "", expected, ())
    if not plot.claims:
        raise NotTranslated("a scenario that expects nothing of any pod")
    return plot


# --- steps -------------------------------------------------------------------------------------------------

_VERBS = ("op", "action", "do", "kind", "type")


def _step(plot: Plot, where: str, said: Any) -> None:
    if isinstance(said, str):
        _sentence(plot, where, said)
        return
    if not isinstance(said, Mapping):
        raise NotTranslated(f"{where} is neither a sentence nor an object")
    verb = next((said[name] for name in _VERBS if isinstance(said.get(name), str)), "")
    rest = {name: value for name, value in said.items() if name not in (*_VERBS, *REMARKS, "step")}
    refuse_order(where, words(verb))
    creates = bool(set(words(verb)) & CREATE)
    batch = _creation(plot, where, verb, rest)
    if creates and not batch:
        raise NotTranslated(f"{where} creates no pod")
    if batch:
        plot.batches.append(batch)
    if batch and not rest:
        return
    if verb and not creates:
        subjects = [p for name in ("pod", "pods") for p in _names(plot, where, rest.pop(name, None))]
        node = rest.pop("node", None) or None
        claimed = fate_of([word for word in words(verb) if word not in EXPECT])
        if claimed is Fate.NOMINATED and "node" in said and node is None:
            claimed = OPPOSITE[claimed]
        if claimed is not None:
            about = subjects or batch or _about(plot, verb, claimed, True, ())
            if not about and not rest:
                raise NotTranslated(f"{where} does not say of which pod")
            for name in rest:
                other = fate_of(words(name))
                if not about and other not in (None, claimed):
                    raise NotTranslated(
                        f"{where} says that a pod {claimed.value}, and `{name}` that it {other.value}: name pods with `pods`"
                    )
            for pod in about:
                _claim(plot, where, pod, claimed, node)
            if rest:
                _claims(plot, where, "", rest, subjects)
            return
        if not set(words(verb)) & EXPECT:
            raise NotTranslated(f"{where}: there is no operation {verb}")
        _claims(plot, where, "", {**rest, **({"node": node} if node else {})}, subjects)
        return
    subject = rest.pop("pod", rest.pop("pods", None))
    subjects = _names(plot, where, subject) or batch or [p for p in (plot.preemptor,) if p]
    _claims(plot, where, "", rest, subjects)


def _creation(plot: Plot, where: str, verb: str, rest: dict[str, Any]) -> list[str]:
    """The pods that a step creates; their fields are taken out of the rest."""
    creates, batch = bool(set(words(verb)) & CREATE), list[str]()
    for name, value in list(rest.items()):
        said = set(words(name)) & CREATE or (creates and name in ("pod", "pods"))
        if said or (not verb and _is_new(plot, name, value)):
            made = _named_or_new(plot, f"{where}.{name}", name, value)
            batch += made
            del rest[name]
            if name == "preemptor" and made:
                plot.preemptor = made[-1]
    return batch


def _is_new(plot: Plot, name: str, value: Any) -> bool:
    """Whether a field that claims nothing has the facts of pods that nobody has created yet."""
    said = [word for word in words(name) if word != "schedule"]
    if set(said) & EXPECT or fate_of(said) is not None:
        return False
    there = {pod for pod, facts in plot.pods.items() if facts.get("nodeName")} | plot.made
    return any(facts.get("name") not in there for facts in pods_in(name, value) or ())


def _named_or_new(plot: Plot, where: str, group: str, value: Any) -> list[str]:
    new = pods_in(where, value)
    if new is not None:
        return [plot.add(group, facts) for facts in new]
    return _names(plot, where, value)


def _mentioned(names: Iterable[str], said: str) -> list[str]:
    """Those of the names that a sentence has."""
    return [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said)]


def _sentence(plot: Plot, where: str, said: str) -> None:
    """A step in words: it names pods, and creates them or claims something of them.

    Of several claims (`high is nominated and low is evicted`) one that names nobody is about the pods of the one before.
    """
    subjects: list[str] = []
    for part in _parts(_PAUSES.split(said)):
        for clause in _parts(_CONJUNCTIONS.split(part)):
            subjects = _clause(plot, where, clause, subjects)


_PAUSES = re.compile(r"[,;]")
_CONJUNCTIONS = re.compile(r"\b(?:and|but|while)\b")


def _parts(pieces: Sequence[str]) -> list[str]:
    """The parts of a sentence that create or claim something; a piece that does neither (`high and low are evicted`) belongs to the next one, or to the last."""
    found: list[str] = []
    begun = ""
    for piece in pieces:
        begun = f"{begun} {piece}".strip()
        if fate_of(words(begun)) is not None or set(words(begun)) & CREATE:
            found.append(begun)
            begun = ""
    return [*found[:-1], f"{found[-1]} {begun}".strip()] if found else [begun]


def _clause(plot: Plot, where: str, said: str, subjects: list[str]) -> list[str]:
    named = _mentioned(plot.pods, said)
    left = said
    for name in named:
        left = left.replace(name, " ")
    named = named or _spoken_of(plot, words(left)) or subjects
    refuse_order(where, words(left))
    claimed, spoken = fate_of(words(left)), set(words(left))
    node = next(iter(_mentioned(plot.nodes, said)), None)
    if not named or not (claimed or spoken & CREATE):
        raise NotTranslated(f"{where}: nobody can play the sentence `{said}`")
    if spoken & CREATE:
        plot.batches.append(named)
    if claimed is not None:
        for pod in named:
            _claim(plot, where, pod, claimed, node)
    return named


# --- claims ------------------------------------------------------------------------------------------------


def _claims(plot: Plot, where: str, name: str, said: Any, subjects: Sequence[str]) -> None:
    """What a field claims, of the pods that it names, or of these."""
    if isinstance(said, Mapping):
        if name and not said:
            raise NotTranslated(f"{where} names no pods")
        if fate_of(words(name)) and isinstance(said.get("pod"), str) and "pod" not in plot.pods:
            own, rest = _names(plot, where, said["pod"]), {k: v for k, v in said.items() if k != "pod"}
            node = rest.pop("node", True)
            if node in (None, "") and fate_of(words(name)) not in (Fate.NOMINATED, Fate.BOUND):
                raise NotTranslated(f"{where}: no node, of what is not so anyway")
            _claims(plot, where, name, node, own)
            _claims(plot, where, "", rest, own)
            return
        for key, value in said.items():
            if key in REMARKS or key.startswith("note"):
                continue
            if key not in plot.pods:
                refuse_order(f"{where}.{key}", [word for word in words(key) if word != "then"])
            if key in plot.pods or (fate_of(words(key)) is None and _spoken_of(plot, words(key))):
                own = [key] if key in plot.pods else _spoken_of(plot, words(key))
                _claims(plot, f"{where}.{key}", name, value, own)
            else:
                _claims(plot, f"{where}.{key}", f"{name} {key}", value, subjects)
        return
    if name.split()[-1:] == ["node"] and fate_of(words(name)) is None:
        raise NotTranslated(f"{where}: what is expected of the node is not said")
    fate = fate_of(words(name))
    if fate is None:
        _by_value(plot, where, said, subjects)
        return
    about = _about(plot, name, fate, said, subjects)
    for pod, node, so in _told(plot, where, said, about):
        if fate is Fate.CLEARED and not so:
            raise NotTranslated(f"{where}: nobody compares whether a nomination is kept")
        _claim(plot, where, pod, fate if so else OPPOSITE[fate], node)


def _about(plot: Plot, name: str, fate: Fate, said: Any, subjects: Sequence[str]) -> Sequence[str]:
    """Whom a claim is about that names no pod: who is spoken of; of nominations the preemptor; and if nobody is evicted, all that run."""
    spoken = _spoken_of(plot, words(name))
    if fate is Fate.EVICTED and said == []:
        return spoken or [pod for pod, facts in plot.pods.items() if facts.get("nodeName")]
    if subjects or spoken:
        return subjects or spoken
    nominates = fate in (Fate.NOMINATED, Fate.NEVER_NOMINATED) and not isinstance(said, list)
    return [plot.preemptor] if nominates and plot.preemptor else ()


def _by_value(plot: Plot, where: str, said: Any, subjects: Sequence[str]) -> None:
    """The value says in words what is claimed: `bound`, or a list of sentences."""
    if isinstance(said, str):
        fate = fate_of(words(said)) if subjects and not _mentioned(plot.pods, said) else None
        if fate is None:
            _sentence(plot, where, said)
            return
        refuse_order(where, words(said))
        for pod in subjects:
            _claim(plot, where, pod, fate, None)
    elif isinstance(said, list) and said:
        for index, entry in enumerate(said):
            if isinstance(entry, Mapping):
                entry = dict(entry)
                own = _names(plot, where, entry.pop("pod", None) or entry.pop("pods", None))
                _claims(plot, f"{where}[{index}]", "", entry, own or subjects)
            else:
                _by_value(plot, f"{where}[{index}]", entry, subjects)
    else:
        raise NotTranslated(f"{where}: nobody compares it")


def _told(plot: Plot, where: str, said: Any, about: Sequence[str]) -> Iterator[tuple[str, str | None, bool]]:
    """Each pod that a value names, its node if it says one, and whether the claim is so."""
    if said is None or isinstance(said, bool) or said in (0, "") or said in plot.nodes:
        if not about:
            raise NotTranslated(f"{where} does not say of which pod")
        for pod in about:
            yield pod, said if isinstance(said, str) and said else None, bool(said)
    elif isinstance(said, str):
        for pod in _names(plot, where, said):
            yield pod, None, True
    elif isinstance(said, list) and all(isinstance(entry, str) for entry in said):
        if not said and not about:
            raise NotTranslated(f"{where} does not say of which pod")
        for pod in about if not said else ():
            yield pod, None, False
        for entry in said:
            for pod in _names(plot, where, entry):
                yield pod, None, True
    else:
        raise NotTranslated(f"{where} names no pods")


def _names(plot: Plot, where: str, said: Any) -> list[str]:
    """The pods that a name, or each of a list, stands for: a pod, a key, or a group."""
    if said is None:
        return []
    if isinstance(said, list):
        return [pod for entry in said for pod in _names(plot, where, entry)]
    if isinstance(said, Mapping) and said.get("name") in plot.pods:
        return [said["name"]]
    if not isinstance(said, str):
        raise NotTranslated(f"{where}: {one_line(repr(said), 40)} is no name of a pod")
    if said in plot.pods:
        return [said]
    found = plot.groups.get(said) or _spoken_of(plot, words(said))
    if not found:
        raise NotTranslated(f"{where}: there is no pod {said}")
    return list(found)


def _spoken_of(plot: Plot, said: Sequence[str]) -> list[str]:
    """The pods of the group whose name has the first of these words that any has, or if several have it, has fewest others;
    `others` are all that wait but the preemptor.
    """
    spoken = (
        set(said)
        - NO
        - BOUND
        - {"pods", "pod", "all", "node", "be", "is", "are", "must", "the", "to", "on", "expect", "priority"}
    )
    groups = {group: set(words(group)) - {"pods", "pod", "priority"} for group in plot.groups}
    for word in said:
        named = [group for group, own in groups.items() if word in own & spoken]
        if named:
            return list(plot.groups[min(named, key=lambda group: len(groups[group]))])
    if spoken & OTHERS or spoken & UNBOUND:
        waiting = [p for p, facts in plot.pods.items() if not facts.get("nodeName")]
        return [p for p in waiting if p != plot.preemptor]
    if spoken & {"running", "existing", "initial"}:
        return [p for p, facts in plot.pods.items() if facts.get("nodeName")]
    return []


def _claim(plot: Plot, where: str, pod: str, fate: Fate, node: Any) -> None:
    if node is not None and node not in plot.nodes:
        raise NotTranslated(f"{where}: there is no node {node}")
    if pod not in plot.pods:
        raise NotTranslated(f"{where}: there is no pod {pod}")
    if fate is Fate.NEVER_NOMINATED and _was(plot, pod, Fate.NOMINATED):
        fate = Fate.CLEARED  # to be so no more means to lose it
    if fate is Fate.NOMINATED and _was(plot, pod, Fate.NEVER_NOMINATED):
        raise NotCovered(f"{where}: {pod} is not nominated, and then it is, which is an order")
    plot.claims.append(Claim(pod, fate, node, len(plot.batches)))


def _was(plot: Plot, pod: str, fate: Fate) -> bool:
    """Whether the row has claimed that of the pod."""
    return any(claim.pod == pod and claim.fate is fate for claim in plot.claims)
