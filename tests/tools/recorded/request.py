"""Free runs on a version, explained by its model, to the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from podrace.analysis.request.option_files import write_bytes
from podrace.checker.core.trace import plain_value
from podrace.checker.trace.validation import Answer, Difference
from podrace.model.history import Composition, resolve
from podrace.reports.lockstep import Cause, Lockstep
from podrace.reproduce.modules.module import KubernetesVersion
from podrace.reproduce.modules.toolchain import Go
from podrace.reproduce.random_runs.random_runs import Model
from podrace.reproduce.request import release_of
from podrace.reproduce.running import Say, built_for
from tests.tools.recorded.recording import Asked, Explained, explain_free_runs, takes
from tests.tools.recorded.validation import Judged


def recorded(
    version: KubernetesVersion,
    asked: Asked,
    go: Go,
    say: Say,
    folder: Path | None = None,
    composed: Callable[[Composition], Composition] = lambda composition: composition,
) -> Lockstep:
    """The free runs on one version. With a `folder`, a record of each cause is stored there. Raises GoProblem, UsageProblem, RecordingProblem.

    `composed` changes the model that is to explain them.
    """
    composition = composed(resolve(release_of(version)))

    def tell(found: Explained) -> None:
        say(
            f"{version}: {found.records:,} free runs, {found.turns:,} turns, {len(found.unexplained):,} not explained"
        )

    found = explain_free_runs(composition, asked, takes(built_for(version, go, say)), tell)
    names = [cause_of(judged) for _, judged in found.unexplained]
    causes = []
    for number, (name, count) in enumerate(Counter(names).most_common(), 1):
        model, judged = found.unexplained[names.index(name)]
        file = ""
        if folder is not None:
            target = folder / f"{version}-record-{number}.jsonl"
            write_bytes("--store", target, msgspec.json.encode(judged.record) + b"\n")
            file = str(target)
        causes.append(Cause(name, count, words_of(model, judged), len(judged.explanation.at), file))
    return Lockstep(
        scheduler=str(version),
        release=composition.label,
        seed=asked.first,
        clusters=asked.clusters,
        runs=found.records,
        steps=found.steps,
        seconds=round(found.seconds + found.recording_seconds, 1),
        causes=tuple(causes),
        taken=dict(sorted(found.taken.items())),
    )


def cause_of(judged: Judged) -> str:
    """What the first turn has that is not explained: what was let happen, and the kinds of the variables that are nearest to it."""
    explanation = judged.explanation
    if explanation.answer is Answer.EXPLAINED:
        return f"odd value: {(judged.odd or '').partition('[')[0]}"
    turn = judged.record.turns[len(explanation.at)]
    what = (
        turn.do
        if turn.origin is None
        else f"{turn.origin.actor} {'after' if turn.origin.after else 'before'} {turn.origin.call}"
    )
    kinds = sorted(
        {d.variable.partition("[")[0] for near in explanation.nearest[:1] for d in near.differences}
    )
    bound = "unknown, a bound was met: " if explanation.answer is Answer.UNKNOWN else ""
    return f"{bound}{what}: {', '.join(kinds)}"


def words_of(model: Model, judged: Judged) -> str:
    """The turn that is not explained, and how the state nearest to it differs."""
    explanation = judged.explanation
    if explanation.answer is Answer.EXPLAINED:
        return judged.odd or ""
    number = len(explanation.at)
    turn = judged.record.turns[number]
    what = str(turn.origin) if turn.origin else f"{turn.do} {', '.join(map(str, turn.args.values()))}".strip()
    told = "; ".join(_difference(model, d) for near in explanation.nearest[:1] for d in near.differences)
    return f"turn {number}, {what}: {told}"


def _difference(model: Model, difference: Difference) -> str:
    variable = next(v for v in model.system.variables if v.name == difference.variable)

    def shown(code: int) -> str:
        return str(plain_value(model.system.universe.decode(variable.sort, code)))

    seen = difference.seen if isinstance(difference.seen, frozenset) else frozenset({difference.seen})
    real = " or ".join(sorted(map(shown, seen)))
    return f"{difference.variable}: model {shown(difference.in_system)}, real {real}"
