"""The Go module that a version of kube-scheduler is built in: its go.mod and go.sum, made out of those of k8s.io/kubernetes.

`k8s.io/kubernetes` has its staging repositories in its own tree, by `replace` lines that do not hold for whoever depends on it. They are
published beside it: v1.36.3 as v0.36.3 of each. The module is named as if it were below pkg/scheduler, so that it may import the
packages that are internal to it (up to 1.31 the cache and the queue).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...analysis.request.release_names import LATEST, parse_release
from ...base.problems import UsageProblem
from ...base.structs import Data
from ...model.history.versions import RELEASE_ORDER, exact
from .own import OwnScheduler
from .toolchain import NEWER, Go, GoProblem, UnknownVersion, problem_of

KUBERNETES = "k8s.io/kubernetes"
MODULE = "k8s.io/kubernetes/pkg/scheduler/podrace"

_VERSION = re.compile(
    r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,3})(?:-((?:alpha|beta|rc)\.[0-9]{1,3}))?)?", re.ASCII
)
_STAGING = "./staging/src/"

OLDEST = (1, 29)
"""The oldest release whose module can be made this way."""

LANGUAGE = "1.25"
"""The oldest language version that the driver is written in."""

EMPTY = "./empty"
"""Where the modules are of which there is no version: a folder of the module that the driver is built in."""

TIMERS = "asynctimerchan"
"""What a default GODEBUG of before Go 1.23 switches on, and testing/synctest does not work with."""


class KubernetesVersion(Data):
    """A version of k8s.io/kubernetes; `pre` is `beta.0` for v1.38.0-beta.0. With a `tree`, the sources there, which are near to it; with `own`, a scheduler of the user's."""

    major: int
    minor: int
    patch: int
    pre: str = ""
    tree: Path | None = None
    own: OwnScheduler | None = None

    def __str__(self) -> str:
        told = self.tag if self.tree is None else f"{self.tree} (compared with {self.tag})"
        return told if self.own is None else f"{told} with {self.own.name}"

    @property
    def tag(self) -> str:
        """The published version, such as v1.36.3."""
        return f"v{self.plain}"

    @property
    def plain(self) -> str:
        """Without the v, such as 1.36.3."""
        return f"{self.major}.{self.minor}.{self.patch}{self._suffix}"

    @property
    def staging(self) -> str:
        """The version of the modules that are staged in it, such as v0.36.3."""
        return f"v0.{self.minor}.{self.patch}{self._suffix}"

    @property
    def _suffix(self) -> str:
        return f"-{self.pre}" if self.pre else ""


class OwnDriver(Data):
    """A driver for one version alone: its files by their paths in the module, and what writes go.mod and go.sum into a folder."""

    files: Mapping[str, str]
    write_module: Callable[[Go, Path], ModuleFiles]


OWN_DRIVERS: dict[KubernetesVersion, OwnDriver] = {}
"""Versions that are run by a driver of their own, which is not part of podrace and knows pods by their names."""


def is_version(text: str) -> bool:
    """Whether a text has the form of a version."""
    return text.strip().lower() == LATEST or _VERSION.fullmatch(text.strip()) is not None


def parse_version(text: str) -> KubernetesVersion:
    """The version that `v1.36.3`, `1.36.3`, `1.36` (the newest of it that the model has), `latest` or `v1.38.0-beta.0` stands for. Raises UsageProblem."""
    text = text.strip()
    if text.lower() == LATEST or text.removeprefix("v") in RELEASE_ORDER:
        text = exact(parse_release(text))
    match = _VERSION.fullmatch(text)
    if match is None:
        raise UsageProblem(
            f"--kubernetes: `{' '.join(text.split())[:80]}`: neither a version nor a directory: write a version such as v1.36.3, or name a checkout "
            "of kubernetes"
        )
    version = KubernetesVersion(int(match[1]), int(match[2]), int(match[3] or 0), match[4] or "")
    if (version.major, version.minor) < OLDEST and version not in OWN_DRIVERS:
        least = ".".join(map(str, OLDEST))
        raise UsageProblem(
            f"--kubernetes: {version} cannot be built any more: name v{least}.0 or later; v1.13.0 runs in a checkout of podrace, by "
            "`make reproduce-old`"
        )
    return version


PACKAGES = (
    "k8s.io/kubernetes/pkg/scheduler",
    "k8s.io/kubernetes/pkg/scheduler/apis/config/latest",
    "k8s.io/kubernetes/pkg/scheduler/apis/config/testing/defaults",
    "k8s.io/client-go/kubernetes/fake",
)
"""What the driver imports, as far as staging modules have to be there for it."""

_REFUSED = re.compile(r"\b40[0-9]\b")
_NOT_THERE = re.compile(
    r"([a-z0-9.-]+\.[a-z]+/[\w./-]+)@(v[0-9]+\.[0-9]+\.[0-9]+[\w.-]*): (?:reading|unrecognized import|invalid version|verifying go\.mod)"
)


class ModuleFiles(Data):
    """The two files of a module. `instead`: modules that are compiled in, not to be had in the version that upstream asks for, and which one was taken."""

    mod: str
    sum: str
    instead: Mapping[str, str]

    def write(self, folder: Path) -> None:
        """Write them into a folder."""
        (folder / "go.mod").write_text(self.mod, encoding="utf-8")
        (folder / "go.sum").write_text(self.sum, encoding="utf-8")


def write_module(version: KubernetesVersion, go: Go, folder: Path) -> ModuleFiles:
    """Write go.mod and go.sum for a version into a folder; Go is run there. Raises GoProblem.

    Of a tree, kubernetes is built from it, and what is staged in it if that is there.
    Where a module is not to be had in the version that upstream asks for, the nearest one of it is taken that is. One of which there is no version
    at all is taken to be empty: that will do where no package of it is needed.
    """
    origin = sources_of(version, go, folder)
    declared = json.loads(go.run(["mod", "edit", "-json", str(origin / "go.mod")], folder))
    source = origin / "go.sum"
    sums = source.read_text(encoding="utf-8") if source.is_file() else ""
    sums += "" if version.own is None else version.own.sums
    instead: dict[str, str] = {}
    while True:
        files = ModuleFiles(go_mod(declared, version, instead), sums, instead)
        files.write(folder)
        absent = {module: v for module, v in _absent(go, folder).items() if module not in instead}
        if not absent:
            return ModuleFiles(files.mod, files.sum, _compiled(instead, go, folder))
        for module, wanted in sorted(absent.items()):
            instead[module] = _nearest(module, wanted, go, folder) or _empty(module, declared, folder)


def _compiled(instead: Mapping[str, str], go: Go, folder: Path) -> Mapping[str, str]:
    """Of these modules those that the driver is compiled with: the others are there for their go.mod alone."""
    if not instead:
        return instead
    said = go.tried(
        ["list", "-deps", "-test", "-f", "{{with .Module}}{{.Path}}{{end}}", "."], folder, timeout=1800
    )
    there = set(said.stdout.split())
    return {module: taken for module, taken in instead.items() if module in there} if there else instead


def _absent(go: Go, folder: Path) -> dict[str, str]:
    """The modules that packages are needed of, by the driver where it is there, and that are not to be had in this version."""
    wanted = ["list", "-e", "-deps", "-f", "{{with .Error}}{{.}}{{end}}"]
    absent: dict[str, str] = {}
    for packages in (PACKAGES, (".",)):
        said = go.tried([*wanted, *packages], folder, timeout=1800)
        text = said.stdout + said.stderr
        found = {match[1]: match[2] for match in _NOT_THERE.finditer(text)}
        if NEWER.search(text) or (found and "server response" not in text and not _REFUSED.search(text)):
            raise problem_of(text, ["list"])
        absent |= found
    return absent


def _nearest(module: str, version: str, go: Go, folder: Path) -> str:
    """The version of a module that is to be had and nearest, of the same release if there is one; empty if there is none. Raises GoProblem."""
    try:
        listed = go.run(["list", "-m", "-versions", module], folder, timeout=600).split()[1:]
    except UnknownVersion:
        return ""
    there = [v for v in listed if "-" not in v] or listed
    wanted = _of_module(version)
    distances = {v: [abs(a - b) for a, b in zip(_of_module(v), wanted, strict=True)] for v in there}
    return min(there, key=distances.__getitem__, default="")


def _empty(module: str, declared: dict[str, Any], folder: Path) -> str:
    """Write a module without packages into the folder; gives the path that stands for it."""
    path = f"{EMPTY}/{module}"
    (folder / path).mkdir(parents=True, exist_ok=True)
    text = f"module {module}\n\ngo {declared.get('Go', LANGUAGE)}\n"
    (folder / path / "go.mod").write_text(text, encoding="utf-8")
    return path


def _of_module(version: str) -> tuple[int, ...]:
    """Major, minor and patch number."""
    return tuple(map(int, re.findall(r"[0-9]+", version)[:3]))


def sources_of(version: KubernetesVersion, go: Go, folder: Path) -> Path:
    """Where the sources of a version are: its tree, or what Go fetches; Go is run in the folder. Raises GoProblem."""
    if version.tree is not None:
        return version.tree
    done = go.tried(["mod", "download", "-json", f"{KUBERNETES}@{version.tag}"], folder, timeout=1800)
    try:
        found: dict[str, str] = json.loads(done.stdout)
    except ValueError:
        found = {"Error": done.stderr}
    said = found.get("Error", "")
    if said or "Dir" not in found:
        raise _no_version(version, said or done.stderr)
    return Path(found["Dir"])


def _no_version(version: KubernetesVersion, said: str) -> GoProblem:
    problem = problem_of(said, ["mod", "download"])
    if isinstance(problem, UnknownVersion):
        return UnknownVersion(f"--kubernetes: there is no {KUBERNETES} {version}: name one that was released")
    return problem


def go_mod(declared: dict[str, Any], version: KubernetesVersion, instead: Mapping[str, str]) -> str:
    """The text of go.mod; `declared` is that of k8s.io/kubernetes, as `go mod edit -json` tells it."""
    lines = _requires(declared, version, instead)
    return "\n".join([f"module {MODULE}", "", *_go(declared), *lines, ""])


def _go(declared: dict[str, Any]) -> Iterator[str]:
    written = declared.get("Go", LANGUAGE)
    yield f"go {max(written, LANGUAGE + '.0', key=_numbers)}"
    yield ""
    debug = {row["Key"]: row["Value"] for row in declared.get("Godebug") or ()}
    # Without a line the default is that of the language version which upstream is built with.
    debug.setdefault("default", f"go{'.'.join(written.split('.')[:2])}")
    if _numbers(debug["default"].removeprefix("go")) < (1, 23):
        debug[TIMERS] = "0"
    yield from (f"godebug {key}={value}" for key, value in debug.items())
    yield ""


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"[0-9]+", text)[:2])


def _requires(
    declared: dict[str, Any], version: KubernetesVersion, instead: Mapping[str, str]
) -> Iterator[str]:
    tree = version.tree
    replaced = {row["Old"]["Path"]: row["New"] for row in declared.get("Replace") or ()}
    staged = {path for path, new in replaced.items() if new["Path"].startswith(_STAGING)}
    yield "require ("
    yield f"\t{KUBERNETES} {version.tag}"
    if version.own is not None:
        yield f"\t{version.own.module} {version.own.version}"
    for row in declared.get("Require") or ():
        path = row["Path"]
        wanted = version.staging if path in staged else row["Version"]
        taken = instead.get(path, wanted)
        wanted = wanted if taken.startswith(EMPTY) else taken
        yield f"\t{path} {wanted}{' // indirect' if row.get('Indirect') else ''}"
    yield ")"
    yield ""
    yield "replace ("
    if tree is not None:
        yield f"\t{KUBERNETES} => {_quoted(tree)}"
    for path, new in sorted(replaced.items()):
        if tree is not None and path in staged and (tree / _STAGING / path).is_dir():
            yield f"\t{path} => {_quoted(tree / _STAGING / path)}"
            continue
        target = (
            _replacement(path, instead.get(path, version.staging))
            if path in staged
            else f"{new['Path']} {new.get('Version', '')}"
        )
        yield f"\t{path} => {target.strip()}"
    if version.own is not None:
        taken_already = {KUBERNETES, *replaced}
        yield from (f"\t{path} => {to}" for path, to in version.own.replaces if path not in taken_already)
    others = [path for path in instead if path not in replaced]
    yield from (f"\t{path} => {_replacement(path, instead[path])}" for path in others)
    of_others = [taken for path, taken in instead.items() if path in staged and not taken.startswith(EMPTY)]
    if any(_numbers(taken)[1] != version.minor for taken in of_others):
        # A module of another release asks for newer ones than upstream is built with.
        for row in declared.get("Require") or ():
            if row["Path"] not in replaced and row["Path"] not in instead:
                yield f"\t{row['Path']} => {row['Path']} {row['Version']}"
    yield ")"


def _quoted(path: Path) -> str:
    return json.dumps(str(path), ensure_ascii=False)


def _replacement(path: str, taken: str) -> str:
    return taken if taken.startswith(EMPTY) else f"{path} {taken}"
