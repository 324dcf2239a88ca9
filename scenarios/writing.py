"""A cluster as a scenario file. Every file that podrace writes of a cluster is made here, and read back before anybody gets it."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from ..base.problems import Problem
from ..base.text import one_line
from ..model.environment.objects import ClusterSpec
from .reader.scenario_reader import parse_scenario
from .writer.sameness import difference
from .writer.sections import sections_of

PER_LINE = ("scope", "config", "extender", "descheduler")
"""The sections that do not map names to objects: each is one line."""


class Unwritable(ValueError):
    """A cluster that no scenario file says: the file that comes nearest is another cluster, or none. The message says where it differs."""


def scenario_text(
    spec: ClusterSpec,
    *,
    name: str,
    title: str,
    release: str | None,
    properties: Sequence[str],
    comment: str = "",
    gates: Sequence[tuple[str, bool]] = (),
) -> str:
    """The text of a scenario with this cluster, scope, release and these gates, which reads back as exactly that.

    Amounts are as the file of the cluster wrote them. Of a cluster without a file, a size of s means s cores, s GiB of memory, or s of any
    other resource. Raises Unwritable for a cluster that would read back as another one.
    """
    lines = [f"# {one_line(line, len(line))}" for line in comment.splitlines()]
    lines += [
        f"name: {name}",
        f"title: {_flow(title)}",
        *([] if release is None else [f'release: "{release}"']),
        *([f"featureGates: {_flow(dict(gates))}"] if gates else ()),
        f"properties: {_flow(list(properties))}",
    ]
    for section, told in sections_of(spec).items():
        if section in PER_LINE:
            lines.append(f"{section}: {_flow(told)}")
        else:
            lines += [f"{section}:", *(f"  {_flow(key)}: {_flow(value)}" for key, value in told.items())]
    text = "\n".join(lines) + "\n"
    _read_back(text, spec, release, properties, dict(gates))
    return text


class PlainDumper(yaml.SafeDumper):
    """Writes equal parts again instead of an alias, which a scenario may not have."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _flow(value: Any) -> str:
    """A value on one line."""
    text: str = yaml.dump(
        value, Dumper=PlainDumper, sort_keys=False, default_flow_style=True, width=1 << 30, allow_unicode=True
    )
    return text.removesuffix("\n").removesuffix("\n...")


def _read_back(
    text: str, spec: ClusterSpec, release: str | None, properties: Sequence[str], gates: Mapping[str, bool]
) -> None:
    """Read what was written, and compare all of it."""
    try:
        found = parse_scenario(text, "written")
    except Problem as error:
        raise Unwritable(f"no scenario file can say this cluster: {error}") from None
    differs = difference(spec, found.spec)
    said = (found.release, found.properties, dict(found.feature_gates))
    if not differs and said != (release, tuple(properties), dict(gates)):
        differs = "release, properties and gates"
    if differs:
        raise Unwritable(f"no scenario file can say this cluster: it would be read with other {differs}")
