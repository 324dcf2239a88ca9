"""The driver's sources as a Go module has them: its folders are one package there.

In `reproduce/driver/` each part of the driver has a folder. Go takes a folder for a package, and the parts know too much of one another for that: so
`store/watch.go` becomes `store_watch.go` in the module. `gen/`, a program of its own, stays a folder. `old/` has the parts of the driver for 1.13.0, and `claims/` those
for versions with resource.k8s.io/v1.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

GENERATED = "wrappers_gen.go"
"""What `gen` writes for a version."""

PROGRAM, OLD, CLAIMS = "gen", "old", "claims"

COMMON = (
    "play/case.go",
    "stage/goroutines.go",
    "stage/passages.go",
    "stage/reach.go",
    "stage/stage.go",
    "store/uids.go",
    "gen/calls.go",
    "gen/main.go",
    "gen/old.go",
)
"""The files of the driver for later releases that belong to that for 1.13.0, too."""


def new_driver_files(claims: bool = True) -> dict[str, str]:
    """The files of the driver for 1.29 and later by their paths in the module; `claims`: for a version that has resource.k8s.io/v1."""
    driver = files("podrace.reproduce").joinpath("driver")
    without = {OLD} if claims else {OLD, CLAIMS}
    folders = sorted(entry.name for entry in driver.iterdir() if entry.is_dir() and entry.name not in without)
    return _assembled(
        [path for folder in folders for path in _sources(driver.joinpath(folder), folder)], driver
    )


def old_driver_files() -> dict[str, str]:
    """The files of the driver for 1.13.0 by their paths in the module."""
    driver = files("podrace.reproduce").joinpath("driver")
    own = [
        path
        for entry in driver.joinpath(OLD).iterdir()
        if entry.is_dir()
        for path in _sources(entry, f"{OLD}/{entry.name}")
    ]
    return _assembled([*own, *COMMON], driver)


def path_in_module(path: str) -> str:
    """Where a file of the driver is in the module: `store_watch.go` for `store/watch.go`."""
    inside = path.removeprefix(f"{OLD}/")
    return inside if inside.startswith(f"{PROGRAM}/") else inside.replace("/", "_")


def _assembled(paths: list[str], driver: Traversable) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        target = path_in_module(path)
        if target in found:
            raise AssertionError(f"two files of the driver are {target} in the module")
        found[target] = driver.joinpath(path).read_text(encoding="utf-8")
    return dict(sorted(found.items()))


def _sources(folder: Traversable, prefix: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.name.endswith(".go") and entry.name != GENERATED:
            yield f"{prefix}/{entry.name}"
