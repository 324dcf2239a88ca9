"""The driver's module for a version: written, built once, and run with cases.

What is built is kept below podrace's cache, by the version of kubernetes, the Go that built it and the driver's files. A directory that a user
asks for has all of it but the binary, and runs by itself.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from ..analysis.request.option_files import links_in, refuse_links
from ..base.files import write_whole
from ..base.problems import UsageProblem
from ..base.structs import Data
from ..base.text import Slow, one_line
from ..checker.core.kept import cache_directory
from ..checker.core.signing import (
    LEAST,
    VARIABLE,
    is_signed,
    key_file,
    make_private,
    others_may_write,
    signature,
)
from .case import Case, format_cases
from .modules import driver, held
from .modules.driver import GENERATED
from .modules.module import OWN_DRIVERS, KubernetesVersion, ModuleFiles, sources_of, write_module
from .modules.own import CONFIGURATION, FILE, OwnScheduler
from .modules.toolchain import FLAGS, BuildProblem, Go, GoProblem
from .outcome import Outcome, read_outcomes

BINARY, CASES, OUTCOMES, NOTES = "replay.test", "cases.jsonl", "outcomes.jsonl", "modules.json"
SIGNATURE = "signature"
_USE = "driver"
TEST = "TestReplay"
KEEPS = "PODRACE_KEEPS"

OWN = "PODRACE_"
"""How the variables begin that a binary reads. Those that somebody else has set are kept from it: PODRACE_DAMAGED damages the code that is judged."""

BUILD_SECONDS = 3600.0
BUILD = ("test", "-c", "-vet=off")
"""Vet would read all of kubernetes that is linked, for the sake of the driver alone."""
RUN_SECONDS = 120.0
"""How long a case may take; a binary with many of them gets as much for each."""

WITH_CLAIMS = (1, 34)
"""The first release with resource.k8s.io/v1, whose ResourceClaims the driver plays."""

Say = Callable[[str], None]

REMEDY = "name a directory in which something can be built with the variable PODRACE_CACHE"


class Built(Data):
    """A binary that replays cases on a version. `instead`: see ModuleFiles. `holds`: the goroutine that moves pods can be held amid the move. `own` describes the user's plugins. `until`: what it runs at that moment of the monotonic clock is cut off."""

    version: KubernetesVersion
    folder: Path
    instead: Mapping[str, str]
    holds: bool = False
    own: str = ""
    until: float = inf

    @property
    def binary(self) -> Path:
        """The program."""
        return self.folder / BINARY


class OutOfTime(Exception):
    """The time is up that somebody has set for what a binary runs."""


def driver_files(version: KubernetesVersion, holds: bool = False) -> dict[str, str]:
    """The files of the driver for a version by their paths in the module; `holds`: for a copy of its sources in which movers can be held."""
    if version in OWN_DRIVERS:
        return dict(OWN_DRIVERS[version].files)
    found = driver.driver_files(claims=(version.major, version.minor) >= WITH_CLAIMS, amid=holds)
    return found if version.own is None else {**found, FILE: version.own.source}


def key_of(
    version: KubernetesVersion,
    go: Go,
    sources: Mapping[str, str],
    counted: Sequence[str] = (),
) -> str:
    """By what a binary is found again."""
    of_tree = [] if version.tree is None else [held.digest_of(version.tree)]
    of_tree += [] if version.own is None else [str(version.own.folder), version.own.digest]
    text = json.dumps(
        [version.tag, go.version, FLAGS, *sources.items(), held.written_as(), *of_tree, *counted]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_sources(
    folder: Path, version: KubernetesVersion, go: Go, sources: Mapping[str, str]
) -> ModuleFiles:
    """Write the module without cases into a folder that is there. Raises GoProblem."""
    for path, text in sources.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text.encode(), durable=False)
    own = OWN_DRIVERS.get(version)
    return write_module(version, go, folder) if own is None else own.write_module(go, folder)


def built_for(
    version: KubernetesVersion, go: Go, say: Say, counted: Sequence[str] = (), what: str = ""
) -> Built:
    """The binary for a version, built if there is none yet. Raises GoProblem.

    It counts which statements of the packages `counted` are executed. `what` says to the user what is built.
    """
    sources = driver_files(version, holds=True)
    kept = kept_in() / f"{version.tag}-{key_of(version, go, sources, counted)}"
    if not is_as_built(kept):
        if (kept / BINARY).exists():
            say(f"what is kept of {version} is not as podrace built it for you: it is built again")
        # One place for the sources of all trees: Go's cache knows packages by their place, and builds what has not changed only once.
        copy = kept.parent / f"sources-{version.tag}"
        refuse_read_only(kept.parent)
        # Before the wait for another podrace: that the version needs a newer Go is said at once.
        origin = None if version in OWN_DRIVERS else sources_of(version, go, kept.parent)
        with alone_in(copy, say, "builds the sources"):
            if not is_as_built(kept):
                say(building(what or version.tag))
                _build_into(kept, version, go, origin, copy, counted)
    notes = json.loads((kept / NOTES).read_text(encoding="utf-8"))
    built = Built(version, kept, notes["instead"], notes["holds"])
    return built if version.own is None else replace(built, own=_described(built, version.own))


def _described(built: Built, own: OwnScheduler) -> str:
    """The user's plugins, with their extension points. Raises UsageProblem if no scheduler can be made with them."""
    with tempfile.TemporaryDirectory(prefix="podrace-own-") as name:
        file = Path(name) / "own.json"
        said = run_test(built, "TestOwn", {"PODRACE_OWN": file}, file.parent, RUN_SECONDS)
        found: dict[str, Any] = (
            json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"problem": said}
        )
    if found["problem"]:
        place = f"{own.name}: {CONFIGURATION}" if own.configuration else own.name
        raise UsageProblem(f"--scheduler {place}: {one_line(' '.join(found['problem'].split()), 400)}")
    plugins = [f"{name} ({', '.join(at)})" for name, at in sorted(found["plugins"].items()) if at]
    without = f"; without {', '.join(found['without'])}" if found["without"] else ""
    return f"{own.name}: {', '.join(plugins) or 'no plugin of yours is enabled'}{without}"


def taken(built: Built) -> Built:
    """The binary of a change at a place of its own: another podrace that judges the same change deletes only what it has built itself."""
    folder = Path(tempfile.mkdtemp(dir=built.folder.parent, prefix="judged-"))
    built.folder.rename(folder)
    return replace(built, folder=folder)


def is_as_built(folder: Path) -> bool:
    """Whether podrace built what is kept there, for this user: it is run, and decides verdicts."""
    try:
        return is_signed((folder / SIGNATURE).read_bytes(), _USE, folder.name.encode(), *_digests(folder))
    except OSError:
        return False


def _build_into(
    kept: Path,
    version: KubernetesVersion,
    go: Go,
    origin: Path | None,
    copy: Path,
    counted: Sequence[str],
) -> None:
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=f"{version.tag}-") as name:
        made = Path(name) / "made"
        made.mkdir()
        if origin is None:
            _compile(made, version, go, False, ())
        else:
            holds = held.held_copy(origin, copy)
            _compile(made, replace(version, tree=copy), go, holds, counted)
        _sign(made, kept.name)
        shutil.rmtree(kept, ignore_errors=True)
        made.rename(kept)  # all at once: who finds a binary there runs it, whole or not


def _sign(folder: Path, name: str) -> None:
    signed = signature(_USE, name.encode(), *_digests(folder))
    if signed is None:
        raise GoProblem(
            f"the cache: what is built cannot be signed, since `{key_file()}` cannot be written or is another user's: set {VARIABLE} to a "
            f"secret of at least {LEAST} characters"
        )
    write_whole(folder / SIGNATURE, signed)


def _digests(folder: Path) -> list[bytes]:
    found = []
    for name in (BINARY, NOTES):
        with open(folder / name, "rb") as file:
            found.append(hashlib.file_digest(file, "sha256").digest())
    return found


def kept_in() -> Path:
    """Where what is built is kept. Raises GoProblem for a directory that cannot be made, or into which others may write: what is in it is run."""
    found = cache_directory() / "real"
    for folder in (found.parent, found):
        try:
            make_private(folder)
        except OSError as error:
            raise GoProblem(f"the cache: `{folder}`: {error.strerror}: {REMEDY}") from None
        if others_may_write(folder):
            raise GoProblem(
                f"the cache: others may write into `{folder}`, and what is built there is run: run `chmod go-w {folder}`"
            )
    return found


@contextmanager
def alone_in(folder: Path, say: Say, doing: str = "is running Go tests") -> Iterator[None]:
    """Wait until no other podrace works in the folder: it would run what this one has built, with other patches."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    refuse_read_only(folder.parent)
    with folder.with_name(f"{folder.name}.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(Slow(f"waiting for another podrace, which {doing} of this version"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def refuse_read_only(folder: Path) -> None:
    """Raises GoProblem for a directory of the cache in which nothing can be built."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise GoProblem(f"the cache: nothing can be written into `{folder}`: {REMEDY}")


def _compile(
    folder: Path,
    version: KubernetesVersion,
    go: Go,
    holds: bool,
    counted: Sequence[str],
) -> None:
    files = write_sources(folder, version, go, driver_files(version, holds))
    notes = {"instead": dict(files.instead), "holds": holds}
    (folder / NOTES).write_text(json.dumps(notes, indent=2) + "\n", encoding="utf-8")
    try:
        go.run(["run", "./gen"], folder, timeout=BUILD_SECONDS)
        count = ["-cover", f"-coverpkg={','.join(counted)}"] if counted else []
        go.run([*BUILD, *count, "-o", BINARY, "."], folder, timeout=BUILD_SECONDS)
    except BuildProblem as problem:
        log = cache_directory() / "real" / f"{version.tag}-build.log"
        log.write_text(problem.text, encoding="utf-8")
        of_own = "" if version.own is None else version.own.problem_of(problem.text, version.tag)
        words = of_own or f"{version.tag}: {problem}"
        raise BuildProblem(f"{words} (all of it: {log})", problem.text) from None


def building(what: str) -> Slow:
    """What is said before Go builds a scheduler."""
    return Slow(f"building the scheduler {what} (first time: 2 to 4 minutes)")


def run_cases(built: Built, cases: Sequence[Case], keeps: bool = False) -> dict[str, Outcome]:
    """What becomes of each case, by its name; `keeps`: with what the scheduler keeps in memory. One with which the driver ends has CRASHED; those after it are run without it."""
    found: dict[str, Outcome] = {}
    left = list(cases)
    while left:
        with tempfile.TemporaryDirectory(prefix="podrace-real-") as name:
            folder = Path(name)
            (folder / CASES).write_text(format_cases(left), encoding="utf-8")
            named: dict[str, object] = {
                "PODRACE_CASES": folder / CASES,
                "PODRACE_OUTCOMES": folder / OUTCOMES,
            }
            named |= {KEEPS: 1} if keeps else {}
            said = run_test(built, TEST, named, folder, RUN_SECONDS * len(left))
            outcomes = read_outcomes(folder / OUTCOMES)
        found |= outcomes
        left = [case for case in left if case.id not in outcomes]
        if left:
            crashed = left.pop(0)
            found[crashed.id] = Outcome(crashed.id, "CRASHED", why=said or "the driver says nothing of it")
    return found


def run_test(
    built: Built,
    test: str,
    named: Mapping[str, object],
    folder: Path,
    seconds: float,
    more: Sequence[str] = (),
) -> str:
    """Run a test of the driver, which finds its files by these variables of the environment; what it says if it fails. Raises OutOfTime."""
    theirs = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    environment = {"GOGC": "400", **theirs, **{name: str(file) for name, file in named.items()}}
    if built.version.own is not None:
        environment["PODRACE_SCHEDULER"] = built.version.own.configuration
    left = built.until - time.monotonic()
    if left <= 0:
        raise OutOfTime
    command = [str(built.binary), "-test.run", f"^{test}$", f"-test.timeout={seconds:.0f}s", *more]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=min(seconds + 30, left),
            check=False,
        )
    except subprocess.TimeoutExpired:
        if left <= seconds + 30:
            raise OutOfTime from None
        return f"it did not end within {seconds:.0f} s"
    except OSError as error:
        raise UsageProblem(f"cannot run {built.binary}: {error.strerror}") from None
    return _complaint(done.stdout) if done.returncode else ""


def _complaint(text: str) -> str:
    """The line of a Go test's output that says most about its failure."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    marks = ("panic:", "fatal error:", "--- FAIL", "FAIL")
    found = (line for mark in marks for line in lines if line.startswith(mark))
    return next(found, lines[-1] if lines else "")[:300]


README = """\
# {title}

{about}

This module executes the run on the unmodified kube-scheduler of {version}, by the driver of podrace. It needs Go 1.26 or later, and nothing of
podrace. One command:

    GOFLAGS='{flags}' sh -c 'go run ./gen && PODRACE_CASES=$PWD/{cases} PODRACE_OUTCOMES=$PWD/{outcomes} go test -run {test} -v .'

`go run ./gen` writes {generated}, the wrappers around the interfaces of this version. The first build takes minutes. Then {outcomes} says
for each step which calls of the scheduler were let go, and what of its state has changed; {cases} has the steps of the model with what
they change there.
{instead}"""


def refuse_unusable(folder: Path, option: str = "--directory") -> None:
    """Find out before any work that a module cannot be written into a directory. Raises UsageProblem.

    A directory with anything but an earlier module in it is left alone.
    """
    refuse_links(option, folder)
    if folder.exists() and not folder.is_dir():
        raise UsageProblem(f"{option}: `{folder}` is a file: name a directory")
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise UsageProblem(f"{option}: cannot write into `{existing}`: permission denied")
    if folder.exists() and any(folder.iterdir()) and not (folder / CASES).exists():
        foreign = min(path.name for path in folder.iterdir())
        raise UsageProblem(f"{option}: `{folder}` holds other things (`{foreign}`): name a new directory")
    if links := links_in(folder):
        raise UsageProblem(f"{option}: `{links[0]}` is a link, and podrace writes through none: remove it")


def write_directory(
    folder: Path, version: KubernetesVersion, go: Go, cases: Sequence[Case], about: str
) -> None:
    """Write a module with cases that runs by itself. Raises UsageProblem or GoProblem."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        module = write_sources(folder, version, go, driver_files(version))
        write_whole(folder / CASES, format_cases(cases).encode(), durable=False)
        names = ", ".join(f"`{case.id}`" for case in cases)
        told = README.format(
            title=f"{names} on {version}",
            about=about,
            version=version,
            flags=FLAGS,
            cases=CASES,
            outcomes=OUTCOMES,
            test=TEST,
            generated=GENERATED,
            instead=_instead(module.instead),
        )
        write_whole(folder / "README.md", told.encode(), durable=False)
    except OSError as error:
        raise UsageProblem(f"--directory: cannot write into `{folder}`: {error.strerror}") from None


def _instead(modules: Mapping[str, str]) -> str:
    lines = [f"- {module} {taken}" for module, taken in modules.items()]
    return "\n".join(["", "Modules of which another version was taken, because the one that upstream asks for is not to be had:", "", *lines, ""]) if lines else ""  # fmt: skip
