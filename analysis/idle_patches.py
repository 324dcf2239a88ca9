"""Patches that make no difference to what is asked: a verdict on such a scheduler is one on the scheduler without them.

`podrace verify` refuses a change that makes none anywhere (`compare/inquiry.py`); here each verdict says so of itself.
"""

from collections.abc import Iterator
from dataclasses import replace

from ..base.problems import Problem
from ..checker.reduction.questions import explored_slice
from ..checker.trace.fingerprint import fingerprint
from ..model.history import Composition, Patch
from ..model.history.versions import exact
from ..model.language import TransitionSystem
from .request.patches import with_patches
from .request.plan import Run
from .systems import traced


def idle_patches(run: Run, system: TransitionSystem) -> tuple[str, ...]:
    """A note for each patch of the run without which its system, or what of it the property can see, is the same.

    Without all of them together, too: of two patches that do the same, one is idle.
    """
    return tuple(_notes(run, system))


def _notes(run: Run, system: TransitionSystem) -> Iterator[str]:
    composition = run.composition
    where = f"{run.scenario.name} on {exact(composition.release)}"
    whole = part = None
    for patch in composition.patches:
        fewer = left_out(composition, patch)
        try:
            without = traced(replace(run, composition=fewer))
        except Problem:  # nobody asked for this one, and another patch needs what is left out
            continue
        whole, other = whole or fingerprint(system), fingerprint(without)
        if other == whole:
            composition = fewer
            yield f"{patch.name} changes nothing in {where}: the scheduler is the same without it"
            continue
        if run.scenario.open:
            continue  # which variables a property sees may depend on the numbers
        part = part or fingerprint(explored_slice(system, run.property))
        if fingerprint(explored_slice(without, run.property)) == part:
            composition, whole = fewer, other
            yield f"{patch.name} changes nothing that decides {run.property} in {where}: the verdict is the same without it"


def left_out(composition: Composition, patch: Patch) -> Composition:
    """The same scheduler without one of its patches."""
    others = [other for other in composition.patches if other is not patch]
    return with_patches(replace(composition, patches=()), others)
