"""The names of Go tests and of their files: none that Go leaves out, and none that the driver has already."""

import re
from collections.abc import Container
from functools import cache

from ..modules.module import KubernetesVersion
from ..running import driver_files

SYSTEMS = frozenset([
    "aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl", "netbsd",
    "openbsd", "plan9", "solaris", "wasip1", "windows", "zos",
])  # fmt: skip
PROCESSORS = frozenset([
    "386", "amd64", "amd64p32", "arm", "arm64", "arm64be", "armbe", "loong64", "mips", "mips64", "mips64le",
    "mips64p32", "mips64p32le", "mipsle", "ppc", "ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x", "sparc",
    "sparc64", "wasm",
])  # fmt: skip
"""A file whose name ends in one of these words is built for that system or processor alone, and for others left out without a word (go/build, goodOSArchFile)."""

ADDED = "race"
"""What is put behind a name that cannot be used as it is."""


def file_of(name: str) -> str:
    """The file of the test of a scenario."""
    return "_".join(_words(name.lower())) + "_test.go"


def name_of(identifier: str) -> str:
    """The name of the test: TestAssumedAfterLook for `assumed-after-look`."""
    return "Test" + "".join(word[0].upper() + word[1:] for word in _words(identifier))


def free_name(scenario: str, prop: str, version: KubernetesVersion, taken: Container[str]) -> str:
    """A name for the test of a scenario, whose file is none of those that are taken. Of several properties of one scenario the later ones have theirs in the name."""
    name = scenario if file_of(scenario) not in taken else f"{scenario}-{prop}"
    files, tests = _of_driver(version)
    while file_of(name) in files or name_of(name) in tests or file_of(name) in taken or _left_out(name):
        name = f"{name}-{ADDED}"
    return name


def _words(name: str) -> list[str]:
    return re.findall(r"[A-Za-z0-9]+", name)


def _left_out(name: str) -> bool:
    """Whether Go would not build the file: it passes over names that begin with an underscore, too."""
    words = _words(name.lower())
    return not words or words[-1] in SYSTEMS | PROCESSORS


@cache
def _of_driver(version: KubernetesVersion) -> tuple[frozenset[str], frozenset[str]]:
    """The driver's files, and the names of its own tests: a package has each but once."""
    files = driver_files(version)
    tests = re.findall(r"^func (Test\w*)\(", "\n".join(files.values()), re.MULTILINE)
    return frozenset(files), frozenset(tests)
