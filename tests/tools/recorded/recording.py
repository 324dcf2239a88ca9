"""Free runs of the real scheduler on a version, recorded and explained by the model: as many as are asked for, cluster by cluster."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from podrace.base.problems import UsageProblem
from podrace.checker.trace.validation import Answer
from podrace.model.history import Composition
from podrace.reproduce.random_runs.random_runs import Model
from podrace.reproduce.running import RUN_SECONDS, Built, run_test
from tests.tools.recorded.free_runs import FreeRun, free_run, model_for
from tests.tools.recorded.records import Record, read_records
from tests.tools.recorded.validation import Judged, Validator

TEST = "TestRecord"
TURNS = 70
HOLDLESS = (0.0, 0.4)
"""At which shares of the points nobody is held, run after run: where all are held all is seen, elsewhere things really happen at once."""

Take = Callable[[Sequence[FreeRun]], Sequence[Record]]
"""Has the real scheduler take free runs."""


@dataclass(frozen=True, slots=True)
class Asked:
    """So many clusters, beginning with number `first`, so many free runs in each, of so many turns at most."""

    clusters: int = 40
    runs: int = 13
    first: int = 0
    turns: int = TURNS


@dataclass
class Explained:
    """What came of some free runs. `unexplained` are those that are no behaviour of the model, with the model; `unknown` those where a bound was met.

    `taken` counts the steps of the runs that explain the records.
    """

    records: int = 0
    turns: int = 0
    steps: int = 0
    recording_seconds: float = 0.0
    seconds: float = 0.0
    taken: Counter[str] = field(default_factory=Counter)
    unexplained: list[tuple[Model, Judged]] = field(default_factory=list)
    unknown: int = 0

    def add(self, model: Model, judged: Judged) -> None:
        """Take in one record."""
        self.records += 1
        self.turns += len(judged.record.turns)
        for step in judged.explanation.trace.steps:
            self.taken[f"{step.part}.{step.step}"] += 1
            self.steps += 1
        if not judged.explained:
            self.unexplained.append((model, judged))
            self.unknown += judged.odd is None and judged.explanation.answer is Answer.UNKNOWN


def explain_free_runs(
    composition: Composition,
    asked: Asked,
    take: Take,
    progress: Callable[[Explained], None] = lambda found: None,
) -> Explained:
    """Have free runs taken, and look for runs of a version's model that explain them."""
    found = Explained()
    for number in range(asked.first, asked.first + asked.clusters):
        model = model_for(number, composition)
        began = time.monotonic()
        records = take(list(_runs(model, number, asked)))
        found.recording_seconds += time.monotonic() - began
        began = time.monotonic()
        validator = Validator(model)
        for record in records:
            found.add(model, validator.judge(record))
        found.seconds += time.monotonic() - began
        progress(found)
    return found


def _runs(model: Model, number: int, asked: Asked) -> Iterator[FreeRun]:
    for run in range(asked.runs):
        holdless = HOLDLESS[run % len(HOLDLESS)]
        yield free_run(model, f"{number}.{run}", number * 1_000_000 + run, asked.turns, holdless)


def takes(built: Built) -> Take:
    """The driver's binary. Raises UsageProblem if it ends before the last run."""

    def take(runs: Sequence[FreeRun]) -> Sequence[Record]:
        with tempfile.TemporaryDirectory(prefix="podrace-free-") as name:
            folder = Path(name)
            asked, records = folder / "free.jsonl", folder / "records.jsonl"
            asked.write_bytes(b"".join(msgspec.json.encode(run) + b"\n" for run in runs))
            named = {"PODRACE_FREE_RUNS": asked, "PODRACE_RECORDS": records}
            said = run_test(built, TEST, named, folder, RUN_SECONDS * len(runs))
            found = list(read_records(records))
        if said or len(found) < len(runs):
            raise RecordingProblem(
                f"{built.version}: free run {runs[len(found)].case.id}: {said or 'no record'}"
            )
        return found

    return take


class RecordingProblem(UsageProblem):
    """The driver ended amid a free run."""
