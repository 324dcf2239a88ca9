"""The section `scope`, whose bounds are the rows of the model's Scope.

Faults can be aimed: `pod_deletions: {count: 1, pods: [a]}` strikes a and nobody else, where a plain number strikes any pod.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ....base.text import known_names, one_line
from ....model.environment.cluster.scope import BOUNDS, MAX_COUNT, Scope
from ...tables.kinds import list_of, one_of
from ...values.yaml_values import Value
from .draft import Draft

SCOPE_FIELDS = tuple(BOUNDS)

Aims = tuple[tuple[str, str, tuple[str, ...]], ...]
"""Which objects a kind of fault strikes: the bound, the section of the file that has them, and their names."""


def read_scope_section(draft: Draft) -> None:
    """The scope of a file."""
    draft.scope = read_scope(draft.sections.get("scope"), draft.absent, draft.there, draft.named)


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
            values[name], aimed = _read_aimed(name, value, named)
            aims += aimed
            if bound.brings:
                _refuse_missed(name, value, aimed, absent.get(name, ()), bound.brings[1])
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


def _read_aimed(name: str, value: Value, named: Mapping[str, Collection[str]] | None) -> tuple[int, Aims]:
    """How often this kind of fault may happen, and which objects it strikes. `named` has the objects of the file; None if it has no file."""
    sections = BOUNDS[name].strikes
    if not sections:
        value.fail(f"{name.replace('_', ' ')} strike no object that could be named: write a number")
    if named is None:
        value.fail("there is no object yet that could be named: write a number")
    fields = value.fields(("count", *sections), f"a number, or a mapping such as {_example(sections)}")
    aims = tuple(
        (name, section, _read_names(fields[section], section, named[section]))
        for section in sections
        if section in fields
    )
    if not aims:
        value.fail(
            f"it names nothing to strike: add {_example(sections, count=False)}, or write the number alone"
        )
    count = fields.get("count")
    number = (
        min(sum(len(names) for *_, names in aims), MAX_COUNT)
        if count is None
        else count.integer(1, MAX_COUNT)
    )
    return number, aims


def _refuse_missed(name: str, value: Value, aims: Aims, absent: Sequence[str], instead: str) -> None:
    """Refuse aims that leave out what can come about only by this kind of fault, or name what cannot: `absent` are the objects, or their updates."""
    struck = [(section, one) for _, section, names in aims for one in names]

    def is_of(thing: str, one: str) -> bool:
        return thing == one or (name.endswith("_updates") and thing.startswith(f"{one}."))

    missed = [thing for thing in absent if not any(is_of(thing, one) for _, one in struck)]
    if missed:
        value.fail(f"{', '.join(missed)} could never appear: name it, too, or remove {instead}")
    for section, one in struck if name != "node_creations" else ():  # a node may also come back
        if not any(is_of(thing, one) for thing in absent):
            value.fail(f"{section}: {one} has no {instead}: give it one, or leave it out")


def _read_names(value: Value, section: str, known: Collection[str]) -> tuple[str, ...]:
    found: list[str] = []
    for element in value.elements(f"a list of names of {section}"):
        name = element.scalar(f"the name of one of the {section}")
        if name not in known:
            element.fail(
                f"there is none of the name `{one_line(name)}` in `{section}`; {known_names(name, known)}"
            )
        if name in found:
            element.fail(f"{one_line(name)} is named twice: remove one")
        found.append(name)
    if not found:
        value.fail("an empty list strikes nobody: name at least one, or write a number for any")
    return tuple(found)


def _example(sections: Sequence[str], *, count: bool = True) -> str:
    named = f"{sections[0]}: [a]"
    return f"{{count: 1, {named}}}" if count else f"`{named}`"
