"""Go tests written into a module, with patches or without, and run there."""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...base.structs import Data
from ..modules.module import KubernetesVersion, sources_of
from ..modules.toolchain import Go, GoProblem
from ..patches import GoPatch, patched_copy, replaced
from ..running import (
    BUILD,
    BUILD_SECONDS,
    RUN_SECONDS,
    Say,
    alone_in,
    building,
    driver_files,
    kept_in,
    write_sources,
)

BINARY = "moves.test"
SOURCES = "kubernetes"

_RAN = re.compile(r"^--- (PASS|FAIL): (Test\w+) ")
_BEGUN = re.compile(r"^=== (?:RUN|CONT) +(Test\w+)$")
_SAID = re.compile(r"^ {4}\w+_test\.go:\d+: (.*)$")


class GoTestResult(Data):
    """What became of a test, and what it said."""

    name: str
    passed: bool
    said: tuple[str, ...] = ()


def write_go_tests(
    folder: Path,
    version: KubernetesVersion,
    go: Go,
    tests: Mapping[str, str],
    patches: Sequence[GoPatch] = (),
) -> None:
    """Write a module with tests, by their files' names, that runs by itself: `go run ./gen && go test`. Raises GoProblem.

    With patches, the sources of kube-scheduler that it is built from are a copy beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = write_sources(folder, version, go, driver_files(version))
    if patches:
        patched_copy(sources_of(version, go, folder), folder / SOURCES, patches)
        (folder / "go.mod").write_text(replaced(files.mod), encoding="utf-8")
    for name, text in tests.items():
        (folder / name).write_text(text, encoding="utf-8")


def run_go_tests(
    version: KubernetesVersion, go: Go, tests: Mapping[str, str], patches: Sequence[GoPatch], say: Say
) -> dict[str, GoTestResult]:
    """What becomes of tests on a version, with patches or without, by their names. Raises GoProblem."""
    # One place for all patches: Go's cache knows packages by their place, and builds what they did not change only once.
    # A driver that was there before may have had a file under another name.
    folder = kept_in() / f"go-tests-{version.tag}{'-patched' if patches else ''}"
    names = "|".join(re.findall(r"^func (Test\w+)\(", "\n".join(tests.values()), re.MULTILINE))
    with alone_in(folder, say):
        for left in folder.glob("*.go"):
            left.unlink()
        with_patches = "".join(f" + {patch.name}" for patch in patches)
        say(building(f"{version}{with_patches}"))
        write_go_tests(folder, version, go, tests, patches)
        build_in(folder, go)
        done = subprocess.run(
            [
                str(folder / BINARY),
                "-test.v",
                f"-test.run=^({names})$",
                f"-test.timeout={RUN_SECONDS * len(tests):.0f}s",
            ],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    return results_for(done.stdout, names.split("|"))


def results_for(output: str, names: Sequence[str]) -> dict[str, GoTestResult]:
    """What became of each test by its name. Raises GoProblem if the output does not say it of all: what ends the process ends those that come after, too."""
    found = {result.name: result for result in results_of(output)}
    if not found:
        raise GoProblem(f"the tests did not run: {output.strip()[-300:]}")
    left = [name for name in names if name not in found]
    if left:
        raise GoProblem(f"{', '.join(left)}: no result, for the process has ended: {output.strip()[-300:]}")
    return found


def build_in(folder: Path, go: Go) -> None:
    """Build the tests of a module. Raises GoProblem."""
    go.run(["run", "./gen"], folder, timeout=BUILD_SECONDS)
    go.run([*BUILD, "-o", BINARY, "."], folder, timeout=BUILD_SECONDS)


def results_of(output: str) -> Iterator[GoTestResult]:
    """What the output of `go test -v` says of each test."""
    said: list[str] = []
    for line in output.splitlines():
        if _BEGUN.match(line):
            said = []
        elif (match := _SAID.match(line)) is not None:
            said.append(match[1])
        elif (match := _RAN.match(line)) is not None:
            yield GoTestResult(match[2], match[1] == "PASS", tuple(said))
            said = []
