"""A scheduler of the user's own: a Go package with plugins out of tree, and a KubeSchedulerConfiguration, which the driver is built with."""

import hashlib
import json
import re
from pathlib import Path

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import one_line
from .toolchain import Go

CONFIGURATION = "scheduler.yaml"
REGISTRY = "func Registry() runtime.Registry"
"""What the package has, of k8s.io/kubernetes/pkg/scheduler/framework/runtime."""

FILE = "own_user.go"
"""The file of the driver that names the package."""

_DRIVER = "# k8s.io/kubernetes/pkg/scheduler/podrace"
_FILE = """package podrace

import user {package}

func init() {{ own.registry = user.Registry }}
"""


class OwnScheduler(Data):
    """The package in `folder`, of the module in `root`; `name` is what the user calls it. `replaces`: modules, its own among them, and what go.mod has instead of each. `configuration` is the text of its scheduler.yaml, empty without one; `digest` stands for all other files.

    A change of the configuration needs no build: the driver reads it when it runs.
    """

    name: str
    folder: Path
    root: Path
    module: str
    replaces: tuple[tuple[str, str], ...]
    configuration: str
    digest: str

    @property
    def package(self) -> str:
        """The path by which its package is imported."""
        return "/".join((self.module, *self.folder.relative_to(self.root).parts))

    @property
    def version(self) -> str:
        """The version by which the driver requires its module: any that goes with the path."""
        major = re.search(r"(?:/v|\.v)([2-9]|[1-9][0-9]+)$", self.module)
        return f"v{major[1] if major else 0}.0.0"

    @property
    def source(self) -> str:
        """The text of the driver's file that names it."""
        return _FILE.format(package=json.dumps(self.package))

    @property
    def sums(self) -> str:
        """The lines of its go.sum."""
        file = self.root / "go.sum"
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def problem_of(self, said: str, version: str) -> str:
        """What is wrong with it, where a build has failed with these words; empty if it is not to blame."""
        package = place = ""
        for line in said.splitlines():
            if line.startswith("# "):
                package = line
            elif re.match(r"\S+\.go:[0-9]+", line):
                place = one_line(" ".join(line.split()), 240)
                break
        if FILE in place:
            return f"--scheduler {self.name}: package {self.package} has no `{REGISTRY}`: {place.partition(': ')[2]}"
        if place and not package.startswith(_DRIVER):
            return f"--scheduler {self.name}: it does not compile with {version}: {place}"
        return ""


def own_scheduler(text: str, go: Go) -> OwnScheduler:
    """The scheduler in a directory. Raises UsageProblem."""
    name = one_line(text, 200)
    folder = Path(text)
    if not folder.is_dir():
        raise UsageProblem(
            f"--scheduler {name}: there is no such directory: name one with a Go package that has `{REGISTRY}`"
        )
    folder = folder.resolve()
    if not any(path.suffix == ".go" and not path.name.endswith("_test.go") for path in folder.iterdir()):
        raise UsageProblem(
            f"--scheduler {name}: it has no Go files: name a directory with a Go package that has `{REGISTRY}`"
        )
    root = next((place for place in (folder, *folder.parents) if (place / "go.mod").is_file()), None)
    if root is None:
        raise UsageProblem(f"--scheduler {name}: no go.mod there or above: run `go mod init` there")
    declared = json.loads(go.run(["mod", "edit", "-json", str(root / "go.mod")], folder))
    replaces, places = [(declared["Module"]["Path"], _quoted(root))], [root]
    for row in declared.get("Replace") or ():
        path, version = row["New"]["Path"], row["New"].get("Version")
        if version is None:
            places.append((root / path).resolve())
        replaces.append((row["Old"]["Path"], f"{path} {version}" if version else _quoted(places[-1])))
    configuration = _text_of(folder / CONFIGURATION, name)
    return OwnScheduler(
        name, folder, root, replaces[0][0], tuple(replaces), configuration, _digest_of(places)
    )


def _text_of(file: Path, name: str) -> str:
    try:
        return file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"--scheduler {name}: {CONFIGURATION} cannot be read: {error}") from None


def _quoted(place: Path) -> str:
    return json.dumps(str(place), ensure_ascii=False)


def _digest_of(roots: list[Path]) -> str:
    found = hashlib.sha256()
    for root in roots:
        for file in sorted(root.rglob("*")):
            if file.is_file() and file.name != CONFIGURATION and ".git" not in file.parts:
                found.update(f"{file.relative_to(root)}\0".encode())
                found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:16]
