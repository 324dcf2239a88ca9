"""The section `scope`, whose bounds are the rows of the model's Scope."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ....model.environment.cluster.scope import BOUNDS, MAX_COUNT, Scope
from ...tables.kinds import list_of, one_of
from ...values.yaml_values import Value
from .aimed_faults import Aims, read_aimed, refuse_missed

SCOPE_FIELDS = tuple(BOUNDS)


def read_scope(
    section: Value | None,
    absent: Mapping[str, Sequence[str]],
    there: Collection[str] = (),
    named: Mapping[str, Collection[str]] | None = None,
) -> Scope:
    """The scope that a scenario gives; what it leaves out keeps the model's default.

    `absent` names, by the count that lets them appear, what does not exist at the start. Such a count is by
    default just large enough for all of them, and 0 is refused. `there` is what bounds may need: the sections of the file, and the extension points that
    some pod has. `named` are the objects that faults can be aimed at, by their sections; None where there are none yet.
    """
    given = section.fields(SCOPE_FIELDS, "a mapping of bounds") if section is not None else {}
    for _, value in section.items("a mapping of bounds") if section is not None else ():
        if value.is_null:
            value.fail("nothing stands after the colon: give a value, or remove the field")
    values: dict[str, Any] = {}
    aims: Aims = ()
    for name, value in given.items():
        bound = BOUNDS[name]
        if bound.several:
            values[name] = tuple(
                dict.fromkeys(list_of("list", one_of(bound.choices, "an actor")).read(value))
            )
        elif bound.choices:
            values[name] = value.one_of(bound.choices, "a scale of time")
        elif bound.least is None:
            values[name] = value.boolean()
        elif value.is_mapping and not bound.least:
            values[name], aimed = read_aimed(name, value, named, MAX_COUNT)
            aims += aimed
            if bound.brings:
                refuse_missed(name, value, aimed, absent.get(name, ()), bound.brings[1])
        else:
            values[name] = value.integer(bound.least, MAX_COUNT)
    for name, entities in absent.items():
        if entities and name not in values:
            values[name] = min(len(entities), MAX_COUNT)
    scope = Scope(**values, aims=tuple(sorted(aims, key=lambda aim: SCOPE_FIELDS.index(aim[0]))))
    on = {*there, scope.time, *(name for name in BOUNDS if getattr(scope, name))}
    for name, value in given.items():
        _refuse(name, value, on, absent.get(name, ()))
    return scope


def _refuse(name: str, value: Value, on: Collection[str], absent: Sequence[str]) -> None:
    """Refuse a bound without what it needs, or with what it excludes: `on` is all that is on, or there."""
    bound = BOUNDS[name]
    if bound.brings and absent and name not in on:
        value.fail(f"{', '.join(absent)} could never appear: allow at least 1, or remove {bound.brings[1]}")
    if name not in on:
        return
    if bound.brings and name.endswith("_updates") and not absent:
        what = name.partition("_")[0]
        value.fail(f"no {what} has anything to be updated to: give one `updates`, or remove the bound")
    for names, problem in bound.needs:
        if not any(other in on for other in names.split()):
            value.fail(problem.format(name))
    for names, problem in bound.excludes:
        if any(other in on for other in names.split()):
            value.fail(problem.format(name))
