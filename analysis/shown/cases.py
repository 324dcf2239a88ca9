"""Which case of a liveness a run is told as, where it is several."""

from dataclasses import replace

from ...checker.core.interpreter import Interpreter
from ...checker.core.result import Result
from ...checker.core.trace import LassoTrace
from ...model.language import Case, TransitionSystem


def with_telling_case(system: TransitionSystem, prop: str, result: Result) -> Result:
    """The result with its run as one of the case that says most: the first of those that the run is, and that the property would rather tell."""
    trace = result.trace
    if not isinstance(trace, LassoTrace):
        return result
    rather = system.explainer.said_of(prop, "telling")
    ask, repeated = Interpreter(system).evaluate, trace.states[trace.turn :]

    def is_one(case: Case) -> bool:
        lasting = all(ask(case.persistent, state) for state in repeated)
        return lasting and all(any(ask(e, state) for state in repeated) for e in case.recurrent)

    def is_the_point(case: str) -> bool:
        return case in rather and all(ask(rather[case], state) for state in repeated)

    cases = {case.name: case for case in system.livenesses.get(prop, ())}
    if not rather or is_the_point(trace.case):
        return result
    better = next((name for name, case in cases.items() if is_the_point(name) and is_one(case)), None)
    return result if better is None else replace(result, trace=replace(trace, case=better))
