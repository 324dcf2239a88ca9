"""What `podrace audit` says of the logs of random runs of the model, beside what the model says of the same runs: `make audit-runs`.

    python -m tests.audit.model_runs FOLDER [--clusters 1000] [--runs 10]

Runs are numbered by their clusters, so the same numbers give the same runs. Those of a cluster are kept in the folder, with what came of them in `counts.tsv`, a line a
cluster: who stops and begins again goes on where he was. `--again` asks about the kept runs anew, as after a change of `audit`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from podrace.audit.audit import Asked, audit_logs
from podrace.reports.audit_report import AuditReport
from tests.audit.mutations import mutated
from tests.audit.written_logs import Object, Recorded, Recorder, answer, answered

FIRST = 10_000
RELEASES = ("1.34.4", "1.36.3", "1.22")
ASKED = ("S-CAP", "S-AFF", "S-COND")
KINDS = {"S-CAP": ("pods/binding", "nodes"), "S-AFF": ("pods/binding", "nodes"), "S-COND": ("pods/status",)}


def recorded(number: int, runs: int) -> Iterator[Recorded]:
    """So many runs of the cluster of this number."""
    recorder, random = Recorder(number, RELEASES[number % len(RELEASES)]), Random(number)
    for _ in range(runs):
        yield recorder.run(random)


def expected(run: Recorded, identifier: str) -> str:
    """The model's verdict, in the words of an answer. A log that has no write of a kind at all excludes nothing."""
    if identifier in run.violated:
        return "HIT"
    references = [event["objectRef"] for event in run.events]
    there = {"/".join(filter(None, (r["resource"], r.get("subresource")))) for r in references}
    kinds = ("pods", *KINDS[identifier])
    has = all(kind in there or (kind in ("pods", "nodes") and f"{kind}/status" in there) for kind in kinds)
    return "EXCLUDED" if has else "NOT EXCLUDED"


def of_several(
    folder: Path, texts: Sequence[str], run: Recorded, complete: bool, from_the_start: bool
) -> AuditReport:
    """The answers to several logs of a run."""
    answered(folder, "", run.initial)
    names = []
    for number, text in enumerate(texts):
        names.append(str(folder / f"{number}.log"))
        Path(names[-1]).write_text(text)
    return audit_logs(Asked(names, [str(folder / "start.json")] if from_the_start else [], complete))


def without_bodies(events: Sequence[Object]) -> list[Object]:
    """The same log at the level Metadata."""
    bodies = ("requestObject", "responseObject")
    return [{k: v for k, v in {**event, "level": "Metadata"}.items() if k not in bodies} for event in events]


def differences(folder: Path, run: Recorded, random: Random) -> Iterator[tuple[str, str, str]]:
    """How the log is given, what is asked, and what was answered: as it is, without bodies, damaged at random.

    Raises AssertionError where the answer to the whole log is not the model's, or another one contradicts it.
    """
    log = mutated(random, run.events)
    logs = {
        "whole": ("whole", answered(folder, run.events, run.initial)),
        "without bodies": ("without bodies", answered(folder, without_bodies(run.events), run.initial)),
        "damaged": (log.kind, of_several(folder, log.texts, run, log.complete, log.from_the_start)),
    }
    for way, (kind, report) in logs.items():
        for identifier in ASKED:
            given = answer(report, identifier)
            model = expected(run, identifier)
            wrong = "EXCLUDED" if identifier in run.violated else "HIT"
            agrees = given.verdict == model if way == "whole" else given.verdict != wrong
            assert agrees, (kind, identifier, model, given)
            yield way, identifier, given.verdict


def main() -> int:
    """Ask about what was not asked about; the exit code is 1 if an answer was wrong."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path, help="for the runs and the counts")
    arguments.add_argument("--clusters", type=int, default=1000)
    arguments.add_argument("--runs", type=int, default=10, help="of each cluster")
    arguments.add_argument("--again", action="store_true", help="ask about all kept runs again")
    asked = arguments.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    table = asked.folder / "counts.tsv"
    if asked.again:
        table.unlink(missing_ok=True)
    done = (
        {int(line.split("\t")[0]) for line in table.read_text().splitlines()}
        if table.exists()
        else set[int]()
    )
    with TemporaryDirectory() as place:
        for number in range(FIRST, FIRST + asked.clusters):
            if number not in done:
                counted = _of_cluster(number, asked.folder, Path(place), asked.runs)
                with table.open("a", encoding="utf-8") as out:
                    out.write(f"{number}\t{json.dumps(counted, sort_keys=True)}\n")
    return _sum(table)


def _of_cluster(number: int, folder: Path, place: Path, runs: int) -> dict[str, int]:
    kept = folder / f"{number}.jsonl.gz"
    if kept.exists():
        lines = gzip.decompress(kept.read_bytes()).splitlines()
        made = [Recorded(**{**found, "violated": set(found["violated"])}) for found in map(json.loads, lines)]
    else:
        made = list(recorded(number, runs))
        texts = [json.dumps({**asdict(run), "violated": sorted(run.violated)}) + "\n" for run in made]
        kept.write_bytes(gzip.compress("".join(texts).encode()))
    counted = Counter({"runs": len(made)})
    for place_of_run, run in enumerate(made):
        try:
            counted.update(
                " ".join(words) for words in differences(place, run, Random(f"{number} {place_of_run}"))
            )
        except AssertionError as problem:
            counted["wrong"] += 1
            print(f"cluster {number}, run {place_of_run}: {problem}", file=sys.stderr, flush=True)
    return dict(counted)


def _sum(table: Path) -> int:
    total: Counter[str] = Counter()
    for line in table.read_text(encoding="utf-8").splitlines():
        total.update(json.loads(line.split("\t")[1]))
    for what, count in sorted(total.items()):
        print(f"{what}: {count:,}")
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
