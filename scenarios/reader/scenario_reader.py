"""From a YAML file to a Scenario; every mistake is a Problem with file, line and path."""

from collections.abc import Mapping
from pathlib import Path

from ...base.text import one_line
from ..tables.file import FILE
from ..values.labels import read_name
from ..values.yaml_values import Value, parse_document, read_text
from .cluster_section import read_cluster
from .scenario import (
    Scenario,
    read_asked,
    read_expectations,
    read_feature_gates,
    read_ignored,
    read_race,
    read_silenced,
)


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
    fields = top.fields(FILE.names, "a scenario: a mapping with `nodes` and `pods`")
    spec = read_cluster(top, fields, read_name(fields["name"]) if "name" in fields else stem)
    lines = {name: value.line for name, value in fields.items()}
    properties = _names(fields, "properties", lines)
    also = _names(fields, "also", lines)
    expect = read_expectations(fields.get("expect"), lines)
    asks = read_asked(fields.get("ask"), lines)
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
        asks=asks,
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
    if name not in fields:
        return ()
    wanted = "a list of property identifiers"
    lines |= {value.path: value.line for value in fields[name].elements(wanted)}
    return tuple(
        fields[name].distinct(wanted, lambda value: value.text("a property identifier such as S-NOM"))
    )


__all__ = ["parse_scenario", "read_scenario"]
