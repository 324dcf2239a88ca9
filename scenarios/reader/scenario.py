"""A scenario: a cluster, its scope, and what is to be checked in it.

Read here are the sections `expect` and `ignore`, of the file and of pods (what should come out, and what is not to be looked at),
and `race` (the upstream race that a scenario shows).
"""

from collections.abc import Mapping
from dataclasses import field, replace

from ...base.problems import Problem
from ...base.structs import Data
from ...model.environment.objects import ClusterSpec
from ..tables.file import EXPECTATIONS, EXPECTED, QUESTIONS, RACE, RESIDUAL, VERDICTS
from ..tables.resources import MAX_REASON
from ..values.ranges import RangeParameter
from ..values.yaml_values import Value


class Expectation(Data):
    """What should come out for one property, in one release with fixes put in and taken out.

    `release` is None where the scenario's own is meant; `steps` is the length of the shortest counterexample, if it is given;
    `path` is where in the file this is written.
    """

    property: str
    verdict: str
    path: str
    steps: int | None = None
    release: str | None = None
    with_fixes: tuple[str, ...] = ()
    without_fixes: tuple[str, ...] = ()
    feature_gates: Mapping[str, bool] = field(default_factory=dict)


class AskedOrder(Data):
    """Whether an order of steps is possible, in one release (None: the scenario's own); `steps` is the length of the shortest run, if it is given."""

    question: tuple[str, ...]
    answer: str
    path: str
    steps: int | None = None
    release: str | None = None


def read_asked(section: Value | None, lines: dict[str, int]) -> tuple[AskedOrder, ...]:
    """The section `ask`. Notes in `lines` where each question is."""
    found = []
    questions = section.elements("a list of questions") if section else ()
    if section and not questions:
        section.fail("nothing is asked: give a question and its answer, or remove the section")
    for value in questions:
        fields = QUESTIONS.fields(value, "a mapping with `question` and `answer`")
        lines |= {value.path: value.line, **{field.path: field.line for field in fields.values()}}
        said = {name: QUESTIONS[name].value(field) for name, field in fields.items()}
        if "steps" in said and said["answer"] != "possible":
            fields["steps"].fail("only a possible order has a shortest run: remove the field")
        found.append(
            AskedOrder(
                tuple(said["question"]), said["answer"], value.path, said.get("steps"), said.get("release")
            )
        )
    return tuple(found)


def read_expectations(section: Value | None, lines: dict[str, int]) -> tuple[Expectation, ...]:
    """The section: verdicts by property, or a list of releases with their verdicts. Notes in `lines` where they are."""
    if section is None:
        return ()
    if section.is_list:
        found = [e for element in section.elements("a list") for e in _of_release(element, lines)]
    else:
        found = _verdicts(section, Expectation("", "", ""), lines)
    if not found:
        section.fail("nothing is expected: give a verdict for a property, or remove the section")
    return tuple(found)


def _of_release(value: Value, lines: dict[str, int]) -> list[Expectation]:
    fields = EXPECTATIONS.fields(value, "a mapping with `verdicts`")
    release = fields["release"].scalar('a release such as "1.13"') if "release" in fields else None
    with_fixes, without_fixes = (_changes(fields.get(name)) for name in ("with_fixes", "without_fixes"))
    gates = read_feature_gates(fields.get("featureGates"), {})
    lines |= {field.path: field.line for field in fields.values()}
    of = Expectation("", "", "", None, release, with_fixes, without_fixes, gates)
    return _verdicts(fields["verdicts"], of, lines)


def read_feature_gates(section: Value | None, lines: dict[str, int]) -> Mapping[str, bool]:
    """The section `featureGates`, as a scheduler's configuration has it. Notes in `lines` where each is."""
    found = {}
    for key, value in section.items("a mapping from feature gates to true or false") if section else ():
        found[key.node.value] = value.boolean()
        lines[key.path] = key.line
    return found


def _changes(value: Value | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(
        f.scalar("the key of an upstream change") for f in value.elements("a list of upstream changes")
    )


def _verdicts(section: Value, of: Expectation, lines: dict[str, int]) -> list[Expectation]:
    """What is expected of each property: `of` says in which release, with which fixes and gates."""
    found = []
    for key, value in section.items("a mapping from properties to verdicts"):
        lines[key.path] = key.line
        verdict, steps = _verdict(value)
        found.append(replace(of, property=key.node.value, verdict=verdict, path=key.path, steps=steps))
    return found


def _verdict(value: Value) -> tuple[str, int | None]:
    if value.is_scalar:
        return _word(value), None
    fields = VERDICTS.fields(value, "holds, violated, or a mapping with `verdict`")
    verdict = _word(fields["verdict"])
    if "steps" in fields and verdict != "violated":
        fields["steps"].fail("what holds has no counterexample: remove `steps`")
    return verdict, VERDICTS["steps"].value(fields["steps"]) if "steps" in fields else None


def _word(value: Value) -> str:
    """holds or violated, also as reports write them."""
    as_in_reports = {word.upper(): word for word in EXPECTED}
    written = value.scalar(f"a verdict: {', '.join(EXPECTED)}")
    return as_in_reports.get(written) or VERDICTS["verdict"].value(value)


def read_ignored(section: Value | None, lines: dict[str, int]) -> Mapping[str, str]:
    """The section: properties that are not to be looked at, each with the reason."""
    found = {}
    for key, value in section.items("a mapping from properties to reasons") if section is not None else ():
        reason = value.text("the reason, as one line of text")
        if not reason.strip() or not reason.isprintable() or len(reason) > MAX_REASON:
            value.fail(f"expected the reason, as one line of at most {MAX_REASON} printable characters")
        found[key.node.value] = reason
        lines[key.path] = key.line
    return found


def read_silenced(pods: Value, lines: dict[str, int]) -> Mapping[str, Mapping[str, str]]:
    """The `ignore` sections of pods: by property the pods for which it is not to be looked at, each with the reason."""
    found: dict[str, dict[str, str]] = {}
    for key, pod in pods.items("a mapping from names to pods"):
        section = next((value for name, value in pod.items("a pod") if name.node.value == "ignore"), None)
        if section is not None and not section.is_null:
            for identifier, reason in read_ignored(section, lines).items():
                found.setdefault(identifier, {})[key.node.value] = reason
    return found


class Residual(Data):
    """What the fixes of a race leave open: a stronger property that still fails, and the further changes that
    together close it.
    """

    property: str
    closed_by: tuple[str, ...]


class Race(Data):
    """A known upstream race that a scenario shows: its issue, and the pull requests that fix it.

    `beside`: changes of later releases that are added both with and without the fix, so that only this race is visible.
    `seed`: `podrace check` without arguments runs it before and after its fixes.
    """

    issue: int
    fixes: tuple[str, ...]
    beside: tuple[str, ...] = ()
    seed: bool = False
    residual: Residual | None = None

    @property
    def after(self) -> tuple[str, ...]:
        """What is put in to see the race gone."""
        return (*self.fixes, *self.beside)


def read_race(value: Value) -> Race:
    """A race: its issue, its fixes, what they leave open."""
    fields = RACE.fields(value, "a mapping with `issue` and `fixes`")
    seed = fields["seed"].boolean() if "seed" in fields else False
    residual = _residual(fields["residual"]) if "residual" in fields else None
    beside = _race_changes(fields["beside"]) if "beside" in fields else ()
    return Race(RACE["issue"].value(fields["issue"]), _race_changes(fields["fixes"]), beside, seed, residual)


def _race_changes(value: Value) -> tuple[str, ...]:
    keys = [f.scalar("the key of an upstream change") for f in value.elements("a list of upstream changes")]
    if not keys:
        value.fail("the list is empty: name the upstream change that fixes the race")
    return tuple(keys)


def _residual(value: Value) -> Residual:
    fields = RESIDUAL.fields(value, "a mapping with `property` and `closed_by`")
    return Residual(
        fields["property"].text("a property identifier such as S-NOM"), _race_changes(fields["closed_by"])
    )


class Scenario(Data, slots=False):
    """What a scenario file says. `lines` maps the path of a field, a pod or a node to its line; `text` is the file.

    `expect` is what should come out, and `asks` what orders should be possible or not; `ignore` gives for each property that is not to be looked at the reason, and `silenced`
    for each that is not to be looked at for single pods the reasons by pod. `feature_gates` are those that it sets. `sources`
    has file and line of each pod and node that stands for an object in another file.
    """

    name: str
    title: str
    file: str
    spec: ClusterSpec
    race: Race | None = None
    release: str | None = None
    properties: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    expect: tuple[Expectation, ...] = ()
    asks: tuple[AskedOrder, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict)
    silenced: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    text: str = field(default="", repr=False)
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    sources: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def selectors(self) -> tuple[str, ...]:
        """The names that select this scenario: its own, and the numbers of its race."""
        numbers = (str(self.race.issue), *self.race.fixes) if self.race else ()
        return (self.name, *numbers)

    @property
    def open(self) -> tuple[RangeParameter, ...]:
        """The numbers for which the file gives a range, in its order."""
        found = [q for q in self.spec.unknown if isinstance(q, RangeParameter)]
        return tuple(sorted(found, key=lambda q: q.span))

    def complaint(self, path: str, message: str, line: int | None = None) -> Problem:
        """An error about one field of the file, which is in this line unless `lines` knows better."""
        line = self.lines.get(path, line)
        return Problem(
            f"{self.file}:{line}: {path}: {message}" if line else f"{self.file}: {path}: {message}"
        )
