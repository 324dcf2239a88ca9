"""The verdicts on a system of the user's own as text: a line each, and the runs in the names of the system."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from textwrap import wrap

from ...checker.core.result import Result, Verdict
from ...checker.core.trace import LassoTrace, Step, plain_value
from ..step import show
from ..verdict_words import verdict_words

WIDTH = 120


def own_system_text(
    name: str,
    kinds: Mapping[str, int],
    results: Sequence[Result],
    says: Callable[[str], str],
    docs: Mapping[str, str],
) -> str:
    """A heading, the verdict on each property with what it says and rests on, and each run that violates one, once.

    `says` gives the sentence of a property, `docs` those of steps by `part.step`.
    """
    return "\n".join(_lines(name, kinds, results, says, docs)) + "\n"


def _lines(
    name: str,
    kinds: Mapping[str, int],
    results: Sequence[Result],
    says: Callable[[str], str],
    docs: Mapping[str, str],
) -> Iterator[str]:
    counted = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    yield f"{name}: {counted}" if counted else name
    told: dict[tuple[int, ...], str] = {}
    named = Counter(step.partition(".")[2] for step in docs)
    alike = {part for part, _, step in (name.partition(".") for name in docs) if named[step] > 1}
    for result in results:
        yield ""
        yield f"{result.property_id}: {result.verdict.name}{' (vacuous)' if result.vacuous else ''}"
        for text in (says(result.property_id), _words(result)):
            for paragraph in text.splitlines():
                yield from wrap(paragraph, WIDTH, initial_indent="  ", subsequent_indent="  ")
        if result.verdict is Verdict.HOLDS and result.coverage.never_fired:
            yield from wrap(
                f"Never ran: {', '.join(result.coverage.never_fired)}.",
                WIDTH,
                initial_indent="  ",
                subsequent_indent="  ",
            )
        trace = result.trace
        if trace is None:
            continue
        known = told.setdefault(trace.path, result.property_id)
        if known != result.property_id:
            yield f"  The run is that of {known}."
            continue
        yield from _run(trace.steps, trace.turn if isinstance(trace, LassoTrace) else None, docs, alike)


def _words(result: Result) -> str:
    if result.verdict is Verdict.INCONCLUSIVE and result.stopped == "answered":
        return "Not decided: the search stopped at the first violation of another property (--first)."
    return verdict_words(result)


def _run(
    steps: Sequence[Step], turn: int | None, docs: Mapping[str, str], alike: Collection[str]
) -> Iterator[str]:
    """Parts that are `alike` have a step that another part has as well: theirs are told with their names."""
    for number, step in enumerate(steps):
        if number == turn:
            yield "  from here on, again and again:"
        arguments = ", ".join(f"{name}={plain_value(value)}" for name, value in step.args)
        doc = docs.get(f"{step.part}.{step.step}", "")
        whole = step.part in alike
        name = f"{step.part}.{step.step}" if whole else step.step
        yield f"  {number + 1:>3}. {name}({arguments}){f': {doc}' if doc else ''}"
        for change in step.changes:
            changed = change.variable if whole else _plain_name(change.variable, step.part)
            yield f"         {changed}: {show(plain_value(change.before))} -> {show(plain_value(change.after))}"


def _plain_name(variable: str, part: str) -> str:
    return variable.removeprefix(f"{part}.")
