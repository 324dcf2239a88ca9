"""Which of upstream's functions a change touches, and which elements of the model stand for them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from ...analysis.upstream.drifted import Drift, drifts
from ...analysis.upstream.go_functions import Function, functions_of
from ...analysis.upstream.go_tokens import tokens_of
from ...analysis.upstream.likeness import hashes_of
from ...base.structs import Data
from ...model.history.trees import Hashes
from ...model.history.upstream import TYPE, is_left_out, is_value
from ...reports.verify.code_change import Touched
from ..modules.module import KUBERNETES, PACKAGES
from .renames import directives, renamed
from .texts import FileChange, FileDiff, is_elsewhere

SCHEDULER = "pkg/scheduler"

COMMAND = "cmd/kube-scheduler"
"""What makes kube-scheduler of it, and what no driver runs."""

DRIVEN = (
    *(p.removeprefix(f"{KUBERNETES}/") for p in PACKAGES if p.startswith(KUBERNETES)),
    f"{SCHEDULER}/testing",
)
"""The packages from which the driver is linked."""

_IMPORTED = re.compile(rf'"{KUBERNETES}/([^"]+)"')


class WhatChanged(Data):
    """What a change touches. `passed_over` are files that cannot matter, with why; `touched` are the functions of the others.

    `unjudged` are files of other modules, and those of the command kube-scheduler itself: the scheduler may be built of them, and nothing is said of them.
    `renamed` are the names that change, if that is all.
    """

    touched: tuple[Touched, ...]
    passed_over: tuple[tuple[str, str], ...]
    files: tuple[FileChange, ...] = ()
    unjudged: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def can_matter(self) -> bool:
        """Whether anything is compiled into the scheduler otherwise than before."""
        return bool(self.files)

    @property
    def elements(self) -> tuple[str, ...]:
        """The elements of the model that stand for what is touched."""
        return tuple(dict.fromkeys(element for one in self.touched for element in one.elements))

    @property
    def values(self) -> tuple[str, ...]:
        """The variables and constants of packages that differ: no run says what depends on them."""
        return tuple(one.place for one in self.touched if one.what == "changed" and is_value(one.place))


def not_compiled(diff: Sequence[FileDiff]) -> dict[str, str]:
    """The files of a diff that are no part of any program, with why."""
    return {one.path: _why_not_compiled(one.path) for one in diff if not (one.counts or one.is_elsewhere)}


def unjudged(diff: Sequence[FileDiff]) -> tuple[str, ...]:
    """Those that the scheduler may be built of, or by, and of which nothing is said."""
    return tuple(sorted(one.path for one in diff if one.is_elsewhere))


def _why_not_compiled(path: str) -> str:
    return (
        "a test" if path.endswith("_test.go") or "testdata" in PurePosixPath(path).parts else "no Go source"
    )


def what_changed(
    changes: Sequence[FileChange], base: Path, left_out: Mapping[str, str], elsewhere: Iterable[str] = ()
) -> WhatChanged:
    """The functions that these changes touch; `left_out` are files that are known not to matter. `base` is the tree before."""
    passed = dict(left_out)
    ours = linked(base, changes)
    command = linked(base, changes, (COMMAND,)) - ours
    kept = []
    others = set(elsewhere)
    for one in changes:
        why = _why_not(one, ours | command)
        if is_elsewhere(one.path) or (not why and _package(one.path) in command):
            others.add(one.path)
        elif why:
            passed[one.path] = why
        else:
            kept.append(one)
    return WhatChanged(
        tuple(touched_by(kept)),
        tuple(sorted(passed.items())),
        tuple(kept),
        tuple(sorted(others)),
        renamed(kept, base),
    )


def _why_not(one: FileChange, ours: frozenset[str]) -> str:
    if not one.is_go:
        return _why_not_compiled(one.path)
    if _package(one.path) not in ours:
        return "a package that kube-scheduler does not import"
    if None not in (one.before, one.after) and _code(one.before) == _code(one.after):
        return "comments and layout only"
    return ""


def _package(path: str) -> str:
    return str(PurePosixPath(path).parent)


def _code(text: str | None) -> tuple[list[str], list[str]]:
    """All of a file that the compiler reads."""
    return tokens_of(text or ""), directives(text or "")


def linked(root: Path, changes: Sequence[FileChange] = (), roots: Sequence[str] = DRIVEN) -> frozenset[str]:
    """The packages of k8s.io/kubernetes that the scheduler is built of, before these changes or after, as folders."""
    texts = defaultdict(list)
    for one in changes:
        if not one.path.endswith("_test.go"):
            texts[_package(one.path)].append(one.after or "")
    todo = list(roots)
    found: set[str] = set()
    while todo:
        package = todo.pop()
        if package in found:
            continue
        found.add(package)
        folder = root / package
        for file in folder.glob("*.go"):
            if not file.name.endswith("_test.go"):
                texts[package].append(file.read_text(encoding="utf-8", errors="replace"))
        for text in texts[package]:
            todo += _IMPORTED.findall(text.partition("\nfunc ")[0])
    return frozenset(found)


def touched_by(changes: Sequence[FileChange]) -> list[Touched]:
    """The functions and declarations that differ."""
    old, new = (_functions(changes, which) for which in ("before", "after"))
    hashes = [{place: hashes_of(function) for place, function in side.items()} for side in (old, new)]

    def rehashed(place: str, renamed: Mapping[str, str]) -> Hashes:
        return hashes_of(new[place], renamed)

    found = [_of_drift(one) for one in drifts(hashes[0], hashes[1], rehashed)]
    for one in changes:
        if None not in (one.before, one.after) and _declarations(one.before) != _declarations(one.after):
            found.append(
                Touched(
                    f"{_place(one.path)}: types or imports", "changed", remark="declarations, no function"
                )
            )
    return found


def _of_drift(one: Drift) -> Touched:
    file = one.place.partition(":")[0]
    remark = ""
    if not one.is_to_be_read:
        remark = "renamed, moved, logged or counted only"
    elif one.reason:
        remark = f"not modelled: {one.reason}"
    elif is_left_out(file):
        remark = "not modelled: its file is outside of the model"
    elif not one.elements and not one.is_value:
        remark = "not modelled: nobody has decided about it"
    return Touched(
        one.place, f"{one.what} to {one.where}" if one.where else one.what, tuple(one.elements), remark
    )


def _functions(changes: Sequence[FileChange], which: str) -> dict[str, Function]:
    found: dict[str, Function] = {}
    for one in changes:
        text = getattr(one, which)
        if text is not None:
            found |= {f"{_place(one.path)}:{name}": function for name, function in functions_of(text).items()}
    return found


def _place(path: str) -> str:
    """As functions are recorded: from the scheduler's directory."""
    inside = path.removeprefix(f"{SCHEDULER}/")
    return inside if inside != path else f"../{path.removeprefix('pkg/')}"


def _declarations(text: str | None) -> Counter[str]:
    """The tokens that are in no function and no value."""
    if text is None:
        return Counter()
    rest = Counter(tokens_of(text))
    for name, function in functions_of(text).items():
        if not name.startswith(TYPE):
            rest -= Counter(function.tokens)
    return Counter(
        {
            token: n
            for token, n in rest.items()
            if token not in (";", ",", "func", "(", ")", "var", "const", "{", "}")
        }
    )
