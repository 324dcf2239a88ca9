"""What came out for clusters of a template, as processes send it to one another."""

from collections.abc import Mapping

from ...base.structs import Data


class ClusterOutcome(Data):
    """What came out for one cluster. `trace` has the labels of a shortest counterexample, `steps` their steps."""

    values: tuple[int, ...]
    verdict: str
    states: int
    transitions: int
    depth: int
    trace: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


class BatchOutcome(Data):
    """What came out for the clusters of a task: also which constraints any of them hit, and which steps any took.

    `witnesses` says after how many steps, and in which cluster, each was reached; no run to them has been executed. `scales`: with
    scales of time. `possible` are the witnesses and the steps that the slice has, `parts` the steps of what was asked for, as `steps_of` gives them. `distinct` is how many states differ. With `short_of_memory`, some of them might have been decided with more.
    """

    clusters: tuple[ClusterOutcome, ...]
    constraints: tuple[str, ...]
    witnesses: Mapping[str, tuple[int, tuple[int, ...]]]
    fired: tuple[str, ...]
    scales: bool
    possible: tuple[tuple[str, ...], tuple[str, ...]]
    parts: dict[str, tuple[str, ...] | None]
    distinct: int
    short_of_memory: bool
