"""The Go module that the scheduler of 1.13.0 is built in, which is older than Go's modules.

What it needs is in its Godeps.json: for each package the revision of its repository. Which version of a Go module a revision is has to be asked one by
one, so the answers are kept in `modules.txt`, and the sums of all these modules in `sums.txt`; `unlike_godeps` holds them against the sources.
The staging modules are those that were published with the tag kubernetes-1.13.0, whose Go files are the very ones in the tree of kubernetes; two
were not published and are copied out of that tree.

The driver is `driver/`, with a few files that it has in common with the one for later versions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from podrace.reproduce.modules.driver import assembled
from podrace.reproduce.modules.module import (
    KUBERNETES,
    MODULE,
    OWN_DRIVERS,
    KubernetesVersion,
    ModuleFiles,
    OwnDriver,
    sources_of,
)
from podrace.reproduce.modules.toolchain import Go

VERSION = KubernetesVersion(1, 13, 0)
HERE = Path(__file__).parent
DRIVER = Path(__file__).parents[3] / "reproduce" / "driver"

COMMON = (
    "play/case.go",
    "stage/goroutines.go",
    "stage/memo.go",
    "stage/passages.go",
    "stage/reach.go",
    "stage/stage.go",
    "store/uids.go",
    "gen/calls.go",
    "gen/main.go",
    "gen/old.go",
)
"""The files of the driver for later releases that belong to this one, too."""

COPIED = "copied"
"""The version of a module that is taken out of the sources of kubernetes."""

NEWER = frozenset({"github.com/json-iterator/go", "github.com/modern-go/reflect2"})
"""What does not work with a Go of today at the revision of Godeps.json: these two reach into the runtime's maps."""

_LANGUAGE = "1.26.0"
_STAGING = "staging/src"
_MODULES, _SUMS = "modules.txt", "sums.txt"

# How many parts of an import path name the repository, where it is not three.
_PARTS = {"k8s.io": 2, "sigs.k8s.io": 2, "google.golang.org": 2, "cloud.google.com": 2}


def write_module(go: Go, folder: Path) -> ModuleFiles:
    """Write go.mod, go.sum and the copied modules for 1.13.0 into a folder. Raises GoProblem."""
    source = sources_of(VERSION, go, folder)
    versions = module_versions()
    written = ModuleFiles(go_mod(versions), _text(_SUMS), {})
    written.write(folder)
    for path in (path for path, version in versions.items() if version == COPIED):
        _copy(source / _STAGING / path, folder / _STAGING / path)
        (folder / _STAGING / path / "go.mod").write_text(f"module {path}\n\ngo 1.11\n", encoding="utf-8")
    return written


def driver_files() -> dict[str, str]:
    """The files of the driver by their paths in the module."""
    own = HERE / "driver"
    return {
        **assembled(own, (path.relative_to(own).as_posix() for path in own.rglob("*.go"))),
        **assembled(DRIVER, COMMON),
    }


def register() -> None:
    """Have podrace run v1.13.0 by this driver."""
    OWN_DRIVERS[VERSION] = OwnDriver(driver_files(), write_module)


def module_versions() -> dict[str, str]:
    """The version of each module that is needed."""
    rows = [line.split() for line in _text(_MODULES).splitlines() if not line.startswith("#")]
    return dict(rows)


def go_mod(versions: Mapping[str, str]) -> str:
    """The text of go.mod. Each module is replaced by itself at its version: what one of them requires of another changes nothing."""
    lines = [f"module {MODULE}", "", f"go {_LANGUAGE}", "", "require (", f"\t{KUBERNETES} {VERSION}"]
    lines += [f"\t{path} {'v0.0.0' if version == COPIED else version}" for path, version in versions.items()]
    lines += [")", "", "replace ("]
    lines += [f"\t{path} => {_target(path, version)}" for path, version in versions.items()]
    return "\n".join([*lines, ")", ""])


def _target(path: str, version: str) -> str:
    return f"./{_STAGING}/{path}" if version == COPIED else f"{path} {version}"


def _copy(source: Path, target: Path) -> None:
    """The Go files below a folder. What may be done with them is not copied: the module cache is read-only."""
    for file in source.rglob("*.go"):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())


def unlike_godeps(source: Path, versions: Mapping[str, str]) -> dict[str, str]:
    """The modules that are not at the revision of the Godeps.json in these sources, but for those that have to be newer, and what that has."""
    revisions = dict(_revisions(source))
    staged = {f"k8s.io/{entry.name}" for entry in (source / _STAGING / "k8s.io").iterdir()}
    found = {}
    for path, version in versions.items():
        if path in staged or path in NEWER:
            continue
        revision, tag = revisions.get(path, ("none", ""))
        plain = version.partition("+")[0]
        if plain != tag and not plain.endswith(f"-{revision[:12]}"):
            found[path] = f"{tag} {revision}".strip()
    return found


def _revisions(source: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    rows = json.loads((source / "Godeps" / "Godeps.json").read_text(encoding="utf-8"))["Deps"]
    return ((_module_of(row["ImportPath"]), (row["Rev"], row.get("Comment", ""))) for row in rows)


def _module_of(package: str) -> str:
    parts = package.split("/")
    if parts[0] == "gopkg.in":
        return "/".join(parts[: 2 if ".v" in parts[1] else 3])
    return "/".join(parts[: _PARTS.get(parts[0], 3)])


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
