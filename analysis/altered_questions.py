"""Patches that change what is asked, or where it begins: a verdict with such a patch answers another question than one without it."""

from collections.abc import Sequence
from dataclasses import replace

from ..base.problems import Terminated
from ..base.structs import Data
from ..base.text import listed
from ..model.environment.objects import ClusterSpec
from ..model.history import Composition, Patch
from ..properties import Property
from ..properties.base.questions import Alteration, alteration
from .request.own_code import theirs
from .request.plan import Run

SHOWN = 3
"""So many variables are named."""


class Altered(Data):
    """What patches do to a question. `alters`: what of it they alter, where a HOLDS cannot be compared with the one without them."""

    alters: str = ""
    notes: tuple[str, ...] = ()


def altered(run: Run) -> Altered:
    """What is to be said of the question of a run."""
    return altered_by(run.composition, run.scenario.spec, run.prop)


def with_question_noted(run: Run) -> Run:
    """The same run, which says of itself whether its patches change the question."""
    notes = altered(run).notes
    return replace(run, composition=run.composition.noted(notes)) if notes else run


def altered_by(composition: Composition, spec: ClusterSpec, prop: type[Property]) -> Altered:
    """The same of any cluster. A patch that cannot be built says nothing here: whoever traces it refuses it."""
    patches = composition.patches
    whole = _alteration(composition, patches, spec, prop) if patches else None
    if whole is None:
        return Altered()
    alone = {}
    if len(patches) > 1 and whole != Alteration():
        alone = {patch.name: _alteration(composition, (patch,), spec, prop) for patch in patches}

    def those_which(what: str, verb: str) -> str:
        names = [name for name, found in alone.items() if found is not None and getattr(found, what)]
        names = names or [patch.name for patch in patches]
        return f"{listed(names)} {verb}{'s' if len(names) == 1 else ''}"

    notes = []
    alters = f"what {prop.id} asks" if whole.is_another else ""
    if whole.tested_by_another:
        alters = f"what shows that {prop.id} was tested"
        notes.append(
            f"{those_which('tested_by_another', 'alter')} {alters}, as its witnesses read what is overridden there: a HOLDS may be vacuous unseen"
        )
    if whole.is_another:
        notes.append(
            f"{those_which('is_another', 'alter')} what {prop.id} asks, as the property reads what is overridden there: "
            "the verdict answers another question than without that"
        )
    elif whole.extended_by:
        notes.append(
            f"{those_which('extended_by', 'extend')} what {prop.id} asks by new state ({_listed(whole.extended_by)}): it is the same question "
            "while that is as at first"
        )
    if whole.begins:
        notes.append(
            f"{those_which('begins', 'change')} the initial state ({_listed(whole.begins)}): the verdict is about runs that begin there"
        )
    return Altered(alters, tuple(notes))


def _alteration(
    composition: Composition, patches: Sequence[Patch], spec: ClusterSpec, prop: type[Property]
) -> Alteration | None:
    without = replace(composition, patches=())
    try:
        with theirs():
            return alteration(spec, without.classes, without.patched(patches).classes, prop)
    except (Terminated, KeyboardInterrupt):
        raise
    except BaseException:  # code of the user's: it may raise anything
        return None


def _listed(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
