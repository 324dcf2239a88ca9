"""Writes the tables of docs/scenarios.md and its schema and, in docs/notebook, properties-overview.md, properties.md, races.md, gates.md and functions.md from the model, its tables and the catalogue: `make reference`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from podrace.analysis.request.plan import default_properties, default_release
from podrace.model.history import CHANGES
from podrace.model.history.trees import read_trees
from podrace.model.history.upstream import KINDS as NO_ELEMENT
from podrace.model.history.upstream import Part, elements_of, is_value, not_modelled, parts
from podrace.model.history.versions import exact
from podrace.model.history.versions.gates import Gate, gates
from podrace.properties import PROPERTIES, Property
from podrace.properties.titles import GROUPS, TITLES
from podrace.reports.formats.json_schema import format_schema
from podrace.scenarios import Scenario, catalogue, hazards
from podrace.scenarios.scenario_schema import schema_of_scenarios
from podrace.scenarios.tables.all import TABLES
from podrace.scenarios.tables.baseline import schema_of_baselines

HERE = Path(__file__).parent
KINDS = {
    "invariant": "holds in every reachable state",
    "resettability": "can be brought about from every reachable state, by fair steps alone",
    "deadlock freedom": "holds in every state in which no fair step can run",
    "liveness": "is not violated indefinitely by any fair run",
}
_NOTE = "<!-- written by `make reference` -->"


def _below_its_text(page: str, *parts: str) -> str:
    """A page whose text, above the note, is written by hand, with these parts below it generated again."""
    text, _, _ = (HERE / page).read_text(encoding="utf-8").partition(_NOTE)
    return "\n\n".join([f"{text}{_NOTE}", *parts]) + "\n"


def properties_page() -> str:
    """The page of the properties."""
    return _below_its_text("notebook/properties.md", *_properties())


def _properties() -> Iterator[str]:
    rows = [f"| {kind} | {meaning} |" for kind, meaning in KINDS.items()]
    yield "\n".join(["| Kind | A property of this kind |", "|---|---|", *rows])
    for identifier, prop in PROPERTIES.items():
        yield from _property(identifier, prop)


def overview_page() -> str:
    """The table of all properties."""
    return _below_its_text("notebook/properties-overview.md", *_overview())


def _overview() -> Iterator[str]:
    for group, titles in GROUPS.items():
        yield f"## {group}"
        rows = [_overview_row(identifier, title) for identifier, title in titles.items()]
        yield "\n".join(
            ["| Name | Property | Kind | In one sentence | Shown by |", "|---|---|---|---|---|", *rows]
        )
    none = [identifier for identifier in PROPERTIES if not _shown_by(identifier)]
    if none:
        yield f"podrace has no scenario for these properties; check them on your own clusters: {', '.join(none)}."


def _overview_row(identifier: str, title: str) -> str:
    prop, link = PROPERTIES[identifier], f"properties.md#{_slug(identifier)}"
    return f"| {title} | [{identifier}]({link}) | {prop.kind} | {_cell(prop.sentence())} | {_shown_by(identifier)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _shown_by(identifier: str) -> str:
    """The scenarios that are about a property."""
    races = [s.name for s in catalogue() if identifier in (*s.properties, *s.also)]
    open_ = [s.name for s in hazards() if identifier in (*s.properties, *s.also)]
    return ", ".join(
        [*(f"[{name}](races.md#{_slug(name)})" for name in races), *(f"*{name}*" for name in open_)]
    )


def _property(identifier: str, prop: type[Property]) -> Iterator[str]:
    yield f"## {identifier}"
    yield f"*{TITLES[identifier]}; {prop.kind}* — {prop.sentence()}"
    yield f"For users: {prop.consequence}"
    yield from prop.explanation()
    if prop.concerns:
        yield f"To [ignore this property](../configuration.md#for-single-pods), set `ignore` on {prop.concerns}."
    if prop.issues:
        yield f"See {', '.join(_issue(number) for number in prop.issues)}."
    shown = [s.name for s in catalogue() if identifier in (*s.properties, *s.also)]
    if shown:
        yield f"Scenarios: {', '.join(f'[{name}](races.md#{_slug(name)})' for name in shown)}."


def races_page() -> str:
    """The page of the races and the other scenarios."""
    return _below_its_text("notebook/races.md", *map("\n\n".join, map(_race, catalogue())))


def _race(scenario: Scenario) -> Iterator[str]:
    yield f"## {scenario.name}"
    if scenario.title:
        yield f"{scenario.title}."
    race = scenario.race
    if race is not None:
        fixes = ", ".join(_change(key) for key in race.fixes)
        yield f"Issue {_issue(race.issue)}, fixed by {fixes}."
        if race.beside:
            yield f"To show only this race, podrace always adds these changes, with and without the fix: {', '.join(map(_change, race.beside))}."
        if race.residual is not None:
            closed = ", ".join(_change(key) for key in race.residual.closed_by)
            yield f"With the fix, {_link(race.residual.property)} is still violated. To fix this as well, add {closed}."
    listed = ", ".join(_link(p) for p in default_properties(scenario))
    also = f" Related properties: {', '.join(_link(p) for p in scenario.also)}." if scenario.also else ""
    yield f"Release: {exact(default_release(scenario))}. Properties: {listed}.{also}"
    text = scenario.text.strip()
    yield f"```yaml\n{text}\n```"


def gates_page() -> str:
    """The page of the feature gates."""
    head = ["| Gate | What it is for | From | In podrace |", "|---|---|---|---|"]
    rows = [f"| {g.name} | {g.about} | {_history(g)} | {_in_podrace(g)} |" for g in gates().values()]
    return _below_its_text("notebook/gates.md", "\n".join([*head, *rows]))


def _history(gate: Gate) -> str:
    return "; ".join(f"{exact(since)} {state.words if state else 'gone'}" for since, state in gate.history)


def _in_podrace(gate: Gate) -> str:
    if gate.how == "modelled":
        keys = ", ".join(_change(change.key) for change in CHANGES.values() if change.gate == gate.name)
        taken = "".join(f"; podrace takes it as on in {release}" for release in gate.taken_as_on)
        if gate.taken_as_off:
            taken += f"; podrace takes it as off in {' and '.join(gate.taken_as_off)}, unless it is set"
        return f"modelled: {keys}{taken}"
    if gate.how == "abstracted":
        return f"[{gate.abstracted}](../model.md#what-is-abstracted)"
    return f"{'makes no difference' if gate.how == 'covered' else 'not modelled'}: {gate.covered or gate.unmodelled}"


def _link(identifier: str) -> str:
    return f"[{identifier}](properties.md#{_slug(identifier)})"


def _slug(heading: str) -> str:
    return heading.lower()


def _issue(number: int) -> str:
    return f"[kubernetes/kubernetes#{number}](https://github.com/kubernetes/kubernetes/issues/{number})"


def _change(key: str) -> str:
    return f"[{key}](https://github.com/kubernetes/kubernetes/pull/{key})" if key.isdigit() else f"`{key}`"


def functions_page() -> str:
    """The page of upstream's functions."""
    return "\n\n".join(_functions()) + "\n"


def _functions() -> Iterator[str]:
    trees = read_trees()
    yield f"{_NOTE}\n\n# Upstream's functions in the model"
    yield (
        "Which part of the model represents each function of `pkg/scheduler`, and of the API server's part in a binding? If there is no such part, the tables "
        "say why. File names are relative to `pkg/scheduler`. The source of this page is `model/history/functions/`. Tests check that "
        f"the page contains every function of {', '.join(trees.by_version)}, and that every named element of the model exists (below `model/`)."
    )
    newest = [place for place in trees.by_version[trees.newest] if not is_value(place)]
    counts = {kind: sum(_kind_of(place) == kind for place in newest) for kind in ("modelled", *NO_ELEMENT)}
    told = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    yield (
        f"{trees.newest} has {len(newest)} functions: {told}. Files in which every function is outside are not counted. *Abstracted*: the model contains "
        "a simplification, often with a [code such as A-SCORES](../model.md#what-is-abstracted). *Missing*: the function could matter to a race, and is not modelled. *Outside*: the "
        "function cannot matter to a race, or belongs to a feature that is off by default. [`podrace drift`](../drift.md) says which functions differ in another tree."
    )
    for part in parts():
        yield from _part(part)


def _kind_of(place: str) -> str:
    row = not_modelled(place)
    return "modelled" if elements_of(place) or row is None else row.kind


def _part(part: Part) -> Iterator[str]:
    yield f"## {part.title}"
    if part.modelled:
        rows = [f"| {row.upstream} | {row.model} | {row.releases} |" for row in part.modelled]
        yield "\n".join(["| Upstream | In the model | Releases |", "|---|---|---|", *rows])
    for kind in NO_ELEMENT:
        named = [row for row in part.others if row.kind == kind]
        if named:
            rows = [f"| {_named(row.functions, row.files)} | {row.reason} |" for row in named]
            yield "\n".join([f"| {kind.capitalize()} | Why |", "|---|---|", *rows])


def _named(functions: Mapping[str, tuple[str, ...]], files: tuple[str, ...]) -> str:
    """Functions by file; `*` means the others of the file."""
    named = [f"`{file}`: {', '.join(f'`{name}`' for name in names)}" for file, names in functions.items()]
    return "; ".join([*named, *(f"`{file}`" for file in files)])


_TABLE = re.compile(r"^\| Field \| Type \| Default \| Meaning \|\n(?:\|.*\n)*", re.MULTILINE)


def scenarios_page() -> str:
    """The page of scenario files as it is, with its tables written from the tables of fields."""
    head, *sections = (HERE / "scenarios.md").read_text(encoding="utf-8").split("\n## ")
    tables = {table.heading: table.page for table in TABLES}
    for number, section in enumerate(sections):
        before, rest = _TABLE.split(section + "\n", maxsplit=1)
        heading = section.partition("\n")[0]
        sections[number] = f"{before}{tables[heading]}\n{rest}"[:-1]
    return "\n## ".join([head, *sections])


def scenario_schema() -> str:
    """The JSON Schema of scenario files."""
    return format_schema(schema_of_scenarios())


def baseline_schema() -> str:
    """The JSON Schema of baselines."""
    return format_schema(schema_of_baselines())


PAGES = {
    "scenarios.md": scenarios_page,
    "schema/scenario.json": scenario_schema,
    "schema/baseline.json": baseline_schema,
    "notebook/properties-overview.md": overview_page,
    "notebook/properties.md": properties_page,
    "notebook/races.md": races_page,
    "notebook/gates.md": gates_page,
    "notebook/functions.md": functions_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
