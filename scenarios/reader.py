"""From a YAML file to a Scenario; every mistake is a ScenarioError with file, line and path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from ..model.environment.objects import ClusterSpec, Node, Pod, Term
from .document import Value, parse_document, read_document
from .errors import ScenarioError, known_names
from .quantity import MAX_CORES, parse_cpu, show_cpu, unit_of
from .scenario import Race, Residual, Scenario
from .scope import read_scope

MAX_ENTITIES = 16
MAX_GRACE = 1 << 31
# PriorityClass values: users may go up to a billion, the system classes use two.
MIN_PRIORITY, MAX_PRIORITY = -(1 << 31), 2_000_001_000

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?", re.ASCII)
_NAME_WORDS = "a name of at most 63 lower-case letters, digits, `-` and `.`"
_TOP = ("name", "title", "race", "release", "properties", "also", "nodes", "pods", "scope")
_NODE = ("cpu", "labels", "exists")
_POD = (
    "cpu", "priority", "labels", "nodeName", "exists", "terminationGracePeriodSeconds", "podAffinity",
    "podAntiAffinity",
)  # fmt: skip


def read_scenario(path: Path, shown: str | None = None) -> Scenario:
    """The scenario in a file; `shown` is how messages name the file."""
    return _scenario(read_document(path, shown), path.stem)


def parse_scenario(text: str, file: str = "scenario.yaml") -> Scenario:
    """The scenario in a text; `file` is how messages name it."""
    return _scenario(parse_document(text, file), Path(file).stem)


def _scenario(top: Value, stem: str) -> Scenario:
    fields = top.fields(_TOP, "a scenario: a mapping with `nodes` and `pods`")
    spec = _cluster(top, fields, _text(fields, "name") or stem)
    if "name" in fields and not _NAME.fullmatch(spec.name):
        fields["name"].expect(_NAME_WORDS)
    lines = {name: value.line for name, value in fields.items()}
    properties = _names(fields, "properties", lines)
    also = _names(fields, "also", lines)
    return Scenario(
        name=spec.name,
        title=_text(fields, "title"),
        file=top.file,
        spec=spec,
        race=_race(fields["race"]) if "race" in fields else None,
        release=fields["release"].scalar('a release such as "1.13"') if "release" in fields else None,
        properties=properties,
        also=also,
        lines=lines,
    )


def _text(fields: Mapping[str, Value], name: str) -> str:
    if name not in fields:
        return ""
    written = fields[name].scalar("a text")
    if not written.isprintable() or len(written) > 200:
        fields[name].fail("expected one line of at most 200 printable characters")
    return written


def _names(fields: Mapping[str, Value], name: str, lines: dict[str, int]) -> tuple[str, ...]:
    found: list[str] = []
    for value in fields[name].elements("a list of property identifiers") if name in fields else []:
        identifier = value.text("a property identifier such as S-NOM")
        if identifier in found:
            value.fail(f"{value.described} is listed twice: remove one of them")
        found.append(identifier)
        lines[value.path] = value.line
    return tuple(found)


def _race(value: Value) -> Race:
    fields = value.fields(("issue", "fixes", "seed", "residual"), "a mapping with `issue` and `fixes`")
    for needed in ("issue", "fixes"):
        if needed not in fields:
            value.fail(f"`{needed}` is missing: give the number(s) in kubernetes/kubernetes")
    seed = fields["seed"].boolean() if "seed" in fields else False
    residual = _residual(fields["residual"]) if "residual" in fields else None
    return Race(fields["issue"].integer(1, 10_000_000), _changes(fields["fixes"]), seed, residual)


def _changes(value: Value) -> tuple[str, ...]:
    keys = [f.scalar("the key of an upstream change") for f in value.elements("a list of upstream changes")]
    if not keys:
        value.fail("the list is empty: name the upstream change that fixes the race")
    return tuple(keys)


def _residual(value: Value) -> Residual:
    fields = value.fields(("property", "closed_by"), "a mapping with `property` and `closed_by`")
    for needed in ("property", "closed_by"):
        if needed not in fields:
            value.fail(f"`{needed}` is missing: name the property that still fails and what closes it")
    return Residual(
        fields["property"].text("a property identifier such as S-NOM"), _changes(fields["closed_by"])
    )


# --- cluster ---------------------------------------------------------------------------------------------


def _cluster(top: Value, fields: Mapping[str, Value], name: str) -> ClusterSpec:
    nodes = _members(top, fields, "nodes", _NODE)
    pods = _members(top, fields, "pods", _POD)
    node_cpu = {n: _cpu(v, f, "allocatable") for n, (v, f) in nodes.items()}
    pod_cpu = {n: _cpu(v, f, "requested") for n, (v, f) in pods.items()}
    unit = unit_of([*node_cpu.values(), *pod_cpu.values()])
    made_nodes = {
        n: Node(i, n, int(node_cpu[n] * unit), _labels(f), _exists(f))
        for i, (n, (_, f)) in enumerate(nodes.items())
    }
    made_pods = tuple(
        _pod(i, n, int(pod_cpu[n] * unit), f, made_nodes) for i, (n, (_, f)) in enumerate(pods.items())
    )
    _refuse_oversize(pods, pod_cpu, node_cpu)
    _refuse_overcommitted(nodes, made_pods, pod_cpu, node_cpu)
    absent = {
        "pod_creations": [n for n, (_, f) in pods.items() if not _exists(f)],
        "node_creations": [n for n, (_, f) in nodes.items() if not _exists(f)],
    }
    return ClusterSpec(name, made_pods, tuple(made_nodes.values()), read_scope(fields.get("scope"), absent))


def _members(
    top: Value, fields: Mapping[str, Value], kind: str, known: tuple[str, ...]
) -> dict[str, tuple[Value, dict[str, Value]]]:
    wanted = f"a mapping from names to {kind}"
    if kind not in fields:
        top.fail(f"the cluster has no {kind}: add at least one under `{kind}`")
    members = {}
    for key, value in fields[kind].items(wanted):
        if not _NAME.fullmatch(key.node.value):
            key.expect(_NAME_WORDS)
        members[key.node.value] = (value, value.fields(known, f"a mapping with {', '.join(known)}"))
    if not members:
        fields[kind].fail(f"the cluster has no {kind}: add at least one")
    if len(members) > MAX_ENTITIES:
        fields[kind].fail(
            f"{len(members)} {kind} are more than an exhaustive search can cover: at most {MAX_ENTITIES}"
        )
    return members


def _cpu(owner: Value, fields: Mapping[str, Value], what: str) -> Fraction:
    if "cpu" not in fields:
        owner.fail(f"`cpu` is missing: give the {what} CPU, such as 2 or 500m")
    wanted = f"a CPU quantity from 0 to {MAX_CORES} such as 2, 0.5 or 500m"
    cores = parse_cpu(fields["cpu"].scalar(wanted))
    if cores is None:
        fields["cpu"].expect(wanted)
    return cores


def _exists(fields: Mapping[str, Value]) -> bool:
    return fields["exists"].boolean() if "exists" in fields else True


def _labels(fields: Mapping[str, Value], name: str = "labels") -> dict[str, str]:
    if name not in fields:
        return {}
    pairs = fields[name].items("a mapping from label keys to label values")
    return {key.node.value: value.text("a label value") for key, value in pairs}


def _pod(index: int, name: str, cpu: int, fields: Mapping[str, Value], nodes: Mapping[str, Node]) -> Pod:
    exists = _exists(fields)
    node = None
    if "nodeName" in fields:
        wanted = fields["nodeName"].scalar("the name of a node")
        if wanted not in nodes:
            fields["nodeName"].fail(
                f"there is no node {fields['nodeName'].described}; {known_names(wanted, nodes)}"
            )
        if not exists:
            fields["nodeName"].fail(
                "a pod that does not exist yet cannot be bound: remove `nodeName` or `exists: false`"
            )
        node = nodes[wanted]
    grace = fields.get("terminationGracePeriodSeconds")
    priority = fields.get("priority")
    return Pod(
        index,
        name,
        cpu,
        priority.integer(MIN_PRIORITY, MAX_PRIORITY) if priority else 0,
        labels=_labels(fields),
        terms=[
            *_terms(fields.get("podAffinity"), anti=False),
            *_terms(fields.get("podAntiAffinity"), anti=True),
        ],
        node=node,
        exists=exists,
        graceful=grace.integer(0, MAX_GRACE) > 0 if grace else True,
    )


def _terms(value: Value | None, anti: bool) -> list[Term]:
    if value is None:
        return []
    found = []
    kinds = ("required", "preferred")
    for kind, terms in value.fields(kinds, "a mapping with `required` or `preferred`").items():
        for term in terms.elements("a list of terms with `matchLabels` and `topologyKey`"):
            fields = term.fields(
                ("matchLabels", "topologyKey"), "a term with `matchLabels` and `topologyKey`"
            )
            for needed in ("matchLabels", "topologyKey"):
                if needed not in fields:
                    term.fail(f"`{needed}` is missing: a term needs `matchLabels` and `topologyKey`")
            key = fields["topologyKey"].text("a node label such as kubernetes.io/hostname")
            found.append(Term(_labels(fields, "matchLabels"), key, kind == "required", anti))
    return found


def _refuse_oversize(
    pods: Mapping[str, tuple[Value, dict[str, Value]]],
    pod_cpu: Mapping[str, Fraction],
    node_cpu: Mapping[str, Fraction],
) -> None:
    largest = max(node_cpu, key=lambda n: node_cpu[n])
    for name, (_, fields) in pods.items():
        if pod_cpu[name] > node_cpu[largest]:
            fields["cpu"].fail(
                f"the pod requests {show_cpu(pod_cpu[name])}, but the largest node, {largest}, has "
                f"{show_cpu(node_cpu[largest])}: lower the request or enlarge a node"
            )


def _refuse_overcommitted(
    nodes: Mapping[str, tuple[Value, dict[str, Value]]],
    pods: tuple[Pod, ...],
    pod_cpu: Mapping[str, Fraction],
    node_cpu: Mapping[str, Fraction],
) -> None:
    for name, (value, _) in nodes.items():
        bound = [p.name for p in pods if p.node is not None and p.node.name == name]
        used = sum((pod_cpu[p] for p in bound), Fraction(0))
        if used > node_cpu[name]:
            value.fail(
                f"the pods bound to the node ({', '.join(bound)}) request {show_cpu(used)}, but it has "
                f"{show_cpu(node_cpu[name])}: lower a request, enlarge the node, or unbind a pod"
            )


__all__ = ["ScenarioError", "parse_scenario", "read_scenario"]
