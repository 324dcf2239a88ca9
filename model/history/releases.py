"""Releases: which changes each lacks, and what a release with fixes put in or taken out consists of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...base.structs import Data
from ..language import Component
from . import changes as _registered  # noqa: F401
from .registry.change import CHANGES, Change
from .registry.other_numbers import key_of
from .versions import PATCH_VERSIONS, PRE_RELEASES, RELEASE_ORDER, canonical, exact, version_of
from .versions.gates import Gate, find_gate, refuse_setting
from .versions.unknown import UnknownName


class Patch(Data):
    """A proposed change: classes that belong to no release. `source` is how the user names it, `name` how reports do.

    `option` is the option that names it, if one does.
    """

    name: str
    source: str
    classes: tuple[type[Component], ...]
    option: str = ""

    @property
    def place(self) -> str:
        """How mistakes in it are introduced: `--patch: mine.py`."""
        return f"{self.option}: {self.source}" if self.option else self.source


class Composition(Data):
    """A release with fixes put in or taken out.

    `classes` go to `build_cluster`; `missing` are the changes that they undo, oldest first. `patches` are put on top.
    `notes` are sentences for the user about requests that change nothing. `gates` are the feature gates that are set away from
    what they are in the release; the changes behind them are in `missing`, or are not, accordingly.
    """

    release: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    missing: tuple[Change, ...]
    notes: tuple[str, ...]
    patches: tuple[Patch, ...] = ()
    gates: tuple[tuple[str, bool], ...] = ()

    @property
    def classes(self) -> tuple[type[Component], ...]:
        """The classes to build with. Oldest first: where two override one method, the older behaviour wins, and a patch over
        all.
        """
        patched = tuple(cls for patch in self.patches for cls in patch.classes)
        return (*patched, *(cls for change in self.missing for cls in change.classes))

    @property
    def flush_takes_minutes(self) -> bool:
        """Whether a pod is flushed minutes after it was parked. Up to 1.23 it was flushed after one minute (108761), and a call may take as long."""
        return version_of(self.release) >= version_of("1.24")

    @property
    def label(self) -> str:
        """For example `1.13.0 + 72259`, or `1.34.0 SchedulerAsyncPreemption=false`."""
        added = (*self.added, *(patch.name for patch in self.patches))
        changes = "".join(f" + {k}" for k in added) + "".join(f" - {k}" for k in self.removed)
        return exact(self.release) + gate_words(self.gates) + changes

    def patched(self, patches: Sequence[Patch]) -> Composition:
        """The same with these patches on top, the first of them uppermost."""
        return replace(self, patches=(*patches, *self.patches))

    def noted(self, notes: Sequence[str]) -> Composition:
        """The same with further notes."""
        return replace(self, notes=(*self.notes, *notes))


def find_change(name: str) -> Change:
    """A change by its key, or by another number that it has; raises UnknownName."""
    key = key_of(name)
    if key not in CHANGES:
        raise UnknownName("fix", name, sorted(CHANGES))
    return CHANGES[key]


def gate_words(settings: Iterable[tuple[str, bool]]) -> str:
    """What a label says of gates after the release."""
    return "".join(f" {name}={str(on).lower()}" for name, on in settings)


def resolve(
    release: str,
    with_fixes: Sequence[str] = (),
    without_fixes: Sequence[str] = (),
    gates: Mapping[str, bool] | None = None,
) -> Composition:
    """The composition for a release, with these fixes put in and those taken out, and with feature gates set.

    A release is one of RELEASE_ORDER, PATCH_VERSIONS or PRE_RELEASES; 1.34.0 is 1.34. Raises UnknownName for a release, fix or gate that the model does not
    have, GateProblem for a gate that cannot be set so, ValueError for a fix that is both asked for and asked to be taken out.
    """
    known = canonical(release)
    if known is None:
        raise UnknownName("release", release, (*RELEASE_ORDER, *PATCH_VERSIONS, *PRE_RELEASES))
    release = known
    wanted = [find_change(name) for name in with_fixes]
    unwanted = [find_change(name) for name in without_fixes]
    settings = {
        name: on for name, on in sorted((gates or {}).items()) if _is_set(find_gate(name), on, release)
    }

    def is_on(gate: str) -> bool:
        return settings.get(gate, find_gate(gate).is_on(release))

    def exists(change: Change) -> bool:
        """Whether what a change is about is there."""
        return not change.within or any(map(is_on, change.within))

    for change in wanted:
        if change in unwanted:
            raise ValueError(f"fix {change.key} cannot be put in and taken out at once")
        if not exists(change):
            raise ValueError(f"fix {change.key} needs the gate {change.within[-1]}, which is off")
        if settings.get(change.gate) is change.gate_off:
            raise ValueError(
                f"fix {change.key} is behind the gate {change.gate}, which is set to {str(change.gate_off).lower()}"
            )

    def has(change: Change) -> bool:
        """Whether the release has a change, with the gates as they are set."""
        if not exists(change):
            return True
        if change.gate in settings:
            return settings[change.gate] != change.gate_off and change.is_behind_gate_in(release)
        if change.gate_off:
            return not find_gate(change.gate).is_on(release)
        return change.is_in(release)

    notes = [f"{exact(release)} already has {c.key}" for c in wanted if has(c)]
    notes += [f"{exact(release)} does not have {c.key}" for c in unwanted if not has(c)]
    notes += [
        f"without {c.key} nothing changes: the gate {c.within[-1]} is off" for c in unwanted if not exists(c)
    ]
    added = tuple(dict.fromkeys(c.key for c in wanted if not has(c)))
    removed = tuple(dict.fromkeys(c.key for c in unwanted if has(c) and exists(c)))
    missing = tuple(c for c in CHANGES.values() if (not has(c) and c.key not in added) or c.key in removed)
    return Composition(release, added, removed, missing, tuple(notes), gates=tuple(settings.items()))


def _is_set(gate: Gate, on: bool, release: str) -> bool:
    """Whether this sets a gate away from what it is in a release. Raises GateProblem if it cannot be set so."""
    behind = [c for c in CHANGES.values() if c.gate == gate.name and c.is_behind_gate_in(release)]
    refuse_setting(gate, on, release, is_modelled=bool(behind))
    return on != gate.is_on(release)
