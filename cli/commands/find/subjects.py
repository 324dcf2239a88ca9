"""What `podrace check` is about: scenarios, Kubernetes objects or systems of the user's own, and the options of each."""

from collections.abc import Sequence

import typer

from ....base.problems import UsageProblem
from ...configuration.app import given

NOT_IN_FILES = ("with_fix", "without_fix", "gate", "patch", "own", "fair_flush", "time", "slow")
"""The parameters of the options that change what is checked, and that `--write-scenario` does not write down."""

BASELINES = ("baseline", "write_baseline")
SCENARIOS = (
    *BASELINES, "filename", "release", "with_fix", "without_fix", "gate", "own", "patch", "fair_flush", "time", "slow", "graph", "save_trace",
    "report", "timings",
)  # fmt: skip
OBJECTS = (
    "recursive",
    "strict",
    "pods",
    "nodes",
    "focus",
    "drain",
    "upgrade",
    "controllers",
    "write_scenario",
)
OWN_SYSTEMS = ("size", "first")
"""The parameters of the options that are for one subject alone."""

BESIDE_UPGRADE = (
    "with_fix", "without_fix", "patch", "fair_flush", "time", "slow", "on_code", "scheduler", "affected", "fail_on_vacuous", "graph", "graph_kind",
    "save_trace", "report", "timings", "engine", *BASELINES,
)  # fmt: skip
"""Those of a check that a comparison of two versions does not have."""


def are_own_systems(names: Sequence[str]) -> bool:
    """Whether some name is that of a system of the user's own."""
    if not any(".py" in name for name in names):
        return False
    from ....analysis.own_systems import names_own_system

    return any(map(names_own_system, names))


def refuse_other_subjects(context: typer.Context) -> None:
    """Raises UsageProblem for options that are not about scenarios, or not about objects where there are some."""
    if given(context, OWN_SYSTEMS):
        raise UsageProblem("--size and --first are for systems of your own: name one, such as mine.py:Table")
    if not context.params["filename"] and (objects := given(context, OBJECTS)):
        raise UsageProblem(
            f"{objects[0]} is about the objects of a cluster: name them with -f, such as -f cluster.yaml"
        )


def refuse_beside_upgrade(context: typer.Context) -> None:
    """Raises UsageProblem for options that say nothing of a comparison of two versions."""
    if left := given(context, BESIDE_UPGRADE):
        raise UsageProblem(f"--upgrade compares two versions of the scheduler: leave out {left[0]}")
