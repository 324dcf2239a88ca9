"""The functions of kube-scheduler in a source tree, and those of the API server that decide about a binding."""

from __future__ import annotations

from pathlib import Path

from ...base.problems import UsageProblem
from ...base.text import one_line
from ...model.history.upstream import is_left_out
from .go_functions import Function, functions_of

PLACES = ("pkg/scheduler", "vendor/k8s.io/kubernetes/pkg/scheduler", "plugin/pkg/scheduler", "")
"""Where a tree may have the scheduler; the last: it is the scheduler's own directory."""

REGISTRY = ("registry/core/pod/storage/storage.go", "registry/core/pod/strategy.go")
"""Beside the scheduler, below pkg: what the API server does with a Binding and with an update of a pod."""


def functions_in(directory: Path) -> dict[str, Function]:
    """The functions that are recorded, by `file:Type.Name`: tests and whole files outside of the model apart. Raises UsageProblem.

    Files are named from the scheduler's directory, and with the folder `backend` of 1.32 where an older tree has `internal`.
    """
    root = scheduler_in(directory)
    named = {_file(path.relative_to(root).as_posix()): path for path in files_below(root)}
    named |= {f"../{name}": root.parent / name for name in REGISTRY if (root.parent / name).is_file()}
    found: dict[str, Function] = {}
    for file, path in named.items():
        if not is_left_out(file):
            found |= {
                f"{file}:{name}": function for name, function in functions_of(read_source(path)).items()
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
