"""Patches of the user's own: subclasses of parts of the scheduler in a Python file, checked before anything is built."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType

from ...base.problems import UsageProblem
from ...base.text import known_names
from ...model.history import Composition, Patch
from ...model.language import Component
from ...model.language.declarations.component import combine
from ...patching import part_of
from ...properties import Property
from .option_files import split_option
from .own_modules import load_module
from .patch_checks import PARTS, PatchMistake, check_members, check_names, check_part, function_of

_ENVIRONMENT = "podrace.model.environment."
_IN_THE_SCHEDULER = tuple(f"{_ENVIRONMENT}{name}" for name in ("watch", "pod_groups"))
"""The modules of parts that stand for what the scheduler's own informers do."""


def patches_of(options: Sequence[str]) -> tuple[Patch, ...]:
    """The patches that `FILE[:CLASS]` name. Raises UsageProblem."""
    return tuple(read_patch(option, "--patch") for option in dict.fromkeys(options))


def read_patch(option: str, given_by: str = "") -> Patch:
    """The patch in a file: all classes in it, or the one that is named; `given_by` is the option that names it. Raises UsageProblem."""
    problem = partial(_mistake, f"{given_by}: " if given_by else "")
    path, name = split_option(option)
    module = load_module(path, problem)
    own = _classes_in(module)
    asking = _properties_in(own)
    found = {
        n: c for n, c in own.items() if not n.startswith("_") and issubclass(c, Component) and n not in asking
    }
    if name and name not in own:
        raise problem(path, f"there is no class `{name}` in it; {known_names(name, list(found))}")
    if asking and (name in asking or not (name or found)):
        raise problem(
            path, f"{name or asking[0]} is a property, and changes nothing: name it with --properties"
        )
    if name and name not in found:
        raise problem(path, f"{name} is no part of the scheduler: {_derive(own[name])}")
    if not found:
        hidden = next((n for n, c in own.items() if n.startswith("_") and issubclass(c, Component)), None)
        if hidden:
            raise problem(
                path,
                f"{hidden} is taken for a helper, as its name begins with `_`: name it {hidden.lstrip('_')}",
            )
        other = next(iter(own), None)
        what = f"{other} is no part of the scheduler" if other else "there is no class in it"
        raise problem(path, f"{what}: {_derive(own.get(other or '', object))}")
    chosen = [found[name]] if name else list(found.values())
    try:
        for cls in chosen:
            check_part(cls)
        check_names(list(own.values()))
        for cls in chosen:
            check_members(cls)
    except PatchMistake as mistake:
        where = f"line {mistake.line}: " if mistake.line else ""
        raise problem(path, f"{where}{mistake}") from None
    title = path.stem if len(chosen) > 1 or chosen[0].__name__ == "Patch" else chosen[0].__name__
    return Patch(title, option, tuple(chosen), given_by)


def with_patches(composition: Composition, patches: Sequence[Patch]) -> Composition:
    """The composition with patches on top, and a note for each that brings older behaviour along, that another may hide, or that
    changes what a verdict takes for granted.
    """
    made = composition.patched(patches)
    inside = set(composition.classes)
    notes = [
        f"{patch.name} derives from {base.__name__}, which {composition.label} does not have: it brings back what came before"
        for patch in patches
        for base in dict.fromkeys(b for cls in patch.classes for b in cls.__mro__)
        if base.__module__.startswith("podrace.model.history.")
        and base not in inside
        and not _inherited(base, inside)
    ]
    return made.noted([*notes, *_hidden(patches), *_assumptions(composition, patches), *_unasked(patches)])


def _classes_in(module: object) -> dict[str, type]:
    """The classes that a file itself defines."""
    name = getattr(module, "__name__", "")
    return {n: c for n, c in vars(module).items() if isinstance(c, type) and c.__module__ == name}


def _properties_in(classes: Mapping[str, type]) -> list[str]:
    """Of these the properties, which belong to no patch."""
    return [n for n, c in classes.items() if issubclass(c, Property)]


def _unasked(patches: Sequence[Patch]) -> Iterator[str]:
    """A file may define properties as well as a change: the note says that only an option makes podrace check them."""
    for patch in patches:
        module = sys.modules.get(patch.classes[0].__module__)
        if module is not None and not split_option(patch.source)[1]:
            if asking := _properties_in(_classes_in(module)):
                yield f"{patch.source} has properties, too ({', '.join(asking)}), which are checked only if --properties names the file"


def _hidden(patches: Sequence[Patch]) -> Iterator[str]:
    """Of methods that two patches override, or two classes of one file, the first counts: who reads the verdict must know."""
    before: list[tuple[Patch, type[Component]]] = []
    classes = [cls for patch in patches for cls in patch.classes]
    for patch in patches:
        for cls in patch.classes:
            own = {name for name, thing in vars(cls).items() if isinstance(thing, (FunctionType, property))}
            for first, other in before:
                both = sorted(own & vars(other).keys())
                related = issubclass(other, cls) or issubclass(cls, other)
                part = part_of(cls)
                if both and part is not None and part is part_of(other) and not related:
                    one, two = (p.name if first.name != patch.name else p.source for p in (first, patch))
                    if first is patch:
                        one, two = other.__name__, cls.__name__
                    order = _made(part, classes).__mro__
                    if order.index(cls) < order.index(other):  # a class stands before its own base
                        one, two = two, one
                    yield (
                        f"{one} and {two} both override {', '.join(both)}: that of {one} counts, and what "
                        f"{two} has there is reached only through its `super()`"
                    )
            before.append((patch, cls))


def _assumptions(composition: Composition, patches: Sequence[Patch]) -> Iterator[str]:
    """What a patch changes besides the scheduler: what runs around it, and which steps happen in the end.

    With either, a property may hold of a kinder world, which is no fix; who reads the verdict must know.
    """
    for patch in patches:
        around = [cls for cls in patch.classes if _is_around(cls)]
        for cls in around:
            part = part_of(cls)
            changed = ", ".join(n for n, thing in vars(cls).items() if function_of(thing) is not None)
            if part is not None and changed:
                yield f"{patch.name} changes what runs around the scheduler ({part.__name__}: {changed}): the verdict is about a cluster where that is so"
        for cls in patch.classes:
            part = part_of(cls)
            if part is not None and "observe" in vars(cls):
                yield f"{patch.name} acts at the end of every step, in any step ({part.__name__}: observe): the verdict is about a cluster where that is so"
        for part in dict.fromkeys(p for cls in patch.classes if (p := part_of(cls)) is not None):
            had = _fair_steps(part, composition.classes)
            has = _fair_steps(part, (*patch.classes, *composition.classes))
            for step, fair in has.items():
                if had.get(step, fair) == fair:
                    continue
                counted = "counts on" if fair else "no longer counts on"
                yield f"{patch.name} {counted} {part.__name__}.{step} to happen in the end (`fair={fair}`), unlike {composition.label}: say why that is so"


def _is_around(cls: type[Component]) -> bool:
    """Whether a class changes a part that is none of kube-scheduler's: the watches are its own informers."""
    part = part_of(cls)
    return (
        part is not None
        and part.__module__.startswith(_ENVIRONMENT)
        and part.__module__ not in _IN_THE_SCHEDULER
    )


def _fair_steps(part: type[Component], classes: Sequence[type[Component]]) -> dict[str, bool]:
    """The steps of a part as these classes make it, and whether each happens in the end if it stays possible."""
    return {
        name: thing.__podrace_step__.fair
        for base in reversed(_made(part, classes).__mro__)
        for name, thing in vars(base).items()
        if hasattr(thing, "__podrace_step__")
    }


def _made(part: type[Component], classes: Sequence[type[Component]]) -> type[Component]:
    """A part as these classes make it. Raises UsageProblem if they cannot stand in one order."""
    chosen = [cls for cls in classes if issubclass(cls, part)]
    try:
        return combine(part, chosen)
    except TypeError:
        own = [cls for cls in chosen if not cls.__module__.startswith("podrace.model.")]
        names = ", ".join(cls.__name__ for cls in own)
        raise UsageProblem(
            f"{names}: the bases of these classes have no common order: name them in the same order in each"
        ) from None


def _inherited(base: type, inside: set[type[Component]]) -> bool:
    return any(issubclass(cls, base) for cls in inside)


def _derive(cls: type) -> str:
    near = [
        name
        for name, part in PARTS.items()
        if any(b in part.__mro__[1:] for b in cls.__bases__ if b is not object)
    ]
    if near:
        return f"derive it from {near[0]}"
    return (
        "derive one from a part of the scheduler, such as PriorityQueue: `podrace new-patch --list` has all"
    )


def _mistake(given_by: str, path: Path, what: str) -> UsageProblem:
    return UsageProblem(f"{given_by}{' '.join(str(path).split())}: {what}")
