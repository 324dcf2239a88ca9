"""Faults that are aimed: `pod_deletions: {count: 1, pods: [a]}` strikes a and nobody else, where a plain number strikes any pod."""

from collections.abc import Collection, Mapping, Sequence

from ....base.text import known_names, one_line
from ....model.environment.cluster.scope import BOUNDS
from ...values.yaml_values import Value

Aims = tuple[tuple[str, str, tuple[str, ...]], ...]
"""Which objects a kind of fault strikes: the bound, the section of the file that has them, and their names."""


def read_aimed(
    name: str, value: Value, named: Mapping[str, Collection[str]] | None, most: int
) -> tuple[int, Aims]:
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
    number = min(sum(len(names) for *_, names in aims), most) if count is None else count.integer(1, most)
    return number, aims


def refuse_missed(name: str, value: Value, aims: Aims, absent: Sequence[str], instead: str) -> None:
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
