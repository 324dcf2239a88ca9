"""From what a solver says to what may be shown: its values put in, its run executed by the reference interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...model.language import TransitionSystem
from ..core.exploration import Path
from ..core.result import EngineDisagreement
from ..parametric.parameters import quantities_of, with_quantities
from ..trace.trace import ReplayError, Trace, confirm


@dataclass(frozen=True, slots=True)
class Claim:
    """That with these quantities this run of a system ends in the first state that breaks the invariant."""

    quantities: Mapping[str, int]
    path: Path


def confirmed(system: TransitionSystem, claim: Claim, invariant: str) -> Trace:
    """Execute a claim on the system that its quantities give.

    Raises EngineDisagreement if it is not so: then either the translation, the solver or the interpreter is wrong.
    """
    chosen = {q.name: claim.quantities[q.name] for q in quantities_of(system)}
    try:
        return confirm(with_quantities(system, chosen), claim.path, invariant)
    except (ReplayError, ValueError) as error:
        raise EngineDisagreement(
            f"Z3 claims that `{invariant}` of {system.name} is violated after {len(claim.path)} steps with "
            f"{dict(claim.quantities)}, but the reference interpreter says: {error}"
        ) from error
