"""A walk as a trace that `podrace replay` executes, and a trace as a walk."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...base.problems import UsageProblem
from ...base.text import one_line
from ...checker.core.exploration import Path
from ...model.history import Patch
from ...model.language import Transition
from ...properties import PROPERTIES, Property
from ...reports.stored import StoredTrace
from ..ask.asked_property import ID as ASK
from ..ask.asked_property import asked_property
from ..ask.question import MOST_STEPS, read_question
from ..request.plan import Run
from ..stored.replayed import path_of, run_of
from ..stored.saved_trace import stored_run
from .explorer import Explorer, ScenarioExplorer
from .walk import Walk
from .walked import walked_in, watched


def stored_walk(explorer: Explorer, walk: Walk) -> StoredTrace:
    """The walk up to where it stands. Raises UsageProblem if it has no step.

    Where it ends in the first state that violates a property, it is a counterexample of that; else it answers the question whether its last step can happen,
    so often as it does.
    """
    if not isinstance(explorer, ScenarioExplorer):
        raise UsageProblem(
            f"a walk in {explorer.name} cannot be saved, for it is a system of your own: `line` shares it"
        )
    path = walk.taken
    if not path:
        raise UsageProblem("the walk has no step yet: take one, then save it")
    steps = [explorer.step(path[:n]) for n in range(1, len(path) + 1)]
    return stored_run(_about(explorer, path), steps)


def _about(explorer: ScenarioExplorer, path: Path) -> Run:
    violated = [
        {one.property for one in explorer.violated(explorer.state_after(path[:n]))} for n in range(len(path))
    ]
    last = explorer.violated(explorer.state_after(path))
    first = next((one.property for one in last if not any(one.property in v for v in violated)), None)
    if first is not None:
        own = {cls.id: cls for cls in watched(explorer.run)}[first]
        return replace(explorer.run, property=first, own=None if first in PROPERTIES else own)
    times = path.count(path[-1])
    if times > MOST_STEPS:
        raise UsageProblem(
            f"the last step comes {times} times, and a question has at most {MOST_STEPS} steps: go back by one, then save"
        )
    question = read_question([_call(explorer.system.transitions[path[-1]])] * times)
    return replace(explorer.run, property=ASK, own=asked_property(question))


def _call(t: Transition) -> str:
    """The step with its arguments by name, which means no other."""
    args = ", ".join(f"{name}={getattr(value, 'name', value)}" for name, value in t.args)
    return f"{t.part}.{t.step}({args})"


def explorer_of(
    stored: StoredTrace, file: str, own: Mapping[str, type[Property]], patches: Sequence[Patch] = ()
) -> tuple[Explorer, Walk]:
    """What a stored trace is a run of, and that run as a walk that stands at its start. Raises Problem."""
    explorer = ScenarioExplorer(walked_in(run_of(stored, own, file, patches), own))
    path, unknown = path_of(explorer.system, stored.steps)
    said = f"step {len(path) + 1} of {len(stored.steps)}: {one_line(unknown, 300)}" if unknown else ""
    for end in range(1, len(path) + 1):
        try:
            explorer.state_after(path[:end])
        except UsageProblem as problem:
            path, said = path[: end - 1], str(problem)
            break
    if said:
        explorer.notes = (
            *explorer.notes,
            f"{file}: only its first {len(path)} steps are possible now: {said}",
        )
    return explorer, Walk(path)
