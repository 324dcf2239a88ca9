"""From a YAML file to a Scenario; every mistake is a Problem with file, line and path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...base.text import one_line
from .cluster_section import (
    CLUSTER_FIELDS,
    NODE_FIELDS,
    VERSION_FIELDS,
    read_cluster,
)
from .scenario import (
    EXPECT_FIELDS,
    RACE_FIELDS,
    RESIDUAL_FIELDS,
    VERDICT_FIELDS,
    Scenario,
    read_expectations,
    read_feature_gates,
    read_ignored,
    read_race,
    read_silenced,
)
from .sections.budget_section import BUDGET_FIELDS
from .sections.claim_section import CLAIM_FIELDS, DEVICE_CLASS_FIELDS, DEVICE_FIELDS, TEMPLATE_FIELDS
from .sections.config_section import CONFIG_FIELDS
from .sections.controller_section import CONTROLLER_FIELDS, STRATEGIES, STRATEGY_FIELDS
from .sections.extender_section import EXTENDER_FIELDS
from .sections.gate_section import GATE_FIELDS, KEEPER_FIELDS
from .sections.group_section import GROUP_FIELDS
from .sections.pod_section import NAMESPACE_FIELDS, POD_FIELDS, POD_VERSION_FIELDS
from .sections.scope_section import SCOPE_FIELDS
from .sections.volume_section import CLASS_FIELDS, VOLUME_CLAIM_FIELDS, VOLUME_FIELDS
from .values.directives import (
    AFFINITY_FIELDS,
    NODE_AFFINITY_FIELDS,
    NODE_SELECTOR_FIELDS,
    NODE_TERM_FIELDS,
    PREFERRED_FIELDS,
    SPREAD_FIELDS,
    TAINT_FIELDS,
    TOLERATION_FIELDS,
)
from .values.host_ports import PORT_FIELDS
from .values.labels import REQUIREMENT_FIELDS, SELECTOR_FIELDS, read_name
from .values.yaml_values import Value, parse_document, read_text

TOP_FIELDS = (
    "name", "title", "race", "release", "featureGates", "properties", "also", "expect", "ignore", *CLUSTER_FIELDS,
)  # fmt: skip

VOCABULARY: Mapping[str, tuple[str, ...]] = {
    "The file": TOP_FIELDS,
    "`nodes`": NODE_FIELDS,
    "`updates` of a node": VERSION_FIELDS,
    "`taints`": TAINT_FIELDS,
    "`pods`": POD_FIELDS,
    "`hostPorts`": PORT_FIELDS,
    "`updates` of a pod": POD_VERSION_FIELDS,
    "`schedulingGates`": GATE_FIELDS,
    "`tolerations`": TOLERATION_FIELDS,
    "`nodeAffinity`": NODE_AFFINITY_FIELDS,
    "Node selectors": NODE_SELECTOR_FIELDS,
    "Node selector terms": NODE_TERM_FIELDS,
    "`topologySpreadConstraints`": SPREAD_FIELDS,
    "`podAffinity` and `podAntiAffinity`": AFFINITY_FIELDS,
    "Pod affinity terms": PREFERRED_FIELDS,
    "Label selectors": SELECTOR_FIELDS,
    "Requirements": REQUIREMENT_FIELDS,
    "`namespaces`": NAMESPACE_FIELDS,
    "`podDisruptionBudgets`": BUDGET_FIELDS,
    "`devices`": DEVICE_FIELDS,
    "`resourceClaims`": CLAIM_FIELDS,
    "`resourceClaimTemplates`": TEMPLATE_FIELDS,
    "`deviceClasses`": DEVICE_CLASS_FIELDS,
    "`storageClasses`": CLASS_FIELDS,
    "`volumes`": VOLUME_FIELDS,
    "`volumeClaims`": VOLUME_CLAIM_FIELDS,
    "`podGroups`": GROUP_FIELDS,
    "`controllers`": CONTROLLER_FIELDS,
    "`descheduler`": STRATEGIES,
    "Plugins of the descheduler": STRATEGY_FIELDS,
    "`gateKeepers`": KEEPER_FIELDS,
    "`extender`": EXTENDER_FIELDS,
    "`config`": CONFIG_FIELDS,
    "`scope`": SCOPE_FIELDS,
    "`expect`": EXPECT_FIELDS,
    "`verdicts`": VERDICT_FIELDS,
    "`race`": RACE_FIELDS,
    "`residual`": RESIDUAL_FIELDS,
}
"""Every field that the reader knows, by the heading in docs/scenarios.md under which it is explained."""


def read_scenario(path: Path, shown: str | None = None) -> Scenario:
    """The scenario in a file; `shown` is how messages name the file."""
    file = one_line(shown or str(path), 200)
    return _scenario(read_text(path, file), file, path.stem)


def parse_scenario(text: str, file: str = "scenario.yaml") -> Scenario:
    """The scenario in a text; `file` is how messages name it."""
    return _scenario(text, file, Path(file).stem)


def _scenario(text: str, file: str, stem: str) -> Scenario:
    top = parse_document(text, file)
    _refuse_kubernetes_objects(top)
    fields = top.fields(TOP_FIELDS, "a scenario: a mapping with `nodes` and `pods`")
    spec = read_cluster(top, fields, read_name(fields["name"]) if "name" in fields else stem)
    lines = {name: value.line for name, value in fields.items()}
    properties = _names(fields, "properties", lines)
    also = _names(fields, "also", lines)
    expect = read_expectations(fields.get("expect"), lines)
    ignore = read_ignored(fields.get("ignore"), lines)
    silenced = read_silenced(fields["pods"], lines)
    gates = read_feature_gates(fields.get("featureGates"), lines)
    for kind in ("nodes", "pods"):
        lines |= {key.path: key.line for key, _ in fields[kind].items("a mapping")}
    return Scenario(
        name=spec.name,
        title=_title(fields.get("title")),
        file=top.file,
        spec=spec,
        race=read_race(fields["race"]) if "race" in fields else None,
        release=fields["release"].scalar('a release such as "1.13"') if "release" in fields else None,
        properties=properties,
        also=also,
        expect=expect,
        ignore=ignore,
        silenced=silenced,
        lines=lines,
        text=text,
        feature_gates=gates,
    )


def _refuse_kubernetes_objects(top: Value) -> None:
    for key, _ in top.items("a scenario: a mapping with `nodes` and `pods`"):
        if key.node.value == "apiVersion":
            top.fail(
                "this is a Kubernetes object, not a scenario: `podrace check -f FILE` reads objects, and with --write-scenario "
                "it writes a scenario of them"
            )


def _title(value: Value | None) -> str:
    if value is None:
        return ""
    written = value.scalar("a text")
    if not written.isprintable() or len(written) > 200:
        value.fail("expected one line of at most 200 printable characters")
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


__all__ = ["VOCABULARY", "parse_scenario", "read_scenario"]
