"""What a report says, free of any engine: the rows of `-o json`, and the input of every other report.

Field names are stable: people parse them. A value of the model is given as JSON has it: a number, a bool, null, or the
name of a pod, a node or an enum member.
"""

import builtins
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from .evidence import Cause, Memory, ShownCluster, ShownCounterfactual
from .scheduler_version import ReadVersion
from .step import ShownChange as ShownChange
from .step import ShownStep as ShownStep
from .step import Value as Value
from .step import show as show


class Place(msgspec.Struct, frozen=True):
    """Where a scenario is written: its file, the line that asks for the property, and those of its pods and nodes.

    `files` has the files of those that are written elsewhere, `subject` the pod that a violation is about, where that is known.
    """

    file: str
    line: int = 1
    lines: dict[str, int] = {}
    files: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    subject: str | msgspec.UnsetType = msgspec.UNSET

    def spot(self, names: Iterable[object] = ()) -> tuple[str, int]:
        """File and line of the first of these names that is a pod or a node; else those of the property."""
        files = {} if self.files is msgspec.UNSET else self.files
        found = (
            (files.get(n, self.file), self.lines[n]) for n in names if isinstance(n, str) and n in self.lines
        )
        return next(found, (self.file, self.line))


class Clusters(msgspec.Struct, frozen=True):
    """How many clusters can be told apart within the ranges of a file, and what came out for them.

    `ranges` are as written, by their place in the file, and `assumed` what a choice of numbers must meet to be a cluster
    at all. Of the `violating` ones,
    `example` has the numbers of the simplest, and `scenario` the file with these numbers.
    """

    ranges: dict[str, str]
    distinguishable: int
    violating: int = 0
    undecided: int = 0
    assumed: tuple[str, ...] = ()
    example: dict[str, str] = {}
    scenario: str = ""

    @property
    def scope(self) -> str:
        """With what clusters are meant."""
        ranges = ", ".join(f"{name} {written}" for name, written in self.ranges.items())
        such = f", such that {' and '.join(self.assumed)}" if self.assumed else ""
        return f"{ranges}{such}"

    @property
    def numbers(self) -> str:
        """The numbers of the example."""
        return ", ".join(f"{name} {number}" for name, number in self.example.items())


FROM_CACHE = "from the cache: this system was explored before; --no-cache explores it again"
"""The note on a verdict that was kept."""

Word = Literal["HOLDS", "VIOLATED", "INCONCLUSIVE", "IGNORED"]


class WithScales(msgspec.Struct, frozen=True):
    """What comes out with `time: scales` of a property whose shortest counterexample lets minutes pass amid shorter work.

    `slow` are the actors that have to be slow in the counterexample that is shown.
    """

    verdict: Word
    states: int
    slow: tuple[str, ...] = ()

    @builtins.property
    def mark(self) -> str:
        """In a few words what a violation needs; empty if it does not need anything to be slow."""
        needs = "only with a delay of minutes"
        return {"HOLDS": needs, "INCONCLUSIVE": f"not decided: {needs}?"}.get(self.verdict, "")


class Fixes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Upstream changes put into a release, and taken out of it; and `patches` of the user's own, where there are any.

    `gates` are the feature gates that are set away from what the release has, if any are.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    patches: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    gates: dict[str, bool] | msgspec.UnsetType = msgspec.UNSET

    @builtins.property
    def words(self) -> str:
        """For example ` SchedulerAsyncPreemption=false + 72259 - 90660`: what is said after the release."""
        gates = {} if self.gates is msgspec.UNSET else self.gates
        said = "".join(f" {name}={str(on).lower()}" for name, on in gates.items())
        patches = () if self.patches is msgspec.UNSET else self.patches
        put_in = "".join(f" + {key}" for key in (*self.added, *patches))
        return said + put_in + "".join(f" - {key}" for key in self.removed)


class NoWayBack(msgspec.Struct, frozen=True):
    """Where a trace of a resettability ends: how many states fair steps still lead to, all without a way out.

    `complete` is false where counting stopped at a bound.
    """

    states: int
    complete: bool


class ShownLasso(msgspec.Struct, frozen=True):
    """How a run violates a liveness for ever: what goes wrong, after how many steps, and how many then repeat.

    `acts` names the goroutines that act in every round, `rests` those that only sometimes have something to do
    and are not waiting all the time. All others never have anything to do. Without steps to repeat, nobody has.
    """

    case: str
    turn: int
    cycle: int
    acts: tuple[str, ...] = ()
    rests: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer about a property tells with it: the property as a `sentence`, and the bounds of the `scope`.

    `version` is what is known of the version that the release stands for.
    """

    notes: tuple[str, ...] = ()
    sentence: str = ""
    scope: dict[str, Value] = {}
    constraints_hit: tuple[str, ...] = ()
    version: ReadVersion | msgspec.UnsetType = msgspec.UNSET


class Asked(Answer, frozen=True):
    """What was asked: one property of one scenario in one release; and the verdict."""

    scenario: str
    release: str
    fixes: Fixes
    property: str
    verdict: Word

    @builtins.property
    def label(self) -> str:
        """The release with its fixes, for example `1.13.0 + 72259`."""
        return self.release + self.fixes.words


class Told(Asked, frozen=True, kw_only=True):
    """What every report tells of one scenario. `words` says what the verdict rests on."""

    words: str = ""
    title: str = ""
    issues: tuple[int, ...] = ()


class Shown(Told, frozen=True, kw_only=True):
    """What is shown of runs. `trace` is the counterexample; `cluster`, `memory`, `causes` and `counterfactuals` are what it is shown with.

    `witnesses_reached` gives the fewest steps after which each witness was reached.
    """

    trace: tuple[ShownStep, ...] | None = None
    witnesses_reached: dict[str, int] = {}
    witnesses_missed: tuple[str, ...] = ()
    steps_never_fired: tuple[str, ...] = ()
    cluster: ShownCluster | None = None
    memory: Memory | None = None
    causes: tuple[Cause, ...] = ()
    counterfactuals: tuple[ShownCounterfactual, ...] = ()


class Known(msgspec.Struct, frozen=True):
    """Why a violation is accepted for now, until which day or version, and which line of the baseline says so."""

    reason: str
    until: str
    place: str


NOT_MODELLED = "not_modelled"
"""In a scope: what of the objects in manifests could give another verdict, and is not modelled."""


class Finding(Shown, frozen=True):
    """The verdict on one property of one scenario in one release.

    `expected` is what should have come out, where that is known, and `expected_steps` how long the counterexample should
    have been. IGNORED is what the scenario says is not to be looked at, with its reason in `words`. `trace` is the shortest counterexample, or one for
    which less has to be slow, as `words` says; for a
    property of what must stay possible it leads into a `no_way_back`; `after` and then `cycle`, which repeats for ever, are an
    example of how it goes on from there. For a liveness the `cycle` after it is the violation itself, a `lasso`.
    `causes` are of all steps of its `story`.
    `seconds` is left out (None) where equal input must give equal reports. `clusters` is there where the scenario leaves numbers
    open: the figures are then those of all its clusters together, and the counterexample that of the simplest violating one. `silenced` has
    the pods for which the property was not looked at, with the reasons, if there are any; `words` say so, too.
    `about` is there where Kubernetes objects were reduced: what of them was kept, left out
    and abstracted, a line each. `closing` says what closes the race, where that was looked for with podrace.api.
    `never_acted` is there where a property holds, and has what the scenario asks for and what never took a step in any run, with the reasons.
    `wrong` says which objects the violation is about, a sentence each, where its last state shows that. `marks` are there where a question
    was asked: before which steps of the counterexample what of it is to be said. `known` is there where a baseline lists the violation.
    `consequence` is there where a property of podrace's is violated: what that means to users, and for how long. `shape` is there with `about`: it is the same for
    clusters that differ in names only.
    `with_scales` is there where minutes pass amid shorter work in the shortest counterexample.
    """

    states: int
    transitions: int
    depth: int
    seconds: float | None
    no_way_back: NoWayBack | None = None
    lasso: ShownLasso | None = None
    after: tuple[ShownStep, ...] = ()
    cycle: tuple[ShownStep, ...] = ()
    expected: Word | None = None
    expected_steps: int | None = None
    steps_fired: tuple[str, ...] = ()
    vacuous: bool = False
    engine: str = ""
    place: Place | None = None
    clusters: Clusters | msgspec.UnsetType = msgspec.UNSET
    silenced: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    about: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    closing: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    never_acted: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    wrong: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    marks: dict[int, str] | msgspec.UnsetType = msgspec.UNSET
    known: Known | msgspec.UnsetType = msgspec.UNSET
    consequence: str | msgspec.UnsetType = msgspec.UNSET
    shape: str | msgspec.UnsetType = msgspec.UNSET
    with_scales: WithScales | msgspec.UnsetType = msgspec.UNSET

    @builtins.property
    def spot(self) -> tuple[str, int] | None:
        """File and line to point at: of the pod that a violation is about; where it is about no single one, of the first pod or
        node in its last step; of what is not violated, those of the property.
        """
        if self.place is None:
            return None
        if not self.trace:
            return self.place.spot()
        subject = () if self.place.subject is msgspec.UNSET else (self.place.subject,)
        return self.place.spot((*subject, *self.trace[-1].args.values()))

    @builtins.property
    def headline(self) -> str:
        """The verdict as people read it: HOLDS FOR ALL where it is one on many clusters."""
        return "HOLDS FOR ALL" if self.verdict == "HOLDS" and self.clusters else self.verdict

    @builtins.property
    def for_users(self) -> str:
        """What a violation means to users, in a line; empty where nothing is known of that."""
        return f"For users: {self.consequence}" if self.consequence else ""

    @builtins.property
    def qualified(self) -> bool:
        """Whether HOLDS says less than it seems to: nothing tested the property, or something that was asked for never acted."""
        return self.vacuous or bool(self.never_acted)

    @builtins.property
    def marked(self) -> str:
        """The same, and in brackets what takes away from it: HOLDS or VIOLATED alone would look like an answer."""
        marks = [
            "vacuous" if self.vacuous else "",
            "known" if self.known else "",
            f"{len(self.never_acted)} never acted" if self.never_acted and not self.vacuous else "",
            self.with_scales.mark if self.with_scales else "",
        ]
        told = ", ".join(mark for mark in marks if mark)
        return f"{self.headline} ({told})" if told else self.headline

    @builtins.property
    def story(self) -> tuple[ShownStep, ...]:
        """The counterexample with what follows it."""
        return (*(self.trace or ()), *self.after, *self.cycle)

    @builtins.property
    def remarks(self) -> dict[int, str]:
        """What is to be said before the step of each number; a number behind the last step: after it."""
        found = {} if self.marks is msgspec.UNSET else dict(self.marks)
        here = len(self.trace or ()) + 1
        if self.lasso is not None:
            return {here: "indefinitely:" if self.cycle else "here it stays indefinitely"}
        if self.no_way_back is not None:
            found[here] = "from here there is no way out; for example, it goes on like this:"
        if self.no_way_back is not None and self.cycle and not self.after:
            found[here] = "from here there is no way out; for example, these steps repeat indefinitely:"
        elif self.cycle:
            found[here + len(self.after)] = "and these steps repeat indefinitely:"
        elif self.no_way_back is not None and not self.after:
            found[here] = "from here there is no way out"
        return found

    @builtins.property
    def as_expected(self) -> bool:
        """Whether the verdict, and the length of the counterexample, are the expected ones, or none were expected."""
        steps = self.expected_steps is None or self.trace is None or len(self.trace) == self.expected_steps
        return self.expected is None or (self.expected == self.verdict and steps)


ABOUT = "What was kept of the cluster, and what was left out"
"""Above what `about_of` gives."""


def about_of(findings: Sequence[Finding]) -> list[str]:
    """What of Kubernetes objects was kept, left out and abstracted, for all these findings: each line once."""
    lines = (line for f in findings if f.about is not msgspec.UNSET for line in f.about)
    return list(dict.fromkeys(lines))
