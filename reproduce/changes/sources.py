"""Where a change comes from: a diff, a tree or two commits; its base, and the trees before and after it."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path

from ...analysis.request.release_names import known_releases, newest_of
from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import one_line
from ...model.history.versions import RELEASE_ORDER, canonical, exact
from ..modules import held
from ..modules.module import KubernetesVersion, parse_version, sources_of
from ..modules.toolchain import BuildProblem, Go
from ..modules.trees import recognised, root_of, version_named
from ..running import Say, alone_in, kept_in
from .texts import BUILT_BY, OTHER_SOURCES, FileChange, FileDiff, applied, between

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


def unchanged(version: KubernetesVersion, go: Go) -> Path:
    """Where the sources of a version are. Raises GoProblem."""
    with tempfile.TemporaryDirectory(prefix="podrace-") as folder:
        return sources_of(version, go, Path(folder))


def of_diff(diff: Sequence[FileDiff], name: str, kubernetes: str | None, go: Go, say: Say) -> Change:
    """A diff on the version that is named, or on the newest that it applies to. Raises UsageProblem."""
    if kubernetes is not None:
        version = _modelled(kubernetes)
        root = unchanged(version, go)
        files = tuple(applied(diff, root, name, str(version)))
        return Change(name, replace(version, tree=None), files, root, version.tree)
    first: UsageProblem | None = None
    for version in newest_versions():
        say(f"trying {version} as the base")
        root = unchanged(version, go)
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
    version = version_named(kubernetes)
    if canonical(version.plain) is None:
        near = [v for v in known_releases() if v.startswith(f"{version.major}.{version.minor}.")]
        there = f"it has {', '.join(near)}" if near else f"its newest is {known_releases()[-1]}"
        raise UsageProblem(f"--kubernetes: the model does not have {version}: {there}")
    return version


def of_tree(tree: Path, kubernetes: str | None, go: Go) -> Change:
    """A source tree against the version that it is made of. Raises UsageProblem."""
    name = one_line(str(tree), 200)
    root = root_of(tree, name)
    version = recognised(root, name) if kubernetes is None else _modelled(kubernetes)
    base = unchanged(version, go)
    notes = () if kubernetes is not None else (f"base: {version}, the nearest that is known",)
    here = {path: file for path, file in _go_files(root).items() if not path.startswith("staging/")}
    staged = "what is staged in the tree" if (root / "staging").is_dir() else ""
    if staged:
        notes = (*notes, f"{staged} was built as it is there, and not compared")
    files = tuple(between(_go_files(base), here))
    plain = replace(version, tree=None)
    return Change(name, plain, files, base, version.tree, root, notes, uncompared=staged)


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
        trees.append(root_of(target, f"--repo {one_line(str(repository), 120)} at {one_line(commit)}"))
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


CHANGES = "does not compile: {}"
DRIVERS = "changes what podrace's driver is built on, and cannot be judged: {}: keep the old signature, too, and try again"
NOBODYS = "podrace's driver does not compile with it even without a change: {}: name another version with --kubernetes, or install podrace again"
"""Whose error it is that a tree cannot be built with the driver."""


def first_error(problem: BuildProblem, change: Change) -> tuple[str, str]:
    """The compiler's first error in kubernetes, with the file named as in the tree, or otherwise in the driver; and whose it is."""
    driver = None
    for line in problem.text.splitlines():
        place, mark, rest = line.strip().partition(".go:")
        if mark and rest[:1].isdigit():
            inside = f"pkg/{place.rpartition('/pkg/')[2]}.go" if "/pkg/" in place else f"{place}.go"
            known = next((one.path for one in change.files if inside.endswith(one.path)), inside)
            if "/pkg/" in place or known != inside:
                return f"{known}:{rest}", CHANGES
            driver = driver or one_line(line.strip(), 300)
    return (str(problem), CHANGES) if driver is None else (driver, DRIVERS)
