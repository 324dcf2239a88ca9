"""Releases: which changes each lacks, and what a release with fixes put in or taken out consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..language import Component
from .change import CHANGES, Change
from .versions import PATCH_VERSIONS, RELEASE_ORDER, canonical

# isort: off
# They register their changes. Of the changes of one release, those of an earlier module come first.
from . import cache_changes, event_handler_changes, filter_changes, nomination_changes, permit_changes  # noqa: F401
from . import preemption_changes, queue_changes, failure_changes, snapshot_changes, topology_changes  # noqa: F401
from . import binding_changes  # noqa: F401
# isort: on


@dataclass(frozen=True, slots=True)
class Patch:
    """A proposed change: classes that belong to no release. `source` is how the user names it, `name` how reports do."""

    name: str
    source: str
    classes: tuple[type[Component], ...]


class UnknownName(LookupError):
    """A release or a change that the model does not have; `known` lists those that it has."""

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        self.what, self.name, self.known = what, name, tuple(known)
        super().__init__(f"unknown {what} `{name}`; known: {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Composition:
    """A release with fixes put in or taken out.

    `classes` go to `build_cluster`; `missing` are the changes that they undo, oldest first. `patches` are put on top.
    `notes` are sentences for the user about requests that change nothing.
    """

    release: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    missing: tuple[Change, ...]
    notes: tuple[str, ...]
    patches: tuple[Patch, ...] = ()

    @property
    def classes(self) -> tuple[type[Component], ...]:
        """The classes to build with. Oldest first: where two override one method, the older behaviour wins, and a patch over
        all.
        """
        patched = tuple(cls for patch in self.patches for cls in patch.classes)
        return (*patched, *(cls for change in self.missing for cls in change.classes))

    @property
    def label(self) -> str:
        """For example `1.13 + 72259`."""
        added = (*self.added, *(patch.name for patch in self.patches))
        return self.release + "".join(f" + {k}" for k in added) + "".join(f" - {k}" for k in self.removed)

    def patched(self, patches: Sequence[Patch]) -> Composition:
        """The same with these patches on top, the first of them uppermost."""
        return replace(self, patches=(*patches, *self.patches))

    def noted(self, notes: Sequence[str]) -> Composition:
        """The same with further notes."""
        return replace(self, notes=(*self.notes, *notes))


def in_order() -> list[Change]:
    """All changes, oldest first."""
    return sorted(CHANGES.values(), key=lambda c: c.age)


def find_change(name: str) -> Change:
    """A change by its key; raises UnknownName."""
    if name not in CHANGES:
        raise UnknownName("fix", name, sorted(CHANGES))
    return CHANGES[name]


def resolve(release: str, with_fixes: Sequence[str] = (), without_fixes: Sequence[str] = ()) -> Composition:
    """The composition for a release, with these fixes put in and those taken out.

    A release is one of RELEASE_ORDER or PATCH_VERSIONS; 1.34.0 is 1.34. Raises UnknownName for a release or fix that the model does not have, ValueError for a fix that is both
    asked for and asked to be taken out.
    """
    known = canonical(release)
    if known is None:
        raise UnknownName("release", release, (*RELEASE_ORDER, *PATCH_VERSIONS))
    release = known
    wanted = [find_change(name) for name in with_fixes]
    unwanted = [find_change(name) for name in without_fixes]
    for change in wanted:
        if change in unwanted:
            raise ValueError(f"fix {change.key} cannot be put in and taken out at once")
    notes = [f"{release} already has {c.key}" for c in wanted if c.is_in(release)]
    notes += [f"{release} does not have {c.key}" for c in unwanted if not c.is_in(release)]
    added = tuple(dict.fromkeys(c.key for c in wanted if not c.is_in(release)))
    removed = tuple(dict.fromkeys(c.key for c in unwanted if c.is_in(release)))
    missing = tuple(
        c for c in in_order() if (not c.is_in(release) and c.key not in added) or c.key in removed
    )
    return Composition(release, added, removed, missing, tuple(notes))
