"""Upstream changes: each is known by what the scheduler did before it.

The model itself is the newest behaviour. A class marked with `@before` restores what one upstream change
replaced; a release is the model with the classes of every change that the release does not have.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from ....base.structs import Data
from ...language import Component, Expr, as_expr
from ...language.expressions.errors import ModelError
from ..versions import LATER, PRE_RELEASES, RELEASE_ORDER, Version, version_of

C = TypeVar("C", bound=type[Component])


class Change(Data):
    """One upstream change.

    `key` is the number of its pull request, or a name where the number is not known. `first_in` is the first version
    that has it, or LATER: a release stands for its first version. `backports` are patch versions of earlier releases: each has the
    change, and so have the later ones of the same release; `reverts` are those that took it back, each for the rest of its
    release. `classes` together restore the behaviour before it. A change that
    mends a regression names in `since` the first version that had the regression. `also_in` are earlier releases that
    had the change before it was taken back for a while; `until` is the first version for which it was taken back again.
    `gate` is the feature gate that it is behind (`gates.yaml`): a version has the change where the gate is on. Where the gate is set by hand, the
    change comes and goes with it; `gated_in` is the first version whose gate has it, unless that is the first version with the gate.
    `gate_off`: it is there while the gate is off, and what was before it while the gate is on. `within` are gates: the change exists
    only where one of them is on. `after` are the changes of the same version that were made before it: of two that override one method, the later must name the earlier one.
    """

    key: str
    title: str
    first_in: str
    issues: tuple[int, ...]
    classes: tuple[type[Component], ...]
    since: str = RELEASE_ORDER[0]
    also_in: tuple[str, ...] = ()
    until: str | None = None
    backports: tuple[str, ...] = ()
    reverts: tuple[str, ...] = ()
    gate: str = ""
    gated_in: str | None = None
    gate_off: bool = False
    within: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def is_in(self, release: str) -> bool:
        """Whether a version behaves as after the change."""
        at = version_of(release)
        if at.minor in self.also_in:
            return True
        taken_back = self.until is not None and at >= version_of(self.until)
        if taken_back or any(_carries(version_of(r), at) for r in self.reverts):
            return False
        carried = any(_carries(version_of(b), at) for b in self.backports)
        return carried or at >= version_of(self.first_in) or at < version_of(self.since)

    def is_behind_gate_in(self, release: str) -> bool:
        """Whether a version that has its gate has the change with it."""
        return self.gated_in is None or version_of(release) >= version_of(self.gated_in)

    @property
    def age(self) -> Version:
        """Its place among the changes: the first version that has it."""
        return version_of(self.first_in)

    @property
    def is_coming(self) -> bool:
        """Whether no release has it yet."""
        return self.first_in == LATER or self.first_in in PRE_RELEASES

    @property
    def where(self) -> str:
        """In which versions it is, in words."""
        if self.first_in == LATER:
            return "in no release yet"
        since = f", and before {self.since}" if self.since != RELEASE_ORDER[0] else ""
        until = f", until {self.until} reverted it" if self.until is not None else ""
        back = f"; backported to {', '.join(self.backports)}" if self.backports else ""
        taken = f"; reverted in {', '.join(self.reverts)}" if self.reverts else ""
        return f"in {self.first_in}{until or ' and later'}{since}{back}{taken}"

    @property
    def number(self) -> int | None:
        """The number of the pull request, if known."""
        return int(self.key) if self.key.isdigit() else None


def _carries(patch: Version, at: Version) -> bool:
    """Whether a version is this patch version, or a later one of the same release."""
    return at.release == patch.release and at.patch >= patch.patch


CHANGES: dict[str, Change] = {}
"""All changes by their keys, oldest first."""


def before(
    key: str,
    title: str,
    first_in: str,
    issues: tuple[int, ...] = (),
    since: str = RELEASE_ORDER[0],
    also_in: tuple[str, ...] = (),
    until: str | None = None,
    backports: tuple[str, ...] = (),
    reverts: tuple[str, ...] = (),
    gate: str = "",
    gated_in: str | None = None,
    gate_off: bool = False,
    within: tuple[str, ...] = (),
    after: tuple[str, ...] = (),
) -> Callable[[C], C]:
    """Register a class that restores the behaviour before a change; several classes may share a key."""

    def register(cls: C) -> C:
        known = CHANGES.get(key)
        classes: tuple[type[Component], ...] = (*known.classes, cls) if known else (cls,)
        CHANGES[key] = Change(
            key,
            title,
            first_in,
            issues,
            classes,
            since,
            also_in,
            until,
            backports,
            reverts,
            gate,
            gated_in,
            gate_off,
            within,
            (*known.after, *after) if known else after,
        )
        return cls

    return register


def always(*_: Any, **__: Any) -> Expr:
    """The answer yes to a question that the model asks a part, for all arguments: `may_preempt = always`."""
    return as_expr(True)


def never(*_: Any, **__: Any) -> Expr:
    """The answer no to such a question, for all arguments."""
    return as_expr(False)


def yes(*_: Any, **__: Any) -> bool:
    """As `always`, of what is known without a state."""
    return True


def no(*_: Any, **__: Any) -> bool:
    """As `never`."""
    return False


def in_order(registered: Iterable[Change]) -> list[Change]:
    """Changes by age; of one age, each behind those that it comes `after`, and by key. The order in which they are given does not count.

    Raises ModelError if two of one age override one method, and neither comes after the other.
    """
    changes = {change.key: change for change in registered}

    def earlier(change: Change) -> set[str]:
        return {*change.after, *(key for name in change.after for key in earlier(changes[name]))}

    def rank(change: Change) -> int:
        return max((1 + rank(changes[name]) for name in change.after), default=0)

    found = sorted(changes.values(), key=lambda c: (c.age, rank(c), c.key))
    beside: dict[tuple[Version, type], list[tuple[Change, type]]] = {}
    for other in found:
        for cls in other.classes:
            for root in (base for base in cls.__mro__ if Component in base.__bases__):
                group = beside.setdefault((other.age, root), [])
                for one, its in group:
                    if one is not other and one.key not in earlier(other):
                        _refuse_both(one, its, other, cls)
                group.append((other, cls))
    return [replace(c, classes=tuple(sorted(c.classes, key=lambda cls: cls.__module__))) for c in found]


def _refuse_both(one: Change, its: type, other: Change, cls: type) -> None:
    """Raises ModelError if two classes define one name, each in a class that the other does not derive from."""
    apart = [set(a.__mro__).difference(b.__mro__) for a, b in ((its, cls), (cls, its))]
    mine, theirs = ({n for c in classes for n in vars(c) if not n.startswith("__")} for classes in apart)
    for name in sorted(mine & theirs):
        part = next(base for base in cls.__mro__ if base in its.__mro__)
        raise ModelError(
            f"{one.key} and {other.key} are both new in {one.first_in} and override {part.__name__}.{name}: "
            "let the later one name the other in `after`",
            (inspect.getsourcefile(cls) or "", inspect.getsourcelines(cls)[1]),
        )
