"""The scope as options give it: NAME=VALUE, as in the `scope` section of a scenario."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.environment.objects import Scope
from ..scenarios import ScenarioError
from ..scenarios.reader.cluster_section import read_scope
from ..scenarios.reader.yaml_values import one_line, parse_document
from .options import UsageProblem


def parse_scope(settings: Sequence[str]) -> Scope:
    """The scope with these bounds; the others are as by default. Raises UsageProblem."""
    lines = []
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip() or "\n" in setting:
            raise UsageProblem(f"--scope: `{one_line(setting)}`: write NAME=VALUE, such as node_deletions=1")
        lines.append(f"{name.strip()}: {value.strip()}")
    if not lines:
        return Scope()
    try:
        return read_scope(parse_document("\n".join(lines) + "\n", "--scope"), {}, ())
    except ScenarioError as error:
        raise UsageProblem(str(error)) from None
