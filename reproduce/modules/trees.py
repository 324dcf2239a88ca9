"""A version of kubernetes by its name, or by a directory with its sources, whose version is told by its functions."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from ...analysis.request.release_names import parse_release
from ...analysis.upstream.likeness import hashes_of
from ...analysis.upstream.source_tree import functions_in
from ...base.problems import UsageProblem
from ...base.text import one_line
from ...model.history.trees import order_of, read_trees
from ...model.history.versions import exact
from .module import KubernetesVersion, is_version, parse_version

LEAST_SHARE = 0.9
"""So many of its functions must be those of a version that was looked at, for a tree to be taken for one near it."""


def version_named(text: str, base: str | None = None) -> KubernetesVersion:
    """The version that a text names, or the sources in a directory, with the version `base`, or else the nearest one that is known. Raises UsageProblem."""
    tree = Path(text)
    if is_version(text) or not tree.is_dir():
        return parse_version(text)
    name = f"--kubernetes: {one_line(text, 200)}"
    root = root_of(tree, name)
    near = recognised(root, name) if base is None else parse_version(exact(parse_release(base)))
    return replace(near, tree=root)


def root_of(tree: Path, name: str) -> Path:
    """The root of a source tree. Raises UsageProblem if it is none of kubernetes."""
    for needed in ("go.mod", "pkg/scheduler/scheduler.go"):
        if not (tree / needed).is_file():
            raise UsageProblem(f"{name}: it has no {needed}: name the root of kubernetes' sources")
    return tree.resolve()


@cache
def recognised(tree: Path, name: str) -> KubernetesVersion:
    """The version that was looked at and has most functions in common with a tree. Raises UsageProblem if none is near."""
    here = {place: hashes_of(function).tokens for place, function in functions_in(tree).items()}
    known = read_trees().by_version
    same = {
        version: sum(old.get(p) is not None and old[p].tokens == t for p, t in here.items())
        for version, old in known.items()
    }
    best = max(same, key=lambda version: (same[version], order_of(version)))
    share = same[best] / max(len(here), 1)
    if share < LEAST_SHARE:
        raise UsageProblem(
            f"{name}: a tree of unknown version: {share:.0%} of its functions are those of {best}, the nearest that is known; name its base "
            "with --release"
        )
    return parse_version(best)
