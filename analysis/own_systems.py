"""Systems of the user's own: a class in a Python file, traced, checked by the same engines."""

import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path

from ..base.problems import Terminated, UsageProblem
from ..base.structs import Data
from ..base.text import known_names, one_line
from ..checker.core.exploration import Budget as Budget
from ..checker.core.exploration import Watcher
from ..checker.core.interpreter import Interpreter
from ..checker.core.result import Counts, Result, Verdict, exit_code
from ..checker.reduction.questions import UnknownProperty, kind_of, properties_of
from ..checker.search import Engine as Engine
from ..checker.search import check
from ..model.language import Model, ModelError, System, TransitionSystem, all_of, system_of, words_of
from ..model.language.expressions.expr import fresh_graph
from ..reports.text.own_system_text import own_system_text
from ..reports.verdict_words import verdict_words
from .request.own_code import error_in_words, theirs, what_it_changed
from .request.own_modules import load_module

_TARGET = re.compile(r"(?P<path>.+\.py)(?::(?P<cls>\w*))?", re.DOTALL)


class OwnSystem(Data):
    """A system that `FILE.py[:CLASS]` names: what it is called, what is explored, and what each property says."""

    name: str
    system: TransitionSystem
    words: Mapping[str, str]

    def says(self, property_id: str) -> str:
        """The docstring of the method that says what a property is, or nothing."""
        return self.words.get(property_id.partition("(")[0], "")

    @property
    def kinds(self) -> dict[str, int]:
        """How many entities there are of each kind."""
        universe = self.system.universe
        return {kind.__name__: len(universe[kind]) for kind in universe.kinds()}


class Decided(Data):
    """The verdicts on a system of the user's own."""

    own: OwnSystem
    results: list[Result]

    @property
    def is_cut(self) -> bool:
        """Whether the process was told to end before all was decided."""
        return any(result.stopped == "terminated" for result in self.results)

    def to_plain(self) -> list[dict[str, object]]:
        """Each verdict as mappings, lists, strings and numbers; without times, so that equal input gives equal bytes."""
        return [self._row(result) for result in self.results]

    def _row(self, result: Result) -> dict[str, object]:
        counts, seen = result.counts, result.coverage
        return {
            "system": result.system,
            "property": result.property_id,
            "kind": result.kind,
            "verdict": result.verdict.name,
            "words": verdict_words(result),
            "vacuous": result.vacuous,
            "states": counts.states,
            "transitions": counts.transitions,
            "depth": counts.depth,
            "engine": result.engine,
            "stopped": result.stopped,
            "fired": list(seen.fired),
            "never_fired": seen.never_fired,
            "outside_cone": seen.outside_cone,
            "witnesses_reached": seen.witnesses_reached,
            "witnesses_missed": seen.witnesses_missed,
            "constraints_hit": seen.constraints_hit,
            "never_acted": seen.never_acted,
            "trace": None if result.trace is None else result.trace.to_plain(),
            "says": self.own.says(result.property_id),
            "entities": self.own.kinds,
        }

    def text(self) -> str:
        """The verdicts and the runs for people."""
        docs = {f"{t.part}.{t.step}": " ".join(t.doc.split()) for t in self.own.system.transitions}
        return own_system_text(self.own.name, self.own.kinds, self.results, self.own.says, docs)


def code_of(found: Sequence[Decided], fail_on_vacuous: bool) -> int:
    """The exit code: 0, 1 or 3, as `exit_code` has it; 1 also where a vacuous verdict is asked to fail."""
    results = [result for one in found for result in one.results]
    return 1 if fail_on_vacuous and any(result.vacuous for result in results) else exit_code(results)


def names_own_system(name: str) -> bool:
    """Whether an argument names a system of the user's own: FILE.py, or FILE.py:CLASS."""
    return _TARGET.fullmatch(name) is not None


def own_system(target: str, sizes: Sequence[str] = ()) -> OwnSystem:
    """The system that `FILE.py[:CLASS]` names; `sizes` are such as `Worker=3`. Raises UsageProblem for any mistake."""
    match = _TARGET.fullmatch(target)
    assert match is not None
    path = Path(match["path"])

    def problem(file: Path, what: str) -> UsageProblem:
        return UsageProblem(f"{one_line(str(file), 200)}: {what}")

    root = _chosen(path, match["cls"] or "", problem)
    numbers = sizes_of(sizes)
    try:
        with theirs():
            system = system_of(root, numbers)
    except ModelError as error:
        if error.location[0] == __file__:  # no line of the user's: it is about the class as a whole
            raise problem(path, one_line(error.message, 500)) from None
        raise UsageProblem(one_line(str(error), 500)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise problem(path, f"{_last_line(path, error)}{error_in_words(error)}{_remedy(error)}") from None
    if changed := what_it_changed():
        raise problem(path, changed)
    return OwnSystem(f"{root.__name__} ({path.name})", system, words_of(root))


def sizes_of(options: Sequence[str]) -> dict[str, int]:
    """`--size Worker=3`, as a mapping. Raises UsageProblem."""
    found: dict[str, int] = {}
    for option in options:
        kind, equals, number = option.partition("=")
        if not equals or not kind.isidentifier() or not re.fullmatch(r"[0-9]{1,3}", number, re.ASCII):
            raise UsageProblem(
                f"--size: `{one_line(option, 80)}`: write a kind of entity and a number, such as Worker=3"
            )
        found[kind] = int(number)
    return found


def _chosen(
    path: Path, name: str, problem: Callable[[Path, str], UsageProblem]
) -> type[System] | type[Model]:
    module = load_module(path, problem)
    found = {
        n: c
        for n, c in vars(module).items()
        if isinstance(c, type) and issubclass(c, (System, Model)) and c.__module__ == module.__name__
    }
    if not found:
        raise problem(path, "there is no system in it: write a subclass of podrace.model.language.System")
    if name and name not in found:
        raise problem(path, f"there is no system `{name}` in it; {known_names(name, list(found))}")
    if not name and len(found) > 1:
        raise problem(path, f"it has several systems: name one, such as {path.name}:{next(iter(found))}")
    return found[name or next(iter(found))]


def _last_line(path: Path, error: BaseException) -> str:
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return f"line {lines[-1]}: " if lines else ""


def _remedy(error: BaseException) -> str:
    """What to write instead, for mistakes of which Python says nothing that would help here."""
    match error:
        case AttributeError(obj=type() as kind, name=str() as name) if issubclass(kind, Enum):
            return f"; {kind.__name__} has no such member: {known_names(name, [m.name for m in kind])}"
        case TypeError() if "object is not iterable" in str(error):
            return "; the entities of a kind are `self.universe[Kind]`"
        case TypeError() if "'Expr' object is not callable" in str(error):
            return "; `is_none`, `is_empty` and their like are written without `()`"
    return ""


def decide(
    own: OwnSystem,
    properties: Sequence[str],
    budget: Budget,
    engine: Engine,
    watcher: Watcher | None,
    first: bool = False,
) -> Decided:
    """The verdict on each named property (all, if none are named).

    With `first`, invariants are decided by one search that stops at the first violation of any of them; the others are then
    INCONCLUSIVE, and nothing else is searched. Raises UsageProblem.
    """
    try:
        names = properties_of(own.system, list(properties) or None)
    except (UnknownProperty, ValueError) as error:
        raise UsageProblem(
            f"{own.name}: {error}; `@invariant`, `@resettable` and `@liveness` mark them"
        ) from None
    invariants = [name for name in names if kind_of(own.system, name) == "invariant"]
    if not first or len(invariants) < 2:
        return Decided(own, _checked(own.system, names, budget, engine, watcher))
    with fresh_graph():
        together = own.system.with_predicates(
            invariants={_ANY: all_of(own.system.invariants[name] for name in invariants)}
        )
    try:
        (found,) = check(together, [_ANY], budget, engine=engine, progress=watcher)
    except Terminated:
        return Decided(own, [_undecided(own.system, name, engine) for name in names])
    if found.verdict is not Verdict.VIOLATED:
        return Decided(own, _checked(own.system, names, budget, engine, watcher))
    assert found.trace is not None
    judge, last = Interpreter(own.system), found.trace.states[-1]
    broken = [name for name in invariants if not judge.holds(own.system.invariants[name], last)]
    results = [
        replace(found, property_id=name)
        if name in broken
        else replace(
            found,
            property_id=name,
            kind=kind_of(own.system, name),
            verdict=Verdict.INCONCLUSIVE,
            trace=None,
            stopped="answered",
        )
        for name in names
    ]
    return Decided(own, results)


_ANY = "any of the invariants"


def _checked(
    system: TransitionSystem, names: Sequence[str], budget: Budget, engine: Engine, watcher: Watcher | None
) -> list[Result]:
    """The verdicts; on what is left when the process is told to end, that nothing is known."""
    try:
        return check(system, names, budget, engine=engine, progress=watcher)
    except Terminated as ended:
        return [ended.decided.get(name) or _undecided(system, name, engine) for name in names]


def _undecided(system: TransitionSystem, name: str, engine: Engine) -> Result:
    nothing = Counts(0, 0, 0, 0.0)
    kind = kind_of(system, name)
    return Result(system.name, name, kind, Verdict.INCONCLUSIVE, nothing, stopped="terminated", engine=engine)
