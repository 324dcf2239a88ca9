"""The table of docs/notebook/real-runs.md with every step of the model, part by part: which of them the driver can force, which lie within one lock of upstream's, and which it does not play.

The steps are those of the releases that can be built, and of them with all modelled gates on. What the driver has rules for is read in its tables, which are Go.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from podrace.analysis.request.plan import Selection, plan
from podrace.analysis.request.release_names import known_releases
from podrace.model.cluster import build_cluster
from podrace.model.language import Component
from podrace.model.language.declarations.component import steps_of
from podrace.reproduce.modules.module import OLDEST
from podrace.scenarios import find_scenarios

DRIVER = Path(__file__).parents[3] / "reproduce" / "driver"
GATES = ("SchedulerAsyncAPICalls=true",)
"""Gates that are off by default and with which the model has steps of its own."""

_RULE = re.compile(r'^\t+"([a-z_]+\.[a-z_]+)": +\{(.*)$', re.MULTILINE)
_NAMED = re.compile(r'"([a-z_]+\.[a-z_]*[a-z])"')
_BLOCK = re.compile(r"(<!-- steps -->\n)(.*?)(<!-- /steps -->)", re.DOTALL)

_UNPLAYED = re.compile(r"(<!-- unplayed -->\n)(.*?)(<!-- /unplayed -->)", re.DOTALL)

UNPLAYED = {
    "claim_cache.take": "up to 1.34.3 and in 1.35.0 (without 136269), several goroutines deliver events of the assume cache, and the driver controls only one of them",
    "claim_cache.tell_late": "as `claim_cache.take`",
    "process.bind_in_doubt": "the driver executes a Binding before it responds, and cannot execute the Binding later (`late_bindings`)",
    "dynamic_resources.give_up_search": "a search for devices is one call, and the driver's clock stands still during it (`filter_timeouts`)",
    "process.land_late": "as `process.bind_in_doubt`",
    "pod_watch.stall": "the driver delivers every event before a list can show the change (`watch_stalls`)",
    "node_watch.stall": "as `pod_watch.stall`",
}
"""Why the driver does not play a step."""

Parts = dict[str, tuple[list[str], list[str], list[str]]]
"""By part: the steps that have a rule, those within one lock, and those without a rule."""


def rules() -> dict[str, bool]:
    """The steps for which the driver has a rule, each with whether the rule says that it lies within one lock."""
    found = {}
    for path in DRIVER.rglob("*.go"):
        if "old" not in path.relative_to(DRIVER).parts and not path.name.endswith("_test.go"):
            for name, rule in _RULE.findall(path.read_text(encoding="utf-8")):
                found[name] = "do: within(" in rule
    return found


def steps() -> list[str]:
    """The steps of the model in releases that can be built."""
    names = (f"{part.name}.{one.name}" for part in model_parts() for one in steps_of(part))
    return list(dict.fromkeys(names))


def model_parts() -> Iterator[Component]:
    """The parts of the model in these releases."""
    (scenario,) = find_scenarios("72124")
    for release, gates in _compositions():
        run = plan(Selection(release=release, gates=gates, given=[scenario]))[0]
        yield from build_cluster(scenario.spec, run.composition.classes).parts.values()


def named(folder: Path) -> Iterator[tuple[str, str]]:
    """What the code of a folder, Python and Go, may mean by a step: `part.step` as one string, or as a pair of them in Python; each with its file."""
    for path in sorted(folder.rglob("*.go")):
        yield from ((name, path.name) for name in _NAMED.findall(path.read_text(encoding="utf-8")))
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            texts = [
                one.value if isinstance(one, ast.Constant) else None
                for one in (node.elts if isinstance(node, ast.Tuple) else [node])
            ]
            if len(texts) < 3 and all(isinstance(text, str) for text in texts):
                yield from ((name, path.name) for name in _NAMED.findall(f'"{".".join(map(str, texts))}"'))


def _compositions() -> Iterator[tuple[str, tuple[str, ...]]]:
    for release in known_releases():
        if tuple(int(number) for number in release.split(".")[:2]) >= OLDEST:
            yield release, ()
    yield "1.36", GATES
    yield "1.37", ("GenericWorkload=true",)
    yield "1.38.0-beta.0", ("GenericWorkload=true",)
    trees = ("GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup")
    yield "1.38.0-beta.0", tuple(f"{gate}=true" for gate in trees)


def parts(names: list[str], known: Mapping[str, bool]) -> Parts:
    """The steps, part by part, in the order of the model."""
    found: Parts = {}
    for name in names:
        part, _, step = name.partition(".")
        played, locked, left = found.setdefault(part, ([], [], []))
        (locked if known.get(name) else played if name in known else left).append(step)
    return found


def put(text: str, found: Parts) -> str:
    """A page with this table."""
    numbers = [sum(len(columns[i]) for columns in found.values()) for i in range(3)]
    lines = [
        f"Of {sum(numbers)} steps {numbers[0]} can be forced, {numbers[1]} lie within one lock, and {numbers[2]} cannot be forced.",
        "",
        "| Part of the model | Forced | Within one lock | Not forced |",
        "|---|---|---|---|",
        *(
            f"| `{part}` | {' | '.join(', '.join(f'`{step}`' for step in column) for column in columns)} |"
            for part, columns in found.items()
        ),
    ]
    text = _BLOCK.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[3], text)
    whys = [f"| `{step}` | {UNPLAYED[step]} |" for step in _left(found)]
    return _UNPLAYED.sub(
        lambda match: match[1] + "\n".join(["| Step | Why |", "|---|---|", *whys]) + "\n" + match[3], text
    )


def _left(found: Parts) -> list[str]:
    return [f"{part}.{step}" for part, columns in found.items() for step in columns[2]]
