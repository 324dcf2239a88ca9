"""What `podrace check` is about: scenarios, Kubernetes objects or systems of the user's own, and the options of each."""

from collections.abc import Mapping, Sequence

import typer

from ....base.problems import UsageProblem
from ...configuration.app import given

NOT_IN_FILES = {
    "--with-fix": "with_fix", "--without-fix": "without_fix", "--gate": "gate", "--patch": "patch", "--properties": "own", "--fair-flush": "fair_flush", "--time": "time",
    "--slow": "slow",
}  # fmt: skip
"""Options that change what is checked, and that `--write-scenario` does not write down."""

BASELINES = {"--baseline": "baseline", "--write-baseline": "write_baseline"}
SCENARIOS = {
    **BASELINES,
    "-f": "filename", "--release": "release", "--with-fix": "with_fix", "--without-fix": "without_fix", "--gate": "gate",
    "--properties": "own", "--patch": "patch", "--fair-flush": "fair_flush", "--time": "time", "--slow": "slow", "--graph": "graph", "--save-trace": "save_trace",
    "--report": "report", "--timings": "timings",
}  # fmt: skip
OBJECTS = {
    "-R": "recursive", "--strict": "strict", "--pods": "pods", "--nodes": "nodes", "--focus": "focus", "--drain": "drain", "--upgrade": "upgrade",
    "--controllers": "controllers", "--write-scenario": "write_scenario",
}  # fmt: skip
OWN_SYSTEMS = {"--size": "size", "--first": "first"}
"""The options that are for one subject alone, each with its parameter."""


def are_own_systems(names: Sequence[str]) -> bool:
    """Whether some name is that of a system of the user's own."""
    if not any(".py" in name for name in names):
        return False
    from ....analysis.own_systems import names_own_system

    return any(map(names_own_system, names))


def refuse_other_subjects(context: typer.Context) -> None:
    """Raises UsageProblem for options that are not about scenarios, or not about objects where there are some."""
    if given(context, OWN_SYSTEMS):
        raise UsageProblem(
            f"{_listed(OWN_SYSTEMS)} are for systems of your own: name one, such as mine.py:Table"
        )
    if not context.params["filename"] and (objects := given(context, OBJECTS)):
        raise UsageProblem(
            f"{objects[0]} is about the objects of a cluster: name them with -f, such as -f cluster.yaml"
        )


def _listed(options: Mapping[str, str]) -> str:
    *most, last = options
    return f"{', '.join(most)} and {last}"


BESIDE_UPGRADE = {
    "--with-fix": "with_fix", "--without-fix": "without_fix", "--patch": "patch", "--fair-flush": "fair_flush", "--time": "time", "--slow": "slow",
    "--on-code": "on_code", "--scheduler": "scheduler", "--affected": "affected", "--fail-on-vacuous": "fail_on_vacuous", "--graph": "graph", "--graph-kind": "graph_kind",
    "--save-trace": "save_trace", "--report": "report", "--timings": "timings", "--engine": "engine", **BASELINES,
}  # fmt: skip
"""Options of a check that a comparison of two versions does not have."""


def refuse_beside_upgrade(context: typer.Context) -> None:
    """Raises UsageProblem for options that say nothing of a comparison of two versions."""
    if left := given(context, BESIDE_UPGRADE):
        raise UsageProblem(f"--upgrade compares two versions of the scheduler: leave out {left[0]}")
