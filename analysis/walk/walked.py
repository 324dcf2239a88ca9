"""The run that a walk is about: a scenario in any release, beside which every safety property is watched."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...base.problems import UsageProblem
from ...model.language import Expr, State, TransitionSystem
from ...model.language.expressions.expr import as_expr
from ...properties import PROPERTIES, Property
from ...properties.base.of_steps import OfSteps
from ..request.plan import SAFETY, Run, Selection, plan

ID = "WALK"


class Walked(OfSteps):
    """A walk may go anywhere."""

    id = ID
    companions = tuple(cls for cls in PROPERTIES.values() if cls.kind in SAFETY)

    def holds(self) -> Expr:
        """Always."""
        return as_expr(True)

    @classmethod
    def completed(cls, system: TransitionSystem) -> TransitionSystem:
        """The system with the safety properties as views, which keep nothing alive."""
        watched = {name: e for name, e in system.invariants.items() if name != ID}
        return system.with_predicates(
            invariants=watched,
            witnesses={},
            resettabilities={},
            livenesses={},
            views={**system.views, **watched},
        )

    @classmethod
    def remarks(
        cls, system: TransitionSystem, path: Sequence[int], states: Sequence[State]
    ) -> dict[int, str]:
        """Nothing: a walk is no counterexample."""
        return {}


def walked_run(selection: Selection) -> Run:
    """The run that a selection of one scenario gives; properties of the user's are watched, too. Raises Problem."""
    runs = plan(replace(selection, properties=(ID,), own={ID: _watching(selection.own)}))
    if len({run.scenario.file for run in runs}) > 1:
        names = ", ".join(dict.fromkeys(run.scenario.name for run in runs))
        raise UsageProblem(f"a walk is about one scenario, and these are several: {names}: name one")
    return runs[0]


def walked_in(run: Run, own: Mapping[str, type[Property]]) -> Run:
    """A walk in the system that another run is about."""
    return replace(run, property=ID, own=_watching(own), expected=None, expected_steps=None)


def watched(run: Run) -> tuple[type[Property], ...]:
    """The safety properties that a walk watches."""
    assert run.own is not None
    assert issubclass(run.own, Walked)
    return run.own.companions


def _watching(own: Mapping[str, type[Property]]) -> type[Walked]:
    mine = tuple(cls for cls in own.values() if cls.kind in SAFETY)
    doc = {"__doc__": Walked.__doc__, "__module__": __name__}
    return type("Walked", (Walked,), {"companions": (*Walked.companions, *mine), **doc}) if mine else Walked
