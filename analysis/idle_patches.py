"""Patches that make no difference to what is asked: a verdict on such a scheduler is one on the scheduler without them.

`podrace verify` refuses a change that makes none anywhere (`compare/inquiry.py`); here each verdict says so of itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..checker.reduction.questions import explored_slice
from ..checker.trace.fingerprint import fingerprint
from ..model.history import Composition, Patch
from ..model.language import TransitionSystem
from .asked.patches import with_patches
from .asked.plan import Run
from .systems import traced


def idle_patches(run: Run, system: TransitionSystem) -> tuple[str, ...]:
    """A note for each patch of the run without which its system, or what of it the property can see, is the same."""
    return tuple(_notes(run, system))


def _notes(run: Run, system: TransitionSystem) -> Iterator[str]:
    whole = part = None
    for patch in run.composition.patches:
        without = traced(replace(run, composition=left_out(run.composition, patch)))
        whole = whole or fingerprint(system)
        where = f"{run.scenario.name} on {run.composition.release}"
        if fingerprint(without) == whole:
            yield f"{patch.name} changes nothing in {where}: the scheduler is the same without it"
            continue
        if run.scenario.open:
            continue  # which variables a property sees may depend on the numbers
        part = part or fingerprint(explored_slice(system, run.property))
        if fingerprint(explored_slice(without, run.property)) == part:
            yield f"{patch.name} changes nothing that decides {run.property} in {where}: the verdict is the same without it"


def left_out(composition: Composition, patch: Patch) -> Composition:
    """The same scheduler without one of its patches."""
    others = [other for other in composition.patches if other is not patch]
    return with_patches(replace(composition, patches=()), others)
