"""Upstream's unit tests of some packages, built once with all mutants, and run with one at work."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from podrace.reproduce.changes.damage import VARIABLE
from podrace.reproduce.changes.sources import made_tree
from podrace.reproduce.changes.tests import TESTED
from podrace.reproduce.modules import held
from podrace.reproduce.modules.module import KUBERNETES, KubernetesVersion, sources_of, write_module
from podrace.reproduce.modules.toolchain import Go
from podrace.reproduce.running import BUILD, BUILD_SECONDS, kept_in

MOST_SECONDS = 30.0
"""A test that takes longer without a mutant is left out."""
AGAIN, LEAST_SECONDS = 5, 60.0
"""The tests of a package with a mutant have so many times the seconds that they took without, and these."""

_ENDED = re.compile(r"^--- (PASS|FAIL|SKIP): (Test\w+) \((\d+\.\d+)s\)$", re.MULTILINE)
_RUNNING = re.compile(r"^\s+(Test\w+)(?:/.*)? \(\S+\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class UnitTests:
    """The tests of a package: how many there are, those that are left out, each with the reason, and how long the others take."""

    binary: Path
    folder: Path
    count: int = 0
    left_out: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0


def place(version: KubernetesVersion) -> Path:
    """Where they are built: Go knows packages by their place, and builds only what has changed."""
    return kept_in() / f"mutated-{version}"


def built(
    folder: Path, version: KubernetesVersion, go: Go, texts: Mapping[str, str], packages: Sequence[str]
) -> dict[str, UnitTests]:
    """The tests of each package, with these files in place of upstream's. Raises GoProblem."""
    folder.mkdir(parents=True, exist_ok=True)
    origin, tree = sources_of(version, go, folder), folder / "kubernetes"
    made_tree(origin, texts, tree)
    held.linked(origin / TESTED, tree / TESTED)
    module = folder / "module"
    module.mkdir(exist_ok=True)
    write_module(replace(version, tree=tree), go, module)
    found = {}
    for package in packages:
        binary = folder / f"{package.replace('/', '-')}.test"
        go.run([*BUILD, "-o", str(binary), f"{KUBERNETES}/{package}"], module, timeout=BUILD_SECONDS)
        found[package] = chosen(UnitTests(binary, tree / package))
    return found


def chosen(tests: UnitTests) -> UnitTests:
    """Those that pass twice without a mutant, and do not take long."""
    runs = [_ENDED.findall(_run(tests, 0, 1800.0, "-test.v")[1]) for _ in range(2)]
    left: dict[str, str] = {}
    for word, name, seconds in (row for ran in runs for row in ran):
        if word != "PASS" or float(seconds) > MOST_SECONDS:
            left.setdefault(name, word if word != "PASS" else f"{seconds} s")
    seconds = sum(float(s) for _, name, s in runs[1] if name not in left)
    return replace(tests, count=len(runs[1]), left_out=tuple(sorted(left.items())), seconds=seconds)


def first_failure(tests: UnitTests, number: int) -> str:
    """The first test that fails with a mutant, and passes without; empty if none does."""
    failed = _failure(tests, number)
    if not failed:
        return ""
    name = failed.split()[0]
    only = () if name == "all" else (f"-test.run=^{name}$",)
    return "" if _failure(tests, 0, *only) else failed


def _failure(tests: UnitTests, number: int, *more: str) -> str:
    code, said = _run(tests, number, AGAIN * tests.seconds + LEAST_SECONDS, "-test.failfast", *more)
    if code == 0:
        return ""
    failed = [name for word, name, _ in _ENDED.findall(said) if word == "FAIL"]
    if failed:
        return failed[0]
    why = "does not end" if code is None or "test timed out" in said else "panics"
    return f"{next(iter(_RUNNING.findall(said)), 'all')} {why}"


def _run(tests: UnitTests, number: int, seconds: float, *more: str) -> tuple[int | None, str]:
    skipped = "|".join(name for name, _ in tests.left_out)
    command = [str(tests.binary), f"-test.timeout={seconds:.0f}s", *more]
    if skipped:
        command.append(f"-test.skip=^({skipped})$")
    try:
        done = subprocess.run(
            command,
            cwd=tests.folder,
            env={**os.environ, VARIABLE: str(number)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=seconds + 30,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout
