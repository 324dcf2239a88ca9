"""The feature gates that a source tree registers (pkg/features/kube_features.go): stage and default of each.

Up to 1.30 one map says what holds; from 1.31 on, and only so from 1.32 on, each gate has a list of versions, of which the last one
holds in the tree itself.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import one_line
from ...model.history.versions import canonical
from ...model.history.versions.gates import Gate, State, gates
from .source_tree import files_below, read_source, scheduler_in

FILES = ("kube_features.go", "versioned_kube_features.go")
PLACES = ("pkg/features", "vendor/k8s.io/kubernetes/pkg/features", "")
"""Where a tree may have them; the last: it is that directory itself."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MAP = re.compile(r"=\s*map\[\w+\.Feature\]\w+\.(?:FeatureSpec|VersionedSpecs)\s*\{")
_NAME = re.compile(r'(\w+)\s+\w+\.Feature\s*=\s*"(\w+)"')
_ENTRY = re.compile(r"([\w.]+)\s*:\s*\{")
_SPEC = re.compile(
    r"Default:\s*(true|false)\s*,\s*PreRelease:\s*\w+\.(\w+)(?:\s*,\s*LockToDefault:\s*(true|false))?"
)
_VERSION = re.compile(r'MustParse\("(\d+)\.(\d+)"\)')
_USED = re.compile(r"\bfeatures\.([A-Z]\w+)")
_NO_GATES = {"Features", "FeatureGate"}
_STAGES = {"Alpha": "alpha", "Beta": "beta", "GA": "GA", "Deprecated": "deprecated"}


class GateChange(Data):
    """A gate that has another stage or default, or that nobody has looked at, in a few words."""

    name: str
    words: str


def gate_changes(directory: Path, version: str) -> list[GateChange]:
    """The gates that concern the scheduler and are not what they were in a version, and those that it asks for and the table of gates
    does not have; none if the tree does not register gates. Raises UsageProblem."""
    root = scheduler_in(directory)
    folder = root.parent / "features"
    name = canonical(version)
    if name is None or not (folder / FILES[0]).is_file():
        return []
    found = read_gates(folder)
    unknown = (g for g in sorted(_used(root) & found.keys()) if g not in gates())
    return differing(name, found) + [
        GateChange(g, f"{g}: {found[g].words}, not in the table of gates") for g in unknown
    ]


def _used(root: Path) -> set[str]:
    """The gates that the scheduler names, tests apart."""
    return {gate for path in files_below(root) for gate in _USED.findall(read_source(path))} - _NO_GATES


def read_gates(tree: Path) -> dict[str, State]:
    """The state of every gate that a source tree registers, by its name. Raises UsageProblem if it has no such file."""
    shown = one_line(str(tree), 200)
    folder = next((tree / place for place in PLACES if (tree / place / FILES[0]).is_file()), None)
    if folder is None:
        raise UsageProblem(
            f"`{shown}` has no pkg/features/{FILES[0]}: name the root of a kubernetes source tree"
        )
    found: dict[str, State] = {}
    for file in FILES:
        if (folder / file).is_file():
            try:
                found |= gates_of((folder / file).read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or "it is not UTF-8"
                raise UsageProblem(f"{one_line(str(folder / file), 200)}: cannot be read: {reason}") from None
    return found


def gates_of(source: str) -> dict[str, State]:
    """The gates that a Go file registers."""
    text = _COMMENT.sub("", source)
    names = dict(_NAME.findall(text))
    found = {}
    for start in _MAP.finditer(text):
        for constant, body in _entries(text, start.end()):
            state = _latest(body)
            if state is not None:
                name = constant.rpartition(".")[2]
                found[names.get(name, name)] = state
    return found


def differing(
    version: str, found: Mapping[str, State], table: Mapping[str, Gate] | None = None
) -> list[GateChange]:
    """The gates of the table (podrace's own) that a tree of this version has otherwise; what the table does not know is left out."""
    drifted = []
    for name, gate in (gates() if table is None else table).items():
        state = gate.at(version)
        if state is not None and not state.is_known:
            continue
        if state != found.get(name):
            drifted.append(GateChange(name, f"{name}: {_words(found.get(name))}, was: {_words(state)}"))
    return drifted


def _words(state: State | None) -> str:
    return state.words if state else "no such gate"


def _entries(text: str, at: int) -> Iterator[tuple[str, str]]:
    """The members of the map whose body begins here: key, and what stands between its braces."""
    while entry := _ENTRY.match(text, _skip(text, at)):
        end = _closing(text, entry.end())
        yield entry[1], text[entry.end() : end]
        at = end + 1


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at


def _closing(text: str, at: int) -> int:
    """Where the brace closes that opened just before."""
    depth = 1
    while at < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at - 1


def _latest(body: str) -> State | None:
    """What the last version of an entry says; an entry without versions says one thing."""
    found: dict[tuple[int, ...], State] = {}
    for line in body.split("}"):
        spec, version = _SPEC.search(line), _VERSION.search(line)
        if spec is not None:
            number = (int(version[1]), int(version[2])) if version else (0, 0)
            stage = _STAGES.get(spec[2], spec[2])
            found[number] = State(stage, spec[1] == "true", spec[3] == "true")
    return found[max(found)] if found else None
