"""The search of one unknown system for one choice of its parameters after the other."""

from collections.abc import Mapping
from functools import cached_property

from ...model.language import Parameter
from ..core.exploration import Budget, Exploration, Path, Watcher
from ..core.trace import Trace
from ..explicit.engine import Series
from ..reduction.conclusion import conclude
from ..reduction.questions import explored_slice, kind_of
from ..reduction.scales_of_time import confirm_time
from ..reduction.slicing import Slicer, transition_map
from ..trace.execution import confirm, confirm_no_way_back, confirm_witness
from .parameters import as_variables, with_parameters
from .parametric_system import ParametricSystem


class Explorer:
    """Searches for one property. `ranges` hold every choice of the parameters that will be asked for.

    What is explored is a slice in which the parameters are variables that never change, so that one compilation
    serves all; what is confirmed is the whole system.
    """

    def __init__(
        self, parametric: ParametricSystem, property_id: str, ranges: Mapping[Parameter, tuple[int, int]]
    ) -> None:
        self.parametric, self.property, self.ranges = parametric, property_id, ranges
        self.kind = kind_of(parametric.system, property_id)
        self.slice = explored_slice(parametric.system, property_id)
        system, self._parameters = as_variables(self.slice, {q.name: range_ for q, range_ in ranges.items()})
        self._series = Series(system)

    def explore(
        self, values: Mapping[Parameter, int], budget: Budget, progress: Watcher | None = None
    ) -> Exploration:
        """Search the slice with these parameters. Raises ValueError for one outside of its range."""
        for q, value in values.items():
            least, most = self.ranges[q]
            if not least <= value <= most:
                raise ValueError(f"`{q.name}` is searched within {least}..{most}, so it cannot be {value}")
        chosen, parameters = _named(values), self._parameters
        variables = self._series.system.variables
        initial = tuple(chosen[parameters[v]] if v in parameters else v.initial for v in variables)
        return self._series.explore(initial, budget, progress)

    def confirm(self, found: Exploration, values: Mapping[Parameter, int]) -> Trace | None:
        """The counterexample of a search with these parameters, executed on the whole system; None without one.

        Raises ReplayError or EngineDisagreement if the interpreter does not confirm what the search claims.
        """
        system, name = self.parametric.system, self.property
        chosen = _named(values)
        if self.kind == "invariant" and name in found.violations:
            self.confirm_time(found.violations[name], values)
            return confirm(system, self._path(found.violations[name]), name, chosen)
        if self.kind == "resettability" and name in found.no_way_back:
            return confirm_no_way_back(system, self._path(found.no_way_back[name]), name, parameters=chosen)
        if self.kind == "liveness" and (name in found.violations or name in found.lassos):
            slicer = Slicer(with_parameters(system, chosen))
            return conclude(slicer, with_parameters(self.slice, chosen), found, name).trace
        return None

    def confirm_witness(self, found: Exploration, witness: str, values: Mapping[Parameter, int]) -> int:
        """The length of the run to a witness of a search with these parameters, executed on the whole system. Raises ReplayError."""
        path = self._path(found.witnesses[witness])
        return len(confirm_witness(self.parametric.system, path, witness, _named(values)).steps)

    def confirm_time(self, path: Path, values: Mapping[Parameter, int]) -> None:
        """Hold a run of the slice with these parameters to the scales of time of the whole system. Raises ReplayError."""
        confirm_time(self.slice, self.parametric.system, self._numbers, path, _named(values))

    def _path(self, path: Path) -> Path:
        return tuple(self._numbers[i] for i in path)

    @cached_property
    def _numbers(self) -> tuple[int, ...]:
        return transition_map(self.slice, self.parametric.system)


def _named(values: Mapping[Parameter, int]) -> dict[str, int]:
    return {q.name: value for q, value in values.items()}
