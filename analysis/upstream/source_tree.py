"""The functions of kube-scheduler in a source tree, and those elsewhere that it shares state with: of the API server, of a controller, of modules that are staged."""

from pathlib import Path

from ...base.problems import UsageProblem
from ...base.text import one_line
from ...model.history.upstream import is_left_out
from .go_functions import Function, functions_of

PLACES = ("pkg/scheduler", "vendor/k8s.io/kubernetes/pkg/scheduler", "plugin/pkg/scheduler", "")
"""Where a tree may have the scheduler; the last: it is the scheduler's own directory."""

BESIDE = (
    "registry/core/pod/storage/storage.go", "registry/core/pod/storage/eviction.go", "registry/core/pod/strategy.go",
    "controller/resourceclaim/controller.go", "controller/resourceclaim/uid_cache.go",
)  # fmt: skip
"""Beside the scheduler, below pkg: what the API server does with a Binding, an eviction and an update of a pod, and the controller of claims."""

STAGED = (
    ("component-helpers", "storage/volume"),
    ("dynamic-resource-allocation", "resourceclaim"),
    ("dynamic-resource-allocation", "structured"),
    ("kube-scheduler", "framework"),
)
"""Modules that are staged in the tree, and folders of theirs: what plugins and framework have moved there, or go by."""

STAGING = "staging/"


def functions_in(directory: Path) -> dict[str, Function]:
    """The functions that are recorded, by `file:Type.Name`: tests and whole files outside of the model apart. Raises UsageProblem.

    Files are named from the scheduler's directory, and with the folder `backend` of 1.32 where an older tree has `internal`.
    """
    root = scheduler_in(directory)
    named = {_file(path.relative_to(root).as_posix()): path for path in files_below(root)}
    named |= {f"../{name}": root.parent / name for name in BESIDE if (root.parent / name).is_file()}
    named |= _staged_files(directory)
    found: dict[str, Function] = {}
    for file, path in named.items():
        if not is_left_out(file):
            found |= {
                f"{file}:{name}": function for name, function in functions_of(read_source(path)).items()
            }
    return found


def missing_modules(directory: Path) -> list[str]:
    """The modules, such as k8s.io/kube-scheduler@v0.37.2, that drift reads with a tree in Go's module cache, and that the cache does not have."""
    directory = directory.resolve()
    file = directory / "go.mod"
    named = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    return [
        f"k8s.io/{root.name}"
        for module, root in ((m, _root_of(directory, m)) for m in dict(STAGED))
        if not root.is_dir() and "@" in root.name and f"/{STAGING}src/k8s.io/{module}\n" in named
    ]


def _root_of(directory: Path, module: str) -> Path:
    """The folder of a staged module: in the tree, or next to a tree in Go's module cache, where 1.37.2 has 0.37.2 of each."""
    inside = directory / STAGING / "src/k8s.io" / module
    if inside.is_dir() or not directory.name.startswith("kubernetes@v1."):
        return inside
    return directory.parent / f"{module}@v0.{directory.name.removeprefix('kubernetes@v1.')}"


def _staged_files(directory: Path) -> dict[str, Path]:
    """The files of modules that are staged in a tree. Raises UsageProblem."""
    directory = directory.resolve()
    if missing := missing_modules(directory):
        raise UsageProblem(
            f"Go's module cache has `{one_line(directory.name, 200)}` without {missing[0]}, which belongs to it: `go mod download {' '.join(missing)}` fetches it"
        )
    found: dict[str, Path] = {}
    for module, folder in STAGED:
        root = _root_of(directory, module)
        found |= {
            f"{STAGING}{module}/{path.relative_to(root).as_posix()}": path
            for path in files_below(root / folder)
        }
    return found


def scheduler_in(directory: Path) -> Path:
    """The scheduler's directory in a source tree. Raises UsageProblem."""
    shown = one_line(str(directory), 200)
    if not directory.is_dir():
        raise UsageProblem(f"`{shown}` is no directory: name the root of a kubernetes source tree")
    for place in PLACES:
        if (directory / place / "scheduler.go").is_file():
            return directory / place
    raise UsageProblem(
        f"`{shown}` has no pkg/scheduler/scheduler.go: name the root of a kubernetes source tree"
    )


def files_below(root: Path) -> list[Path]:
    """The Go files below a directory, tests apart."""
    return [path for path in sorted(root.rglob("*.go")) if not path.name.endswith("_test.go")]


def _file(path: str) -> str:
    return "backend/" + path.removeprefix("internal/") if path.startswith("internal/") else path


def read_source(path: Path) -> str:
    """The text of a Go file. Raises UsageProblem."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageProblem(f"{one_line(str(path), 200)}: cannot be read: {reason}") from None
