"""Which scenarios a change concerns most: they are compared first."""

from collections.abc import Iterable, Iterator, Sequence

from ...base.structs import Data
from ...model.history import CHANGES, Composition
from ...model.language import Component
from ...scenarios import Scenario
from ..request.patch_checks import PARTS


class Touched(Data):
    """What a change touches: its own key if it is one of upstream's, the methods that it replaces, and their parts of the scheduler."""

    keys: frozenset[str]
    methods: frozenset[tuple[type, str]]
    parts: frozenset[type]


def touched_by(before: Composition, after: Composition) -> Touched:
    """What two schedulers differ in."""
    differing = {change.key for change in before.missing} ^ {change.key for change in after.missing}
    patches = {*before.patches} ^ {*after.patches}
    classes = [*_classes_of(differing), *(cls for patch in patches for cls in patch.classes)]
    return _touched(frozenset(differing), classes)


def by_relevance(scenarios: Iterable[Scenario], touched: Touched) -> list[Scenario]:
    """The scenarios in this order, each group in the order given: races that the change fixes; races whose fix replaces a method that the
    change replaces; races whose fix changes a part that it changes; all others.
    """
    return sorted(scenarios, key=lambda scenario: _distance(scenario, touched))


def _distance(scenario: Scenario, touched: Touched) -> int:
    fixes = frozenset(() if scenario.race is None else scenario.race.fixes)
    theirs = _touched(fixes, list(_classes_of(fixes)))
    near = (fixes & touched.keys, theirs.methods & touched.methods, theirs.parts & touched.parts, True)
    return next(distance for distance, shared in enumerate(near) if shared)


def _classes_of(keys: Iterable[str]) -> Iterator[type[Component]]:
    return (cls for key in keys if key in CHANGES for cls in CHANGES[key].classes)


def _touched(keys: frozenset[str], classes: Sequence[type[Component]]) -> Touched:
    methods = {(home, name) for cls in classes for name in vars(cls) for home in _homes(cls, name)}
    parts = {part for cls in classes for part in PARTS.values() if issubclass(cls, part)}
    return Touched(keys, frozenset(methods), frozenset(parts))


def _homes(cls: type[Component], name: str) -> list[type]:
    """The class that first defined a member which this one replaces; none for one that is new in it, or that every part has."""
    if name.startswith("__") or hasattr(Component, name):
        return []
    return [base for base in cls.__mro__[1:] if name in vars(base)][-1:]
