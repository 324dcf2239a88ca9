"""All choices of unknown numbers, each looked at by itself, and entities that are said to be alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product

from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.parametric.exchange import EntityExchange
from podrace.checker.parametric.explorer import Explorer
from podrace.checker.parametric.grounding import TooManyCases
from podrace.checker.parametric.parametric_system import Exchange, ParametricSystem, Regions
from podrace.checker.parametric.valid import Valid
from podrace.model.language import Expr, Parameter, TransitionSystem, topological
from tests.independent.crowds import random_crowd
from tests.independent.oracle.fair_runs import fair_sets, has_fair_run
from tests.independent.oracle.graph import Graph, TooLarge, graph_of
from tests.independent.oracle.renaming import is_symmetric, orders, renamed_state
from tests.independent.question import Question, Skipped
from tests.independent.systems import random_system

Choice = dict[str, int]


def _parameters(system: TransitionSystem) -> tuple[Parameter, ...]:
    found = {n.value.name: n.value for n in topological(system.roots()) if n.op == "param"}
    return tuple(found[name] for name in sorted(found))


def _choices(parameters: tuple[Parameter, ...]) -> list[Choice]:
    values = product(*(range(q.lo, q.hi + 1) for q in parameters))
    return [dict(zip((q.name for q in parameters), chosen, strict=True)) for chosen in values]


def _graph(system: TransitionSystem, choice: Mapping[str, int]) -> Graph:
    try:
        return graph_of(system, parameters=choice, most=150)
    except TooLarge as error:
        raise Skipped from error


def _answers(questions: list[Expr], choice: Mapping[str, int], graph: Graph) -> tuple[bool, ...]:
    reader = type(graph.reader)(graph.reader.system, choice)
    return tuple(reader.holds(q, ()) for q in questions)


def clusters(seed: int) -> Iterator[Question]:
    """The answer for each choice of two or three numbers is that for the representative of its region."""
    kind = ("invariants", "resettabilities", "livenesses")[seed % 3]
    asked = {kind: 1, "witnesses": 1, "sets": 3 if kind == "livenesses" else 0}
    system = random_system(("parametric", seed), parameters=2 + seed % 2, **asked)
    (name,) = getattr(system, kind)
    parameters = _parameters(system)
    if not parameters:
        raise Skipped
    try:
        regions = Regions(ParametricSystem(system, parameters), name)
        examples = {r.answers: r.example for r in regions.regions}
    except TooManyCases as error:
        raise Skipped from error
    explorer = Explorer(regions.parametric, name, {q: (q.lo, q.hi) for q in parameters})
    found: dict[tuple[bool, ...], Exploration] = {}
    seen = set()
    for choice in _choices(parameters):
        graph = _graph(system, choice)
        answers = regions.answers({q: choice[q.name] for q in parameters})
        seen.add(answers)
        if answers not in found:
            found[answers] = explorer.explore(examples[answers], Budget())
        expected = _expected(graph, kind, name)
        yield Question(f"{name} with {choice}", _told(found[answers], kind, name), expected, expected is not None)  # fmt: skip
    yield Question("regions", set(examples), seen, len(seen) > 1)


def _expected(graph: Graph, kind: str, name: str) -> object:
    system = graph.reader.system
    if kind == "invariants":
        return graph.nearest(system.invariants[name], False)
    if kind == "resettabilities":
        return graph.stranded(system.resettabilities[name])
    sets = fair_sets(graph)
    return "violated" if any(has_fair_run(graph, sets, case) for case in system.livenesses[name]) else None


def _told(found: Exploration, kind: str, name: str) -> object:
    if kind == "livenesses":
        return "violated" if name in found.lassos or found.violations else None
    path = (found.violations if kind == "invariants" else found.no_way_back).get(name)
    return None if path is None else len(path)


def symmetry(seed: int) -> Iterator[Question]:
    """What is proved of two processes is so in every reachable state, and so is what becomes of each state."""
    system, crowd = random_crowd(("alike", seed), spoiled=seed % 2 == 1)
    graph = _graph(system, {})
    for one, other in combinations(crowd.all, 2):
        candidate = EntityExchange(system, [(one, other)])
        if candidate.variables is None:
            continue
        names = {one.name: other.name, other.name: one.name}
        permutation = candidate.permutation()
        for state in list(graph.distance)[:5]:
            image = renamed_state(system, names, state)
            yield Question(f"{names}: image of {state}", permutation(state), image, image != state)
        if permutation(system.initial) == system.initial:
            proved = candidate.is_automorphism(Valid(candidate))
            symmetric = is_symmetric(graph, graph, names)
            # What is not proved may be so all the same.
            yield Question(f"{names}: alike", proved and not symmetric, False, proved)


def orbits(seed: int) -> Iterator[Question]:
    """One representative for all choices of sizes that renaming takes to one another, and it stands for each of them."""
    system, crowd = random_crowd(("orbits", seed), sizes=2)
    parameters = tuple(crowd.sizes.values())
    exchanges = tuple(
        Exchange(a, b, {crowd.sizes[a]: crowd.sizes[b], crowd.sizes[b]: crowd.sizes[a]})
        for a, b in combinations(crowd.all, 2)
    )
    name = "invariant0"
    try:
        regions = Regions(ParametricSystem(system, parameters, (), exchanges), name)
        representatives = regions.representatives
    except TooManyCases as error:
        raise Skipped from error
    if not regions.questions:
        raise Skipped
    proved = len(regions.exchanges) == len(exchanges)
    renamings = orders([p.name for p in crowd.all]) if proved else [{}]
    choices = _choices(parameters)
    graphs = [_graph(system, choice) for choice in choices]
    answers = {tuple(c.values()): _answers(regions.questions, c, g) for c, g in zip(choices, graphs, strict=True)}  # fmt: skip
    orbit: dict[tuple[bool, ...], frozenset[tuple[bool, ...]]] = {}
    for choice in choices:
        images = [{f"{names.get(p.name, p.name)}.size": choice[f"{p.name}.size"] for p in crowd.all} for names in renamings]  # fmt: skip
        together = frozenset(answers[tuple(image[q.name] for q in parameters)] for image in images)
        orbit[answers[tuple(choice.values())]] = together
    merged = _merged(list(orbit.values()))
    yield Question("orbits", sorted(r.regions for r in representatives), sorted(map(len, merged)), proved)
    explorer = Explorer(regions.parametric, name, {q: (q.lo, q.hi) for q in parameters})
    chosen = {regions.answers(r.values): explorer.explore(r.values, Budget()) for r in representatives}
    for choice, graph in zip(choices, graphs, strict=True):
        (whole,) = (m for m in merged if answers[tuple(choice.values())] in m)
        (found,) = (f for a, f in chosen.items() if a in whole)
        path = found.violations.get(name)
        expected = graph.nearest(system.invariants[name], False)
        yield Question(f"with {choice}", None if path is None else len(path), expected, expected is not None)


def _merged(sets: list[frozenset[tuple[bool, ...]]]) -> list[frozenset[tuple[bool, ...]]]:
    """Sets with a member in common put together."""
    found: list[frozenset[tuple[bool, ...]]] = []
    for one in sets:
        touching = [other for other in found if other & one]
        found = [other for other in found if not other & one]
        found.append(one.union(*touching))
    return found
