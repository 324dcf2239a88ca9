"""The driver's sources as a Go module has them: its folders are one package there.

In `reproduce/driver/` each part of the driver has a folder. Go takes a folder for a package, and the parts know too much of one another for that: so
`store/watch.go` becomes `store_watch.go` in the module. `gen/`, a program of its own, stays a folder. `claims/` has the parts
for versions with resource.k8s.io/v1.
"""

from collections.abc import Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

GENERATED = "wrappers_gen.go"
"""What `gen` writes for a version."""

PROGRAM, CLAIMS, AMID = "gen", "claims", "amid"


def driver_files(claims: bool = True, amid: bool = False) -> dict[str, str]:
    """The files of the driver for 1.29 and later by their paths in the module; `claims`: for a version that has resource.k8s.io/v1; `amid`: for sources in which movers can be held."""
    driver = files("podrace.reproduce").joinpath("driver")
    without = {folder for folder, there in ((CLAIMS, claims), (AMID, amid)) if not there}
    folders = sorted(entry.name for entry in driver.iterdir() if entry.is_dir() and entry.name not in without)
    return assembled(
        driver, [path for folder in folders for path in _sources(driver.joinpath(folder), folder)]
    )


def path_in_module(path: str) -> str:
    """Where a file of the driver is in the module: `store_watch.go` for `store/watch.go`."""
    return path if path.startswith(f"{PROGRAM}/") else path.replace("/", "_")


def assembled(driver: Traversable, paths: Iterable[str]) -> dict[str, str]:
    """The texts of these files below a folder by their paths in the module."""
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
