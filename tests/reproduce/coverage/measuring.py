"""The driver built so that it counts which statements of pkg/scheduler are reached, and run with cases."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from podrace.reproduce.case import Case, format_cases
from podrace.reproduce.modules.module import KubernetesVersion
from podrace.reproduce.modules.toolchain import Go, GoProblem
from podrace.reproduce.running import (
    BINARY,
    BUILD,
    BUILD_SECONDS,
    CASES,
    OUTCOMES,
    RUN_SECONDS,
    TEST,
    Built,
    Say,
    driver_files,
    run_test,
    write_sources,
)
from tests.reproduce.coverage.profile import Reached, merged_text, read_profiles

SCHEDULER = "k8s.io/kubernetes/pkg/scheduler"
DRIVER = f"{SCHEDULER}/podrace"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What some cases reach of a version's scheduler: all packages that are linked, and their functions."""

    version: str
    cases: int
    packages: tuple[Reached, ...]
    functions: tuple[Reached, ...]


def measured(version: KubernetesVersion, go: Go, batches: Sequence[Sequence[Case]], say: Say) -> Coverage:
    """The coverage of these cases, each batch of them in a process of its own. Raises GoProblem.

    Nothing is kept: the build takes minutes.
    """
    with tempfile.TemporaryDirectory(prefix="podrace-coverage-") as name:
        folder = Path(name)
        say(f"fetching the modules of {version}")
        files = write_sources(folder, version, go, driver_files(version))
        go.run(["run", "./gen"], folder, timeout=BUILD_SECONDS)
        linked = go.run(["list", "-test", "-deps", "."], folder, timeout=BUILD_SECONDS).splitlines()
        wanted = sorted({p for p in linked if p.startswith(SCHEDULER) and not p.startswith(DRIVER)})
        say(f"compiling the scheduler of {version}, {len(wanted)} packages of which are counted")
        build = [*BUILD, "-cover", f"-coverpkg={','.join(wanted)}", "-o", BINARY, "."]
        go.run(build, folder, timeout=BUILD_SECONDS)
        built = Built(version, folder, files.instead)
        profile = read_profiles([_run(built, batch, folder) for batch in batches])
        (folder / "merged.out").write_text(merged_text(profile), encoding="utf-8")
        listed = go.run(["tool", "cover", "-func=merged.out"], folder, timeout=BUILD_SECONDS)
        count = sum(len(batch) for batch in batches)
        packages = tuple(profile.packages())
        return Coverage(str(version), count, packages, tuple(profile.functions(listed)))


def _run(built: Built, cases: Sequence[Case], folder: Path) -> str:
    """The profile of one process."""
    (folder / CASES).write_text(format_cases(cases), encoding="utf-8")
    named = {"PODRACE_CASES": folder / CASES, "PODRACE_OUTCOMES": folder / OUTCOMES}
    profile = folder / "cover.out"
    more = [f"-test.coverprofile={profile}"]
    said = run_test(built, TEST, named, folder, RUN_SECONDS * len(cases), more)
    if said:
        raise GoProblem(f"the driver ended: {said}")
    return profile.read_text(encoding="utf-8")
