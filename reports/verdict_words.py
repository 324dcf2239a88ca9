"""What a verdict rests on, in a sentence or two."""

from collections.abc import Mapping

from ..base.text import counted
from ..checker.core.result import REPLAY, Result, Verdict
from ..checker.core.trace import LassoTrace
from .document import Word

WORDS: dict[str, Word] = {"VIOLATED": "VIOLATED", "INCONCLUSIVE": "INCONCLUSIVE", "HOLDS": "HOLDS"}
"""The verdicts as documents have them."""

STOPPED = "Stopped by "
"""How the words of a verdict begin that a limit left undecided."""

_WALKED = {
    Verdict.VIOLATED: "A search from the end of the last of {} found it: a shorter run may show it, too.",
    Verdict.INCONCLUSIVE: "Searches from the ends of {} found no violation, either.",
}

_ENDLESS = "Work can go on endlessly here, so timers fire at any moment, as with `time: any`."


def verdict_words(result: Result) -> str:
    """One sentence, sometimes two: the verdict and what it rests on."""
    if result.engine == REPLAY:
        return _replayed(result)
    telling = {Verdict.VIOLATED: _violated, Verdict.INCONCLUSIVE: _inconclusive, Verdict.HOLDS: _holds}
    words = telling[result.verdict](result)
    if result.counts.walks:
        words = f"{words} {_WALKED[result.verdict].format(counted(result.counts.walks, 'random run'))}"
    return f"{words} {_ENDLESS}" if result.coverage.endless else words


def time_words(slow: str) -> str:
    """What scales of time assume; `slow` are the actors that they do not assume it of."""
    return f"nothing under way takes minutes{f', but for: {slow}' if slow else ''}"


def _explored(result: Result) -> str:
    counts = result.counts
    states, transitions = counted(counts.states or 0, "state"), counted(counts.transitions or 0, "transition")
    return f"{states}, {transitions}, depth {counts.depth}"


def _holds(result: Result) -> str:
    seen = result.coverage
    sentences = [f"Holds in every interleaving: {_explored(result)}."]
    if seen.constraints_hit:
        sentences.append(f"Within these constraints, which were hit: {'; '.join(seen.constraints_hit)}.")
    if not seen.fired:
        sentences.append("Vacuous: no step makes a difference to it.")
    elif seen.witnesses_missed:
        sentences.append(f"Vacuous: never reached: {'; '.join(seen.witnesses_missed)}.")
    if seen.held_back:
        sentences.append(f"Vacuous: no run is fair, as each is held back by {'; '.join(seen.held_back)}.")
    return " ".join([*sentences, *idle_words(seen.never_acted)])


def idle_words(parts: Mapping[str, str]) -> list[str]:
    """A sentence that says which parts never acted, those of one reason together; none if all did."""
    names: dict[str, list[str]] = {}
    for name, why in parts.items():
        names.setdefault(why, []).append(name)
    told = "; ".join(f"{', '.join(alike)} ({why})" for why, alike in names.items())
    return [f"Asked for, and never acted: {told}."] if told else []


def _violated(result: Result) -> str:
    trace = result.trace
    assert trace is not None
    steps = len(trace.steps)
    when = "in the initial state" if steps == 0 else f"after {counted(steps, 'step')}"
    if result.kind == "invariant":
        least = "" if result.counts.walks else ", and no run is shorter"
        return f"Violated {when}{least} ({_explored(result)} explored)."
    if isinstance(trace, LassoTrace):
        return _starved(result, trace)
    seen = counted(trace.closure, "state")
    checked = f"the {seen} that they lead to" if trace.closed else f"the first {seen} that they lead to"
    hit = result.coverage.constraints_hit
    within = (
        f" Within these constraints, which were hit, and which may be what is in the way: {'; '.join(hit)}."
        if hit
        else ""
    )
    return (
        f"Violated {when}: from there, fair steps alone never lead back "
        f"(executed again in {checked}; {_explored(result)} explored).{within}"
    )


def _starved(result: Result, lasso: LassoTrace) -> str:
    cycle = len(lasso.steps) - lasso.turn
    when = f"After {counted(lasso.turn, 'step')}" if lasso.turn else "From the initial state on"
    how = f"{counted(cycle, 'step')} can repeat indefinitely" if cycle else "no fair step can run any more"
    return (
        f"Violated: {lasso.case}. {when}, {how}: every fair actor acts or has nothing to do "
        f"({_explored(result)} explored)."
    )


def _inconclusive(result: Result) -> str:
    budget = {
        "states": "the limit of states",
        "memory": "the limit of memory",
        "timeout": "the time limit",
        "terminated": "a signal",
    }
    covered = f"{STOPPED}{budget.get(result.stopped or '', 'a limit')} after {_explored(result)}"
    if result.kind != "invariant":
        return f"{covered}: {result.kind} can be decided only when every state was visited."
    clear = max((result.counts.depth or 0) - 1, 0)
    return f"{covered}: no violation within {counted(clear, 'step')}, nothing known beyond."


def _replayed(result: Result) -> str:
    trace = result.trace
    assert trace is not None
    run = f"a stored run of {counted(len(trace.steps), 'step')}, executed again"
    if isinstance(trace, LassoTrace):
        return f"Violated: {trace.case}, by {run}. Nothing else was looked at."
    if trace.closure:
        seen = counted(trace.closure, "state")
        end = f"the {seen} that fair steps lead to" if trace.closed else f"the first {seen} of fair steps"
        return f"Violated by {run}: from its end there is no way back in {end}. Nothing else was looked at."
    return f"Violated by {run}. Nothing else was looked at."
