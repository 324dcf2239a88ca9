"""What came out for clusters of a template, as journals keep it."""

from __future__ import annotations

import msgspec


class ClusterOutcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came out for one cluster. `trace` has the labels of a shortest counterexample, `steps` their steps.

    Of a liveness, the steps after `turn` repeat for ever, as `case` says.
    """

    values: tuple[int, ...]
    verdict: str
    states: int
    transitions: int
    depth: int
    trace: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    turn: int | None = None
    case: str = ""


class BatchOutcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came out for the clusters of a task: also which constraints any of them hit, which witnesses and steps any reached.

    `distinct` is how many states differ. With `short_of_memory`, some of them might have been decided with more.
    """

    clusters: tuple[ClusterOutcome, ...]
    constraints: tuple[str, ...]
    witnesses: tuple[str, ...]
    fired: tuple[str, ...]
    distinct: int = 0
    short_of_memory: bool = False


class NoOutcome(ValueError):
    """What is said to have come out cannot have: one phrase that says why."""
