"""What became of upstream's functions between two trees: which changes can matter to a race, and which cannot."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import Enum

from ...base.structs import Data
from ...model.history.trees import Hashes, Tree
from ...model.history.upstream import OUTSIDE, TYPE, elements_of, is_value, not_modelled
from .likeness import likeness

ALIKE, ALIKE_BY_NAME = 0.5, 0.25
"""From which likeness on a function counts as another one that was renamed; by name: it has the same name on another type."""

_TRIVIAL = 20
"""Functions with fewer tokens may be equal by chance."""


class Class(Enum):
    """Whether a change can matter."""

    CANNOT_MATTER = "cannot matter"
    READ_THIS = "read this"


class Drift(Data):
    """What became of one function: `what` is changed, moved, renamed, gone or new; `where` is its new place if it has one."""

    place: str
    what: str
    reading: Class
    where: str = ""

    @property
    def words(self) -> str:
        """In a few words."""
        to = f" to {self.where}" if self.where else ""
        return f"{self.place}: {self.what}{to}"

    @property
    def is_value(self) -> bool:
        """Whether it is a variable or constant of a package, and no function."""
        return is_value(self.place)

    @property
    def is_to_be_read(self) -> bool:
        """Whether it can matter, as far as can be told from the tokens."""
        return self.reading is Class.READ_THIS

    @property
    def is_followed(self) -> bool:
        """Whether a change of it can matter to the model: not if the function is outside of what it is about, or was before it moved."""
        places = [place for place in (self.place, self.where) if place]
        if any(elements_of(place) for place in places):
            return True
        rows = [row for row in map(not_modelled, places) if row is not None]
        return not rows or any(row.kind != OUTSIDE for row in rows)

    @property
    def elements(self) -> list[str]:
        """The elements of the model that stand for the function."""
        return elements_of(self.place) or elements_of(self.where)

    @property
    def reason(self) -> str:
        """Why there is no element; nothing if there is one, or nobody has decided."""
        row = not_modelled(self.place) or (not_modelled(self.where) if self.where else None)
        return "" if self.elements or row is None else row.reason


Rehashed = Callable[[str, Mapping[str, str]], Hashes]
"""Gives the hashes of a function of the new tree anew, with old names for new ones."""


def drifts(old: Tree, new: Tree, rehashed: Rehashed | None = None) -> list[Drift]:
    """What became of each function, by place; nothing of those that are the same.

    With `rehashed`, a function that changed only because it calls others by their new names counts as one that did not.
    """
    old, new = comparable(old, new)
    pairs = _pairs(old, new)
    renamed = _renamed(old, new, pairs)

    def is_same(place: str, now: str) -> bool:
        if old[place].normal == new[now].normal:
            return True
        return bool(renamed and rehashed) and rehashed(now, renamed).normal == old[place].normal  # type: ignore[misc]

    found = []
    for place in sorted(old.keys() | new.keys()):
        if is_type(place):
            continue
        if place in old and place in new:
            if old[place].tokens != new[place].tokens:
                found.append(Drift(place, "changed", _class(is_same(place, place))))
        elif place in pairs:
            now = pairs[place]
            what = "moved" if _name(now) == _name(place) else "renamed"
            same = is_same(place, now)
            found.append(Drift(place, what if same else f"{what} and changed", _class(same), now))
        elif place in old:
            found.append(Drift(place, "gone", Class.READ_THIS))
        elif place not in pairs.values():
            found.append(Drift(place, "new", Class.READ_THIS))
    return found


def is_type(place: str) -> bool:
    """Whether a place is a type, which tells of its new name, and of no change of its own."""
    return _name(place).startswith(TYPE)


def comparable(old: Tree, new: Tree) -> tuple[Tree, Tree]:
    """Both without what is not the scheduler's own and is there for one of them alone: a vendored tree has no API server, an older record no staged module."""
    both = _parts(old) & _parts(new) | {""}
    kept = [{place: tree[place] for place in tree if _elsewhere(place) in both} for tree in (old, new)]
    return kept[0], kept[1]


def missing_parts(old: Tree, new: Tree) -> list[str]:
    """What the old tree has outside of the scheduler and the new one lacks, as upstream names it: `pkg/registry`, `k8s.io/kube-scheduler`."""
    missing = sorted(_parts(old) - _parts(new)) if new else []
    return [part.replace("../", "pkg/").replace("staging/", "k8s.io/") for part in missing]


def _parts(tree: Tree) -> set[str]:
    return {_elsewhere(place) for place in tree}


def _elsewhere(place: str) -> str:
    """The part of upstream that a function is of, if not of the scheduler: its folder below pkg, or its module."""
    parts = place.split("/", 2)
    return "/".join(parts[:2]) if parts[0] in ("..", "staging") else ""


def counted(found: list[Drift]) -> dict[str, int]:
    """How many there are of each kind: changes that cannot matter, those to read, new and gone functions, all among those that are
    followed; and all that are not."""
    followed = [drift for drift in found if drift.is_followed]
    kinds = Counter(_kind(drift) for drift in followed)
    told = {kind: kinds[kind] for kind in ("cannot matter", "read this", "new", "gone")}
    return {**told, "outside": len(found) - len(followed)}


def _kind(drift: Drift) -> str:
    return drift.what if drift.what in ("new", "gone") else drift.reading.value


def _class(same: bool) -> Class:
    return Class.CANNOT_MATTER if same else Class.READ_THIS


def _name(place: str) -> str:
    return place.partition(":")[2]


def _bare(place: str) -> str:
    return _name(place).rpartition(".")[2].removeprefix(TYPE)


def _owner(place: str) -> str:
    """What a function is a method of, or that it is a type."""
    return TYPE if is_type(place) else _name(place).rpartition(".")[0]


def _folder(place: str) -> str:
    return place.partition(":")[0].rpartition("/")[0]


def _pairs(old: Tree, new: Tree) -> dict[str, str]:
    """The new place of each function that is gone from its old one, as far as it can be told.

    In this order: the same name in another file, the same normal form, the same name on another type, much in common; both in another folder.
    """
    gone = {place: old[place] for place in sorted(old.keys() - new.keys())}
    fresh = {place: new[place] for place in sorted(new.keys() - old.keys())}
    pairs: dict[str, str] = {}
    for candidates in (_by_full_name, _by_form, _by_name_and_likeness, _by_likeness, _by_name_elsewhere):
        for place, now in list(candidates(gone, fresh)):
            if place in gone and now in fresh:
                pairs[place] = now
                del gone[place], fresh[now]
    return pairs


_Candidates = Iterator[tuple[str, str]]


def _by_full_name(gone: Tree, fresh: Tree) -> _Candidates:
    """Those with the same type and name; those in the same folder first."""
    same = [(a, b) for a in gone for b in fresh if _name(a) == _name(b)]
    return iter(sorted(same, key=lambda pair: (_folder(pair[0]) != _folder(pair[1]), pair)))


def _by_form(gone: Tree, fresh: Tree) -> _Candidates:
    return (
        (a, b)
        for a in gone
        for b in fresh
        if gone[a].normal == fresh[b].normal and (gone[a].size >= _TRIVIAL or _owner(a) == _owner(b) != "")
    )


def _by_name_and_likeness(gone: Tree, fresh: Tree) -> _Candidates:
    return _most_alike(
        gone, fresh, lambda a, b: _bare(a) == _bare(b) and _folder(a) == _folder(b), ALIKE_BY_NAME
    )


def _by_likeness(gone: Tree, fresh: Tree) -> _Candidates:
    return _most_alike(
        gone, fresh, lambda a, b: _folder(a) == _folder(b) and _tells(gone[a], fresh[b]), ALIKE
    )


def _by_name_elsewhere(gone: Tree, fresh: Tree) -> _Candidates:
    """What moved to another package with its type, and types that got a new name there."""
    return _most_alike(
        gone, fresh, lambda a, b: _tells(gone[a], fresh[b]) and (is_type(a) or _bare(a) == _bare(b)), ALIKE
    )


def _tells(one: Hashes, other: Hashes) -> bool:
    """Whether it says something that two functions are alike: getters of one line all are, but for the field."""
    return min(one.size, other.size) >= _TRIVIAL or one.normal == other.normal


def _most_alike(gone: Tree, fresh: Tree, may_be: Callable[[str, str], bool], least: float) -> _Candidates:
    found = [
        (likeness(gone[a], fresh[b]), a, b)
        for a in gone
        for b in fresh
        if is_type(a) == is_type(b) and may_be(a, b)
    ]
    return ((a, b) for alike, a, b in sorted(found, key=lambda f: (-f[0], f[1:])) if alike >= least)


def _renamed(old: Tree, new: Tree, pairs: Mapping[str, str]) -> dict[str, str]:
    """The old names of functions by the new ones, where no tree has both: exchanging them cannot make different functions equal."""
    before, after = ({_bare(place) for place in tree} for tree in (old, new))
    names = {_bare(now): _bare(place) for place, now in pairs.items()}
    unique = Counter(names.values())
    return {
        now: was for now, was in names.items() if now not in before and was not in after and unique[was] == 1
    }
