"""The `race` section: the upstream race that a scenario shows."""

from __future__ import annotations

from .document import Value
from .scenario import Race, Residual

RACE_FIELDS = ("issue", "fixes", "beside", "seed", "residual")
RESIDUAL_FIELDS = ("property", "closed_by")


def read_race(value: Value) -> Race:
    """A race: its issue, its fixes, what they leave open."""
    fields = value.fields(RACE_FIELDS, "a mapping with `issue` and `fixes`")
    for needed in ("issue", "fixes"):
        if needed not in fields:
            value.fail(f"`{needed}` is missing: give the number(s) in kubernetes/kubernetes")
    seed = fields["seed"].boolean() if "seed" in fields else False
    residual = _residual(fields["residual"]) if "residual" in fields else None
    beside = _changes(fields["beside"]) if "beside" in fields else ()
    return Race(fields["issue"].integer(1, 10_000_000), _changes(fields["fixes"]), beside, seed, residual)


def _changes(value: Value) -> tuple[str, ...]:
    keys = [f.scalar("the key of an upstream change") for f in value.elements("a list of upstream changes")]
    if not keys:
        value.fail("the list is empty: name the upstream change that fixes the race")
    return tuple(keys)


def _residual(value: Value) -> Residual:
    fields = value.fields(RESIDUAL_FIELDS, "a mapping with `property` and `closed_by`")
    for needed in RESIDUAL_FIELDS:
        if needed not in fields:
            value.fail(f"`{needed}` is missing: name the property that still fails and what closes it")
    return Residual(
        fields["property"].text("a property identifier such as S-NOM"), _changes(fields["closed_by"])
    )
