"""Where a change comes from: a diff, a tree or two commits; its base, and the trees before and after it."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from ...analysis.request.release_names import known_releases, newest_of
from ...analysis.upstream.likeness import hashes_of
from ...analysis.upstream.source_tree import functions_in
from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import one_line
from ...model.history.trees import read_trees
from ...model.history.versions import RELEASE_ORDER, canonical, exact
from ..modules import held
from ..modules.module import KubernetesVersion, downloaded, parse_version
from ..modules.toolchain import Go
from ..running import Say, alone_in, kept_in
from .texts import BUILT_BY, OTHER_SOURCES, FileChange, FileDiff, applied, between

LEAST_SHARE = 0.9
"""So many of its functions must be those of a version that was looked at, for a tree to be taken for one near it."""

FIRST = (1, 33)
"""The oldest release whose newest patch version is tried as the base of a diff."""


class Change(Data):
    """A change on its base: the files that differ, and the trees. `base_tree` is None where the base is a published version; `uncompared` are parts of the tree."""

    name: str
    version: KubernetesVersion
    files: tuple[FileChange, ...]
    base: Path
    base_tree: Path | None = None
    tree: Path | None = None
    notes: tuple[str, ...] = field(default=())
    uncompared: str = ""

    @property
    def base_words(self) -> str:
        """The base, for people."""
        return (
            str(self.version)
            if self.base_tree is None
            else f"{self.base_tree.name}, compared with {self.version}"
        )


def sources_of(version: KubernetesVersion, go: Go) -> Path:
    """Where the published sources of a version are. Raises GoProblem."""
    with tempfile.TemporaryDirectory(prefix="podrace-") as folder:
        return Path(downloaded(version, go, Path(folder))["Dir"])


def of_diff(diff: Sequence[FileDiff], name: str, kubernetes: str | None, go: Go, say: Say) -> Change:
    """A diff on the version that is named, or on the newest that it applies to. Raises UsageProblem."""
    if kubernetes is not None:
        version = _modelled(kubernetes)
        root = sources_of(version, go)
        return Change(name, version, tuple(applied(diff, root, name, str(version))), root)
    first: UsageProblem | None = None
    for version in newest_versions():
        say(f"trying {version} as the base")
        root = sources_of(version, go)
        try:
            files = tuple(applied(diff, root, name, str(version)))
        except UsageProblem as problem:
            first = first or problem
            continue
        return Change(name, version, files, root, notes=(f"base: {version}, the newest that it applies to",))
    assert first is not None
    raise first


def newest_versions() -> list[KubernetesVersion]:
    """The newest patch version of each release that the model has, the newest release first."""
    releases = (minor for minor in reversed(RELEASE_ORDER) if _number(minor) >= FIRST)
    return [parse_version(exact(newest_of(minor))) for minor in releases]


def _number(name: str) -> tuple[int, int]:
    major, minor = name.split(".")[:2]
    return int(major), int(minor)


def _modelled(kubernetes: str) -> KubernetesVersion:
    version = parse_version(kubernetes)
    if canonical(version.plain) is None:
        near = [v for v in known_releases() if v.startswith(f"{version.major}.{version.minor}.")]
        there = f"it has {', '.join(near)}" if near else f"its newest is {known_releases()[-1]}"
        raise UsageProblem(f"--kubernetes: the model does not have {version}: {there}")
    return version


def recognised(tree: Path, name: str) -> KubernetesVersion:
    """The version that was looked at and has most functions in common with a tree. Raises UsageProblem if none is near."""
    here = {place: hashes_of(function).tokens for place, function in functions_in(tree).items()}
    known = read_trees().by_version
    same = {
        version: sum(old.get(p) is not None and old[p].tokens == t for p, t in here.items())
        for version, old in known.items()
    }
    best = max(same, key=lambda version: (same[version], _patch(version)))
    share = same[best] / max(len(here), 1)
    if share < LEAST_SHARE:
        raise UsageProblem(
            f"{name}: a tree of unknown version: {share:.0%} of its functions are those of {best}, the nearest that is known; name its base "
            "with --kubernetes"
        )
    return parse_version(best)


def _patch(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def of_tree(tree: Path, kubernetes: str | None, go: Go) -> Change:
    """A source tree against the version that it is made of. Raises UsageProblem."""
    name = one_line(str(tree), 200)
    root = _root(tree, name)
    version = recognised(root, name) if kubernetes is None else _modelled(kubernetes)
    base = sources_of(version, go)
    notes = () if kubernetes is not None else (f"base: {version}, the nearest that is known",)
    here = {path: file for path, file in _go_files(root).items() if not path.startswith("staging/")}
    staged = "what is staged in the tree" if (root / "staging").is_dir() else ""
    if staged:
        notes = (*notes, f"{staged} was built as it is there, and not compared")
    return Change(
        name, version, tuple(between(_go_files(base), here)), base, None, root, notes, uncompared=staged
    )


def _root(tree: Path, name: str) -> Path:
    for needed in ("go.mod", "pkg/scheduler/scheduler.go"):
        if not (tree / needed).is_file():
            raise UsageProblem(
                f"{name}: it has no {needed}: name the root of kubernetes' sources, or a unified diff"
            )
    return tree.resolve()


def _go_files(root: Path) -> dict[str, Path]:
    """What is compiled of kubernetes itself and, where they are there, of what is staged in it, and what says of what and how they are built; tests apart."""
    compiled = (".go", *OTHER_SOURCES)
    found = [
        path for f in ("pkg", "cmd", "staging") for path in (root / f).rglob("*") if path.suffix in compiled
    ]
    found += [root / name for name in BUILT_BY if (root / name).is_file()]
    return {path.relative_to(root).as_posix(): path for path in found if not path.name.endswith("_test.go")}


def of_range(repository: Path, span: str, kubernetes: str | None, folder: Path) -> Change:
    """Two commits of a checkout, extracted into a folder. Raises UsageProblem."""
    base, dots, head = span.partition("..")
    if not (dots and base and head) or head.startswith((".", "-")) or base.startswith("-"):
        raise UsageProblem(f"--range: `{one_line(span)}`: write BASE..HEAD")
    trees = []
    for side, commit in (("base", base), ("head", head)):
        target = folder / side
        _extract(repository, commit, target)
        trees.append(_root(target, f"--repo {one_line(str(repository), 120)} at {one_line(commit)}"))
    name = f"{repository.resolve().name} {span}"
    version = recognised(trees[0], name) if kubernetes is None else _modelled(kubernetes)
    note = f"base: {one_line(base)}, compared with {version}, the nearest that is known"
    files = tuple(between(_go_files(trees[0]), _go_files(trees[1])))
    return Change(name, version, files, trees[0], trees[0], trees[1], (note,))


def _extract(repository: Path, commit: str, target: Path) -> None:
    target.mkdir(parents=True)
    with tempfile.TemporaryFile() as archive:
        parts = [f":(exclude){folder}" for folder in sorted(held.LEFT_OUT)]
        command = ["git", "-C", str(repository), "archive", "--format=tar", commit, "--", ".", *parts]
        try:
            done = subprocess.run(
                command, stdout=archive, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False
            )
        except OSError as error:
            raise UsageProblem(f"--repo: cannot run git: {error.strerror}") from None
        if done.returncode:
            said = one_line(done.stderr.decode("utf-8", "replace").strip(), 300)
            raise UsageProblem(f"--repo: git cannot read {one_line(commit)}: {said}")
        archive.seek(0)
        with tarfile.open(fileobj=archive) as opened:
            opened.extractall(target, filter="data")


@contextmanager
def changed_tree(change: Change, say: Say) -> Iterator[Path]:
    """The tree with the change: the user's own, or the base's with the changed files in place."""
    if change.tree is not None:
        with alone_in(kept_in() / f"changed-{change.version}", say, "judges a change"):
            yield change.tree
        return
    with tree_with(change.base, {one.path: one.after for one in change.files}, change.version, say) as tree:
        yield tree


@contextmanager
def tree_with(
    root: Path, texts: Mapping[str, str | None], version: KubernetesVersion, say: Say
) -> Iterator[Path]:
    """A copy of a tree in which files have these texts, or are gone; all others are links."""
    folder = kept_in() / f"changed-{version}"
    with alone_in(folder, say, "judges a change"):
        made_tree(root, texts, folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def made_tree(root: Path, texts: Mapping[str, str | None], folder: Path) -> None:
    """Make a folder the copy of a tree in which files have these texts, or are gone."""
    shutil.rmtree(folder, ignore_errors=True)
    held.linked(root, folder)
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_text(text, encoding="utf-8")
